//! Heap objects.

use crate::value::{Value, mix};

/// An object.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) class: u16,
    pub(crate) fields: Vec<Value>,
    /// The allocation that it comes from, for names; not part of the state.
    pub(crate) uid: u64,
    pub(crate) hash: u128,
}

impl PartialEq for Object {
    fn eq(&self, other: &Object) -> bool {
        self.class == other.class && self.fields == other.fields
    }
}

impl Object {
    /// Computes the hash. Linear in the fields.
    pub(crate) fn rehash(&mut self) {
        self.hash = mix::number(0x0b1e, u64::from(self.class));
        for (i, value) in (0..).zip(&self.fields) {
            self.hash = self.hash.wrapping_add(mix::mix(i, value.hash()));
        }
    }
}
