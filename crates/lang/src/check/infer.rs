//! Unknown types and their solutions.

use super::types::Type;
use crate::source::Span;

/// Solutions of the unknown types: a union-find over their numbers.
#[derive(Default)]
pub(super) struct Unknowns {
    solutions: Vec<Option<Type>>,
    /// Values in places of type `any`, and the places: indices must not be there.
    pub(super) hidden: Vec<(Type, Span)>,
    /// The expression that was checked last.
    pub(super) at: Span,
    /// Whether an `any` went into a container, or into or out of a function value, whose type
    /// promises more. Then the static type of no element and of no result is certain.
    pub(super) is_loose: bool,
}

/// How a value of one type may stand where another is wanted, from the best to the worst.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Fit {
    /// Always.
    Yes,
    /// If a check at run time passes: the value comes from `any` or may be null.
    Checked,
    /// `null`, and the place takes no null.
    Null,
    /// Never.
    No,
}

impl Unknowns {
    pub(super) fn fresh(&mut self) -> Type {
        self.solutions.push(None);
        Type::Unknown(self.solutions.len() as u32 - 1)
    }

    /// Solves an unknown type, by `any` too. A solved type stays.
    pub(super) fn settle(&mut self, slot: &Type, ty: Type) {
        if let Type::Unknown(n) = self.shallow(slot) {
            let ty = if self.occurs(n, &ty) { Type::Any } else { ty };
            self.solutions[n as usize] = Some(ty);
        }
    }

    /// A type with its outermost layer solved, as far as it is known.
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

    /// A type with all known parts put in.
    pub(super) fn deep(&self, ty: &Type) -> Type {
        self.put_in(ty, None)
    }

    /// As [`Unknowns::deep`], with `any` for parts that stay unknown.
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

    /// Whether a value of type `from` may stand where `to` is wanted. Solves unknown types.
    pub(super) fn fit(&mut self, from: &Type, to: &Type) -> Fit {
        let (from, to) = (self.shallow(from), self.shallow(to));
        match (&from, &to) {
            (a, b) if a == b => Fit::Yes,
            (Type::Never, _) => Fit::Yes,
            (_, Type::Any) => {
                self.hide(&from);
                if from == Type::Nothing { Fit::No } else { Fit::Yes }
            }
            (Type::Any, Type::Unknown(_)) => {
                self.is_loose = true;
                Fit::Yes
            }
            (Type::Any, _) => {
                use Type::{Array, Fn, List, Map, Set};
                // The check at run time sees the container, not its elements.
                self.is_loose |=
                    matches!(to.solid(), List(_) | Set(_) | Map(..) | Array(..) | Fn(..));
                Fit::Checked
            }
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
            (Type::Nullable(a), _) => self.fit(a, &to).max(Fit::Checked),
            // Containers are values: a copy may hold more than the original did.
            (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) => self.fit_inside(a, b),
            (Type::Array(i, a), Type::Array(j, b)) if i == j => self.fit_inside(a, b),
            (Type::Map(a, x), Type::Map(b, y)) => {
                let keys = self.fit_inside(a, b);
                keys.max(self.fit_inside(x, y))
            }
            (Type::Fn(a, x), Type::Fn(b, y)) if a.len() == b.len() => {
                let mut fit = Fit::Yes;
                for (a, b) in a.iter().zip(b) {
                    fit = fit.max(self.fit_inside(b, a));
                }
                // An unused result may be anything.
                if self.shallow(y) == Type::Nothing { fit } else { fit.max(self.fit_inside(x, y)) }
            }
            _ => Fit::No,
        }
    }

    /// Records that a value goes into a place of type `any`.
    pub(super) fn hide(&mut self, ty: &Type) {
        if !matches!(ty, Type::Any | Type::Int | Type::Bool | Type::Str | Type::Null) {
            self.hidden.push((ty.clone(), self.at));
        }
    }

    /// Passing a container checks none of its elements. Each element is checked where it is stored.
    fn fit_inside(&mut self, from: &Type, to: &Type) -> Fit {
        match self.fit(from, to) {
            Fit::Checked => {
                self.is_loose = true;
                Fit::Yes
            }
            Fit::Null => Fit::No,
            other => other,
        }
    }

    fn solve(&mut self, n: u32, ty: &Type) -> Fit {
        if *ty == Type::Unknown(n) {
            return Fit::Yes;
        }
        if *ty == Type::Any {
            self.is_loose = true;
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
