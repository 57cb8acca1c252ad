//! The thread-local values of a thread of the program.

use rustc_hash::FxHashMap;
use std::ptr;

/// A value of some type on the heap, and what frees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owned {
    pub(crate) value: *mut (),
    pub(crate) free: unsafe fn(*mut ()),
}

/// The values by their keys: the addresses of the statics.
#[derive(Debug, Default)]
pub(crate) struct Locals {
    values: FxHashMap<usize, *mut ()>,
    /// In the order in which they were made.
    order: Vec<(usize, Owned)>,
}

/// What a thread has of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Local {
    Absent,
    Alive(*mut ()),
    Destroyed,
}

impl Locals {
    pub(crate) fn get(&self, key: usize) -> Local {
        match self.values.get(&key) {
            None => Local::Absent,
            Some(value) if value.is_null() => Local::Destroyed,
            Some(value) => Local::Alive(*value),
        }
    }

    pub(crate) fn insert(&mut self, key: usize, owned: Owned) {
        self.values.insert(key, owned.value);
        self.order.push((key, owned));
    }

    /// Takes the newest value: whoever asks for it from now on finds it destroyed.
    pub(crate) fn pop(&mut self) -> Option<Owned> {
        let (key, owned) = self.order.pop()?;
        self.values.insert(key, ptr::null_mut());
        Some(owned)
    }

    /// Loses the values.
    pub(crate) fn forget(&mut self) {
        self.values.clear();
        self.order.clear();
    }
}
