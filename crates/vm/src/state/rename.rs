//! Renumbers objects, handles and indices in values.

use crate::value::{Map, Seq, Set, Value};
use std::sync::Arc;

/// New numbers for objects and handles; 0 for dropped objects and ended handles.
pub(crate) trait Renaming {
    /// Whether anything in a value may get another number.
    fn concerns(&self, value: &Value) -> bool {
        value.has_refs()
    }
    /// The new number of an object.
    fn object(&self, number: u32) -> u32;
    /// The new number of a handle.
    fn handle(&self, number: u32) -> u32;
    /// The value of an index type that takes the place of another.
    fn index(&self, _of: u16, member: u16) -> u16 {
        member
    }
    /// For each place of a list that an index type numbers, the place that its element comes from.
    fn places(&self, _of: u16) -> Option<&[usize]> {
        None
    }
}

/// Returns the value with the new numbers. Shares the parts without numbers.
pub(crate) fn rename(value: &Value, by: &impl Renaming) -> Value {
    if !by.concerns(value) {
        return value.clone();
    }
    let seq = |seq: &Seq| {
        let items = seq.items().iter().map(|item| rename(item, by)).collect();
        Arc::new(Seq::new(seq.ty, seq.variant, items))
    };
    match value {
        Value::Obj(number) => Value::Obj(by.object(*number)),
        Value::Handle(number) => Value::Handle(by.handle(*number)),
        Value::Index { of, member } => Value::Index { of: *of, member: by.index(*of, *member) },
        Value::List(list) => {
            let places = list.ty.checked_sub(1).and_then(|of| by.places(of));
            match places.filter(|places| places.len() == list.items().len()) {
                Some(places) => {
                    let items = places.iter().map(|from| rename(&list.items()[*from], by));
                    Value::List(Arc::new(Seq::new(list.ty, 0, items.collect())))
                }
                None => Value::List(seq(list)),
            }
        }
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
