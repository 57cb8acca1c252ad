//! A number that threads share: what atomics are, unless they must have the size of the standard
//! library's.

use super::register::{
    Number, failure_order, memory_order, valid_failure, valid_load, valid_store,
};
use crate::runtime::{self, Slot};
use anyorder_threads::{Act, Change, MemoryOrder, Object};
use std::cell::UnsafeCell;
use std::panic::Location;
use std::sync::atomic::Ordering;

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
    fn at_first(&self) -> V {
        // SAFETY: nobody has an exclusive borrow.
        unsafe { *self.at_first.get() }
    }

    fn perform(&self, act: Act, at: &'static Location<'static>) -> V {
        let object = self.slot.id(|| Object::Register(self.at_first().expected()));
        V::of(runtime::perform(object, act, at))
    }

    #[track_caller]
    pub(super) fn load(&self, order: Ordering) -> V {
        valid_load(order);
        self.perform(Act::Load(memory_order(order)), Location::caller())
    }

    #[track_caller]
    pub(super) fn store(&self, value: V, order: Ordering) {
        valid_store(order);
        self.perform(Act::Store(value.number(), memory_order(order)), Location::caller());
    }

    #[track_caller]
    pub(super) fn update(&self, change: Change, order: Ordering) -> V {
        let success = memory_order(order);
        let failure = failure_order(success);
        self.perform(Act::Update { change, bits: V::BITS, success, failure }, Location::caller())
    }

    /// Returns the value before, as an error if it was not the one expected.
    #[track_caller]
    pub(super) fn compare_exchange(
        &self,
        (current, new): (V, V),
        (success, failure): (Ordering, Ordering),
    ) -> Result<V, V> {
        valid_failure(failure);
        let (success, failure) = (memory_order(success), memory_order(failure));
        let change = V::exchange(current.expected(), new.number());
        let act = Act::Update { change, bits: V::BITS, success, failure };
        let before = self.perform(act, Location::caller());
        if before == current { Ok(before) } else { Err(before) }
    }

    /// Returns the value. Nobody else uses the register now.
    #[track_caller]
    pub(super) fn get(&self) -> V {
        if runtime::is_checking() {
            return self.perform(Act::Load(MemoryOrder::Relaxed), Location::caller());
        }
        self.at_first()
    }

    /// Returns the value for changes without an operation. From then on it is a new register.
    #[track_caller]
    pub(super) fn get_mut(&mut self) -> &mut V {
        *self = Register::new(self.get());
        self.at_first.get_mut()
    }
}
