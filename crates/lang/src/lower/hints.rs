//! The checker's types as hints.

use super::ty::Ty;
use crate::check::{Program, Type};

/// The hint for a type of the checker. Enums, records and classes are counted in the order of the file in both.
pub(crate) fn hint(program: &Program, id: crate::ast::NodeId) -> Option<Ty> {
    Some(convert(program.types.get(id.index())?.as_ref()?))
}

fn convert(ty: &Type) -> Ty {
    let inner = |t: &Type| Box::new(convert(t));
    match ty {
        Type::Int => Ty::Int,
        Type::Bool => Ty::Bool,
        Type::Str => Ty::Str,
        Type::Null | Type::Nothing => Ty::Null,
        Type::Task | Type::Thread => Ty::Handle,
        Type::Index(id) => u16::try_from(id.0).map_or(Ty::Any, Ty::Index),
        Type::List(t) | Type::Array(_, t) => Ty::List(inner(t)),
        Type::Set(t) => Ty::Set(inner(t)),
        Type::Map(k, v) => Ty::Map(inner(k), inner(v)),
        Type::Nullable(t) => Ty::Null.join(convert(t)),
        Type::Enum(id) => Ty::Enum(id.index()),
        Type::Record(id) => Ty::Record(id.index()),
        Type::Class(id) => Ty::Class(id.index()),
        Type::Fn(_, result) => Ty::Fn(inner(result)),
        Type::Any | Type::Never | Type::Unknown(_) => Ty::Any,
    }
}
