//! The operations of a register, wherever it keeps its value.

use super::Register;
use super::register::{
    Number, failure_order, memory_order, valid_failure, valid_load, valid_store,
};
use crate::runtime;
use anyorder_threads::{Act, Change, MemoryOrder};
use std::panic::Location;
use std::sync::atomic::Ordering;

impl<V: Number> Register<V> {
    #[track_caller]
    pub(super) fn load(&self, order: Ordering) -> V {
        valid_load(order);
        self.perform(Act::Load(memory_order(order)), Location::caller())
    }

    /// Loads without an ordering: a race with any store that is not ordered with it.
    #[track_caller]
    pub(super) fn unsync_load(&self) -> V {
        let value = self.perform(Act::Load(MemoryOrder::Relaxed), Location::caller());
        runtime::note_unsync_load();
        value
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
}
