//! Atomics of the size of the standard library's: the feature `std-size`.
//!
//! Nothing but the value is in them, so an atomic is known by its address. In an execution, a table
//! of the core has the object of each address and the value that it left there. Memory with another
//! value has been given to another atomic since: it was moved to, written over, or is on a part of
//! the stack that is used again. If the values are the same the two are one object, which is right
//! but for what the earlier one synchronised.
//!
//! The value in memory follows the register, so that an atomic can be moved, read as plain data, or
//! made of plain data. That of a static does not: it is what every execution begins with.

use super::register::{
    Number, failure_order, memory_order, valid_failure, valid_load, valid_store,
};
use crate::runtime;
use anyorder_threads::{Act, Change, MemoryOrder, Object};
use std::cell::UnsafeCell;
use std::panic::Location;
use std::sync::atomic::Ordering;

/// A shared value.
#[repr(transparent)]
pub(super) struct Register<V> {
    value: UnsafeCell<V>,
}

// SAFETY: all threads of a check are on one thread of the system, and outside of checks only
// exclusive borrows change the value.
unsafe impl<V: Send> Sync for Register<V> {}
// SAFETY: as above.
unsafe impl<V> Send for Register<V> {}

impl<V> Register<V> {
    pub(super) const fn new(value: V) -> Register<V> {
        Register { value: UnsafeCell::new(value) }
    }
}

impl<V: Number> Register<V> {
    fn here(&self) -> V {
        // SAFETY: nobody has an exclusive borrow, and values are plain numbers.
        unsafe { *self.value.get() }
    }

    fn address(&self) -> usize {
        self.value.get() as usize
    }

    fn perform(&self, act: Act, at: &'static Location<'static>) -> V {
        let (address, here) = (self.address(), self.here());
        let about = (std::any::type_name::<V> as fn() -> &'static str, at);
        let at_first = || Object::Register(here.expected());
        let object = runtime::register_at(address, here.bits(), at_first, about);
        let change = match &act {
            Act::Store(number, _) => Some((Change::Swap(*number), V::BITS)),
            Act::Update { change, bits, .. } => Some((*change, *bits)),
            _ => None,
        };
        let result = runtime::perform(object, act, at);
        let after = change.and_then(|(change, bits)| change.of(result, bits));
        if let Some(after) = after {
            let after = V::of(after);
            if runtime::keep_at(address, after.bits()) {
                // SAFETY: as above; the memory is not that of a static.
                unsafe { *self.value.get() = after };
            }
        }
        V::of(result)
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
        self.here()
    }

    /// Returns the value for changes without an operation. From then on it is a new register.
    #[track_caller]
    pub(super) fn get_mut(&mut self) -> &mut V {
        let value = self.get();
        runtime::leave(self.address());
        *self.value.get_mut() = value;
        self.value.get_mut()
    }
}
