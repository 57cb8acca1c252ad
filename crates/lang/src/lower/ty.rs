//! Types as far as the choice of instructions needs them.

use super::symbols::{Symbol, Symbols};
use crate::ast::{TypeExpr, TypeKind};

/// A type hint. Values carry their types at run time, so `Any` is always right and only slower.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Ty {
    Any,
    Null,
    Int,
    /// A value of the index type of this number.
    Index(u16),
    Bool,
    Str,
    Handle,
    List(Box<Ty>),
    Set(Box<Ty>),
    Map(Box<Ty>, Box<Ty>),
    /// The result of a function.
    Fn(Box<Ty>),
    /// By position in [`Symbols`].
    Enum(usize),
    Record(usize),
    Class(usize),
    Nullable(Box<Ty>),
}

impl Ty {
    /// A list of these.
    pub(crate) fn list(of: Ty) -> Ty {
        Ty::List(Box::new(of))
    }

    /// The type without `null`.
    pub(crate) fn solid(&self) -> &Ty {
        match self {
            Ty::Nullable(inner) => inner.solid(),
            other => other,
        }
    }

    /// The type of a value that is of either type.
    pub(crate) fn join(self, other: Ty) -> Ty {
        match (self, other) {
            (a, b) if a == b => a,
            (Ty::Null, Ty::Nullable(b)) | (Ty::Nullable(b), Ty::Null) => Ty::Nullable(b),
            (Ty::Any, _) | (_, Ty::Any) => Ty::Any,
            (Ty::Null, b) | (b, Ty::Null) => Ty::Nullable(Box::new(b)),
            (Ty::Nullable(a), b) | (b, Ty::Nullable(a)) if *a == b => Ty::Nullable(a),
            (Ty::List(a), Ty::List(b)) => Ty::list(a.join(*b)),
            (Ty::Set(a), Ty::Set(b)) => Ty::Set(Box::new(a.join(*b))),
            (Ty::Map(a, b), Ty::Map(c, d)) => Ty::Map(Box::new(a.join(*c)), Box::new(b.join(*d))),
            _ => Ty::Any,
        }
    }

    /// What `for` over a value of this type, `choose` of it or its first element give.
    pub(crate) fn element(&self) -> Ty {
        match self.solid() {
            Ty::List(of) | Ty::Set(of) => (**of).clone(),
            Ty::Map(key, _) => (**key).clone(),
            _ => Ty::Any,
        }
    }

    /// What indexing gives.
    pub(crate) fn indexed(&self) -> Ty {
        match self.solid() {
            Ty::List(of) => (**of).clone(),
            Ty::Map(_, value) => (**value).clone(),
            _ => Ty::Any,
        }
    }

    /// Whether a value of `self` needs a look at run time before it may be taken for one of `wanted`.
    pub(crate) fn needs_check(&self, wanted: &Ty) -> bool {
        match wanted {
            Ty::Any => false,
            Ty::Nullable(_) => matches!(self, Ty::Any),
            _ => matches!(self, Ty::Any | Ty::Nullable(_) | Ty::Null),
        }
    }

    /// The type that was written.
    pub(crate) fn of(symbols: &Symbols<'_>, written: &TypeExpr) -> Ty {
        let inner = |t: &TypeExpr| Box::new(Ty::of(symbols, t));
        match &written.kind {
            TypeKind::Named(name) => named(symbols, &name.name),
            TypeKind::List(t) | TypeKind::Array(t, _) => Ty::List(inner(t)),
            TypeKind::Set(t) => Ty::Set(inner(t)),
            TypeKind::Map(k, v) => Ty::Map(inner(k), inner(v)),
            TypeKind::Nullable(t) => match Ty::of(symbols, t) {
                already @ (Ty::Nullable(_) | Ty::Any | Ty::Null) => already,
                solid => Ty::Nullable(Box::new(solid)),
            },
            TypeKind::Fn(_, result) => {
                Ty::Fn(result.as_ref().map_or_else(|| Box::new(Ty::Null), |t| inner(t)))
            }
            TypeKind::Error => Ty::Any,
        }
    }

    /// The type that was written, `Any` where none was.
    pub(crate) fn of_option(symbols: &Symbols<'_>, written: Option<&TypeExpr>) -> Ty {
        written.map_or(Ty::Any, |t| Ty::of(symbols, t))
    }
}

fn named(symbols: &Symbols<'_>, name: &str) -> Ty {
    match name {
        "int" => Ty::Int,
        "bool" => Ty::Bool,
        "str" => Ty::Str,
        "task" | "thread" => Ty::Handle,
        _ => match symbols.get(name) {
            Some(Symbol::Index(i)) => u16::try_from(i).map_or(Ty::Any, Ty::Index),
            Some(Symbol::Enum(i)) => Ty::Enum(i),
            Some(Symbol::Record(i)) => Ty::Record(i),
            Some(Symbol::Class(i)) => Ty::Class(i),
            _ => Ty::Any,
        },
    }
}
