//! Hashes of values with colours in the place of objects, handles and indices.

use crate::value::{Value, mix};

/// Colours of objects, handles and indices.
pub(super) trait Paint {
    /// Whether a value contains something with a colour.
    fn concerns(&self, value: &Value) -> bool;
    /// The colour of an object, a handle or an index.
    fn name(&self, value: &Value) -> u128;
    /// The colour of a value of an index type; `None` if its number counts.
    fn member(&self, of: u16, member: usize) -> Option<u64>;
}

/// The key of an element of a set.
const ELEMENT: u64 = 0x5e7;

/// Returns the hash of a value under colours. It sums the elements of sets and maps, and of lists
/// that an index type numbers, so an exchange of elements of one colour changes nothing.
pub(super) fn painted(value: &Value, by: &impl Paint) -> u128 {
    if !by.concerns(value) {
        return value.hash();
    }
    match value {
        Value::List(s) | Value::Record(s) | Value::VariantOf(s) | Value::Func(s) => {
            let array = if matches!(value, Value::List(_)) { s.ty.checked_sub(1) } else { None };
            let head =
                (u64::from(s.ty) << 32) | (u64::from(s.variant) << 16) | s.items().len() as u64;
            let key = |i: usize| array.and_then(|of| by.member(of, i)).unwrap_or(i as u64);
            let items = s.items().iter().enumerate();
            let sum = items.map(|(i, item)| mix::mix(key(i), painted(item, by)));
            mix::mix(head, sum.fold(0, u128::wrapping_add))
        }
        Value::Set(set) => {
            let sum = set.items().iter().map(|item| mix::mix(ELEMENT, painted(item, by)));
            mix::mix(ELEMENT, sum.fold(0, u128::wrapping_add))
        }
        Value::Map(map) => {
            let sum = map.entries().iter().map(|(key, value)| {
                let value = mix::mix(0xb, painted(value, by));
                mix::mix(0xa, painted(key, by) ^ value.rotate_left(64))
            });
            mix::mix(0x3a9, sum.fold(0, u128::wrapping_add))
        }
        name => by.name(name),
    }
}
