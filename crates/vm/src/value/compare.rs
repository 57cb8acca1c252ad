//! Equality and the total order of values: by kind, then by content.
//!
//! The order serves sorting, sets and maps. It is not a program's `<`. Objects and handles are
//! ordered by their numbers, which the canonical form of a state fixes.

use super::kinds::{Value, live_handle};
use std::cmp::Ordering;
use std::sync::Arc;

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Int(_) => 2,
        Value::Index { .. } => 3,
        Value::Variant { .. } | Value::VariantInt { .. } | Value::VariantOf(_) => 4,
        Value::Str(_) => 5,
        Value::Record(_) => 6,
        Value::List(_) => 7,
        Value::Set(_) => 8,
        Value::Map(_) => 9,
        Value::Func(_) => 10,
        Value::Handle(_) => 11,
        Value::Obj(_) => 12,
    }
}

fn payload_order(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::VariantInt { value: a, .. }, Value::VariantInt { value: b, .. }) => a.cmp(b),
        (Value::VariantOf(a), Value::VariantOf(b)) => a.items().cmp(b.items()),
        (Value::VariantInt { value, .. }, Value::VariantOf(seq)) => {
            [Value::Int(*value)][..].cmp(seq.items())
        }
        (Value::VariantOf(seq), Value::VariantInt { value, .. }) => {
            seq.items().cmp(&[Value::Int(*value)][..])
        }
        // All values of one variant have a payload, or none has.
        _ => Ordering::Equal,
    }
}

impl Ord for Value {
    #[inline]
    fn cmp(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (
                Value::VariantInt { ty: t, variant: v, value: a },
                Value::VariantInt { ty: u, variant: w, value: b },
            ) => (t, v, a).cmp(&(u, w, b)),
            (
                Value::Variant { ty: t, variant: v } | Value::VariantInt { ty: t, variant: v, .. },
                Value::Variant { ty: u, variant: w } | Value::VariantInt { ty: u, variant: w, .. },
            ) => (t, v).cmp(&(u, w)),
            _ => self.compare(other),
        }
    }
}

impl Value {
    /// Returns whether the values are equal as far as a constant-time test shows: equal small
    /// values, or one shared large value.
    #[inline]
    pub(crate) fn is_identical(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::List(a), Value::List(b))
            | (Value::Record(a), Value::Record(b))
            | (Value::VariantOf(a), Value::VariantOf(b))
            | (Value::Func(a), Value::Func(b)) => Arc::ptr_eq(a, b),
            (Value::Str(a), Value::Str(b)) => Arc::ptr_eq(a, b),
            (Value::Set(a), Value::Set(b)) => Arc::ptr_eq(a, b),
            (Value::Map(a), Value::Map(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_small() && a == b,
        }
    }

    fn compare(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Obj(a), Value::Obj(b)) => a.cmp(b),
            (Value::Handle(a), Value::Handle(b)) => live_handle(*a).cmp(&live_handle(*b)),
            (Value::Str(a), Value::Str(b)) => a.as_str().cmp(b.as_str()),
            (Value::List(a), Value::List(b)) if Arc::ptr_eq(a, b) => Ordering::Equal,
            (Value::Index { of: t, member: a }, Value::Index { of: u, member: b }) => {
                (t, a).cmp(&(u, b))
            }
            (Value::List(a), Value::List(b))
            | (Value::Record(a), Value::Record(b))
            | (Value::Func(a), Value::Func(b)) => {
                a.ty.cmp(&b.ty).then_with(|| a.items().cmp(b.items()))
            }
            (Value::Set(a), Value::Set(b)) => a.items().cmp(b.items()),
            (Value::Map(a), Value::Map(b)) => a.entries().cmp(b.entries()),
            (a, b) => {
                let (ra, rb) = (rank(a), rank(b));
                if ra != rb || ra == 0 {
                    return ra.cmp(&rb);
                }
                a.variant_key().cmp(&b.variant_key()).then_with(|| payload_order(a, b))
            }
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    #[inline(always)]
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Variant { ty: a, variant: x }, Value::Variant { ty: b, variant: y }) => {
                a == b && x == y
            }
            _ => self.equals(other),
        }
    }
}

impl Value {
    /// Compares the less frequent kinds.
    fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (
                Value::VariantInt { ty: a, variant: x, value: v },
                Value::VariantInt { ty: b, variant: y, value: w },
            ) => v == w && a == b && x == y,
            (Value::Index { of: t, member: a }, Value::Index { of: u, member: b }) => {
                a == b && t == u
            }
            (Value::Obj(a), Value::Obj(b)) => a == b,
            (Value::Handle(a), Value::Handle(b)) => live_handle(*a) == live_handle(*b),
            (Value::Str(a), Value::Str(b)) => {
                Arc::ptr_eq(a, b) || (a.hash() == b.hash() && a.as_str() == b.as_str())
            }
            (Value::List(a), Value::List(b))
            | (Value::Record(a), Value::Record(b))
            | (Value::VariantOf(a), Value::VariantOf(b))
            | (Value::Func(a), Value::Func(b)) => Arc::ptr_eq(a, b) || a == b,
            (Value::Set(a), Value::Set(b)) => Arc::ptr_eq(a, b) || a == b,
            (Value::Map(a), Value::Map(b)) => Arc::ptr_eq(a, b) || a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}
