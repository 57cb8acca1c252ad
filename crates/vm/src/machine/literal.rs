//! Values of constants.

use crate::program::{EnumId, Family, Literal, RecordId};
use crate::value::{Map, Seq, Set, Value};
use std::sync::Arc;

/// Returns the value of a constant. The validator has bounded its depth.
pub(crate) fn value(literal: &Literal) -> Value {
    let values = |items: &[Literal]| items.iter().map(value).collect::<Vec<Value>>();
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Index(of, member) => Value::Index { of: *of, member: *member },
        Literal::Str(text) => Value::str(text),
        Literal::Enum(ty, variant, payload) => Value::variant(ty.0, *variant, &values(payload)),
        Literal::List(items) => Value::list(values(items)),
        Literal::Array(of, items) => Value::List(Arc::new(Seq::array(*of, values(items)))),
        Literal::Set(items) => Value::Set(Arc::new(Set::new(values(items)))),
        Literal::Map(entries) => {
            let entries = entries.iter().map(|(k, v)| (value(k), value(v))).collect();
            Value::Map(Arc::new(Map::new(entries)))
        }
        Literal::Record(ty, fields) => Value::Record(Arc::new(Seq::new(ty.0, 0, values(fields)))),
    }
}

/// Returns the value that the body of a member of a family has as its parameter.
pub(crate) fn parameter(family: Family, index: i64) -> Value {
    match (family.index, u16::try_from(index)) {
        (Some(of), Ok(member)) => Value::Index { of, member },
        _ => Value::Int(index),
    }
}

/// Returns a value as a constant; `None` if there are objects, handles or functions in it.
pub(crate) fn of(value: &Value) -> Option<Literal> {
    let all = |items: &[Value]| items.iter().map(of).collect::<Option<Vec<Literal>>>();
    Some(match value {
        Value::Null => Literal::Null,
        Value::Bool(value) => Literal::Bool(*value),
        Value::Int(value) => Literal::Int(*value),
        Value::Index { of, member } => Literal::Index(*of, *member),
        Value::Variant { ty, variant } => Literal::Enum(EnumId(*ty), *variant, Vec::new()),
        Value::VariantInt { ty, variant, value } => {
            Literal::Enum(EnumId(*ty), *variant, vec![Literal::Int(*value)])
        }
        Value::VariantOf(seq) => Literal::Enum(EnumId(seq.ty), seq.variant, all(seq.items())?),
        Value::Str(text) => Literal::Str(text.as_str().to_owned()),
        Value::List(seq) => match seq.ty.checked_sub(1) {
            Some(index) => Literal::Array(index, all(seq.items())?),
            None => Literal::List(all(seq.items())?),
        },
        Value::Set(set) => Literal::Set(all(set.items())?),
        Value::Map(map) => {
            let entries = map.entries().iter().map(|(k, v)| Some((of(k)?, of(v)?)));
            Literal::Map(entries.collect::<Option<_>>()?)
        }
        Value::Record(seq) => Literal::Record(RecordId(seq.ty), all(seq.items())?),
        Value::Obj(_) | Value::Handle(_) | Value::Func(_) => return None,
    })
}
