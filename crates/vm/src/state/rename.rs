//! Renumbers objects and handles in values.

use crate::value::{Map, Seq, Set, Value};
use std::sync::Arc;

/// New numbers for objects and handles; 0 for dropped objects and ended handles.
pub(crate) trait Renaming {
    /// The new number of an object.
    fn object(&self, number: u32) -> u32;
    /// The new number of a handle.
    fn handle(&self, number: u32) -> u32;
}

/// Returns the value with the new numbers. Shares the parts without numbers.
pub(crate) fn rename(value: &Value, by: &impl Renaming) -> Value {
    if !value.has_refs() {
        return value.clone();
    }
    let seq = |seq: &Seq| {
        let items = seq.items().iter().map(|item| rename(item, by)).collect();
        Arc::new(Seq::new(seq.ty, seq.variant, items))
    };
    match value {
        Value::Obj(number) => Value::Obj(by.object(*number)),
        Value::Handle(number) => Value::Handle(by.handle(*number)),
        Value::List(items) => Value::List(seq(items)),
        Value::Record(items) => Value::Record(seq(items)),
        Value::VariantOf(items) => Value::VariantOf(seq(items)),
        Value::Func(items) => Value::Func(seq(items)),
        Value::Set(set) => {
            let items = set.items().iter().map(|item| rename(item, by)).collect();
            Value::Set(Arc::new(Set::new(items)))
        }
        Value::Map(map) => {
            let entries = map.entries().iter();
            let entries = entries.map(|(k, v)| (rename(k, by), rename(v, by))).collect();
            Value::Map(Arc::new(Map::new(entries)))
        }
        other => other.clone(),
    }
}
