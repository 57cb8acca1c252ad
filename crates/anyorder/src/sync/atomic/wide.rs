//! A number that threads share: what atomics are, unless they must have the size of the standard
//! library's.

use super::register::Number;
use crate::runtime::{self, Slot};
use anyorder_threads::{Act, Object};
use std::cell::UnsafeCell;
use std::panic::Location;

/// A shared value. It is here until it is used in a check, and then a register of the engine.
pub(super) struct Register<V> {
    slot: Slot,
    at_first: UnsafeCell<V>,
}

// SAFETY: what is here changes through exclusive borrows only, and values are sent as numbers.
unsafe impl<V: Send> Sync for Register<V> {}
// SAFETY: as above.
unsafe impl<V> Send for Register<V> {}

impl<V> Register<V> {
    #[track_caller]
    pub(super) const fn new(value: V) -> Register<V> {
        Register { slot: Slot::of(std::any::type_name::<V>), at_first: UnsafeCell::new(value) }
    }
}

impl<V: Number> Register<V> {
    /// The value that is here.
    pub(super) fn here(&self) -> V {
        // SAFETY: nobody has an exclusive borrow.
        unsafe { *self.at_first.get() }
    }

    /// Performs an operation, and returns its result.
    pub(super) fn perform(&self, act: Act, at: &'static Location<'static>) -> V {
        let object = self.slot.id(|| Object::Register(self.here().expected()));
        V::of(runtime::perform(object, act, at))
    }

    /// Returns the value of an atomic that is consumed.
    #[track_caller]
    pub(super) fn consumed(self) -> V {
        self.get()
    }

    /// Returns the value for changes without an operation. From then on it is a new register.
    #[track_caller]
    pub(super) fn get_mut(&mut self) -> &mut V {
        *self = Register::new(self.get());
        self.at_first.get_mut()
    }
}
