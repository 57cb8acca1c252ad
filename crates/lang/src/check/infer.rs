//! Unknown types and their solutions.

use super::types::Type;
use crate::source::Span;

/// Solutions of the unknown types: a union-find over their numbers.
#[derive(Default)]
pub(super) struct Unknowns {
    solutions: Vec<Option<Type>>,
    /// Values that went to a place that accepts any value, with these places. Indices must not go
    /// there.
    pub(super) hidden: Vec<(Type, Span)>,
    /// The expression that was checked last.
    pub(super) at: Span,
}

/// How a value of one type fits a place of another type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fit {
    /// Always.
    Yes,
    /// If a check at run time succeeds: the value comes from `any` or may be null.
    Checked,
    /// `null` in a place that does not accept null.
    Null,
    /// Never.
    No,
}

impl Fit {
    fn and(self, other: Fit) -> Fit {
        let rank = |fit| match fit {
            Fit::Yes => 0,
            Fit::Checked => 1,
            Fit::Null => 2,
            Fit::No => 3,
        };
        if rank(self) >= rank(other) { self } else { other }
    }
}

impl Unknowns {
    pub(super) fn fresh(&mut self) -> Type {
        self.solutions.push(None);
        Type::Unknown(self.solutions.len() as u32 - 1)
    }

    /// Sets the solution of an unknown type; `any` is a solution, too. Earlier solutions stay.
    pub(super) fn settle(&mut self, slot: &Type, ty: Type) {
        if let Type::Unknown(n) = self.shallow(slot) {
            let ty = if self.occurs(n, &ty) { Type::Any } else { ty };
            self.solutions[n as usize] = Some(ty);
        }
    }

    /// Returns the known outermost layer of a type.
    pub(super) fn shallow(&self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        while let Type::Unknown(n) = ty {
            match &self.solutions[n as usize] {
                Some(solution) => ty = solution.clone(),
                None => return ty,
            }
        }
        if let Type::Nullable(inner) = &ty {
            return self.shallow(inner).nullable();
        }
        ty
    }

    /// Returns a type with all known solutions filled in.
    pub(super) fn deep(&self, ty: &Type) -> Type {
        self.put_in(ty, None)
    }

    /// Works as [`Unknowns::deep`], and uses `any` for types without a solution.
    pub(super) fn finished(&self, ty: &Type) -> Type {
        self.put_in(ty, Some(&Type::Any))
    }

    fn put_in(&self, ty: &Type, unknown: Option<&Type>) -> Type {
        let go = |t: &Type| self.put_in(t, unknown);
        match self.shallow(ty) {
            Type::Unknown(n) => unknown.cloned().unwrap_or(Type::Unknown(n)),
            Type::List(t) => Type::list(go(&t)),
            Type::Array(id, t) => Type::Array(id, Box::new(go(&t))),
            Type::Set(t) => Type::Set(Box::new(go(&t))),
            Type::Map(k, v) => Type::Map(Box::new(go(&k)), Box::new(go(&v))),
            Type::Nullable(t) => go(&t).nullable(),
            Type::Fn(params, result) => {
                Type::Fn(params.iter().map(go).collect(), Box::new(go(&result)))
            }
            other => other,
        }
    }

    /// Returns whether a value of type `from` fits a place of type `to`. Solves unknown types on
    /// the way.
    pub(super) fn fit(&mut self, from: &Type, to: &Type) -> Fit {
        let (from, to) = (self.shallow(from), self.shallow(to));
        match (&from, &to) {
            (a, b) if a == b => Fit::Yes,
            (Type::Never, _) => Fit::Yes,
            (_, Type::Any) => {
                self.hide(&from);
                if from == Type::Nothing { Fit::No } else { Fit::Yes }
            }
            (Type::Any, Type::Unknown(_)) => Fit::Yes,
            (Type::Any, _) => Fit::Checked,
            (Type::Unknown(n), _) => self.solve(*n, &to),
            (Type::Null, Type::Unknown(n)) => {
                let inner = self.fresh();
                self.solve(*n, &inner.nullable())
            }
            (Type::Nothing, _) => Fit::No,
            (_, Type::Unknown(n)) => self.solve(*n, &from),
            (Type::Null, Type::Nullable(_)) => Fit::Yes,
            (Type::Null, _) => Fit::Null,
            (Type::Nullable(a), Type::Nullable(b)) => self.fit(a, b),
            (_, Type::Nullable(b)) => self.fit(&from, b),
            (Type::Nullable(a), _) => self.fit(a, &to).and(Fit::Checked),
            // Containers are values, so a copy may have a wider element type than the original.
            (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) => self.fit_inside(a, b),
            (Type::Array(i, a), Type::Array(j, b)) if i == j => self.fit_inside(a, b),
            (Type::Map(a, x), Type::Map(b, y)) => {
                let keys = self.fit_inside(a, b);
                keys.and(self.fit_inside(x, y))
            }
            (Type::Fn(a, x), Type::Fn(b, y)) if a.len() == b.len() => {
                let mut fit = Fit::Yes;
                for (a, b) in a.iter().zip(b) {
                    fit = fit.and(self.fit_inside(b, a));
                }
                // If nobody takes the result, it may have any type.
                if self.shallow(y) == Type::Nothing { fit } else { fit.and(self.fit_inside(x, y)) }
            }
            _ => Fit::No,
        }
    }

    /// Records that a value goes to a place that accepts any value.
    pub(super) fn hide(&mut self, ty: &Type) {
        if !matches!(ty, Type::Any | Type::Int | Type::Bool | Type::Str | Type::Null) {
            self.hidden.push((ty.clone(), self.at));
        }
    }

    /// Passing a container checks none of its elements. Each element is checked where it is used.
    fn fit_inside(&mut self, from: &Type, to: &Type) -> Fit {
        match self.fit(from, to) {
            Fit::Checked => Fit::Yes,
            Fit::Null => Fit::No,
            other => other,
        }
    }

    fn solve(&mut self, n: u32, ty: &Type) -> Fit {
        if *ty == Type::Unknown(n) {
            return Fit::Yes;
        }
        if *ty == Type::Any {
            return Fit::Yes;
        }
        if self.occurs(n, ty) {
            return Fit::No;
        }
        self.solutions[n as usize] = Some(ty.clone());
        Fit::Yes
    }

    fn occurs(&self, n: u32, ty: &Type) -> bool {
        match self.shallow(ty) {
            Type::Unknown(m) => m == n,
            Type::List(t) | Type::Array(_, t) | Type::Set(t) | Type::Nullable(t) => {
                self.occurs(n, &t)
            }
            Type::Map(k, v) => self.occurs(n, &k) || self.occurs(n, &v),
            Type::Fn(params, result) => {
                params.iter().any(|t| self.occurs(n, t)) || self.occurs(n, &result)
            }
            _ => false,
        }
    }

    /// Returns the common type of the values of two branches; `None` if they have no common type.
    pub(super) fn join(&mut self, a: &Type, b: &Type) -> Option<Type> {
        let (a, b) = (self.shallow(a), self.shallow(b));
        match (&a, &b) {
            (Type::Never, other) | (other, Type::Never) => Some(other.clone()),
            (Type::Any, other) | (other, Type::Any) => {
                self.hide(other);
                Some(Type::Any)
            }
            (Type::Null, other) | (other, Type::Null) => Some(other.clone().nullable()),
            _ => match self.fit(&a, &b) {
                Fit::Yes => Some(self.shallow(&b)),
                _ => match self.fit(&b, &a) {
                    Fit::Yes => Some(self.shallow(&a)),
                    _ => None,
                },
            },
        }
    }
}
