//! Hashes of values that stay the same in other states.

use super::{Value, mix};

/// Returns the hash of a value without objects and handles. It stays the same when tasks end.
pub(crate) fn lasting(value: &Value) -> u128 {
    if !value.holds_refs() {
        return value.hash();
    }
    let all = |tag: u64, items: &[Value]| {
        let parts = items.iter().map(lasting);
        parts.fold(mix::number(tag, items.len() as u64), |hash, item| mix::mix(hash as u64, item))
    };
    match value {
        Value::List(seq) => all(1, seq.items()),
        Value::Record(seq) => all(2 | (u64::from(seq.ty) << 8), seq.items()),
        Value::VariantOf(seq) => {
            all(3 | (u64::from(seq.ty) << 8) | (u64::from(seq.variant) << 24), seq.items())
        }
        Value::Func(seq) => all(4 | (u64::from(seq.ty) << 8), seq.items()),
        // The order of sets and maps depends on the numbers that are left out.
        _ => mix::number(5, 0),
    }
}
