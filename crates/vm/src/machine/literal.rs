//! Values of constants.

use crate::program::{Family, Literal};
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
