//! The number of an object, in the object.

use super::core;
use anyorder_threads::{Object, ObjectId};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bits of a slot for the number of the object; the others are for the execution.
const OBJECT_BITS: u32 = 24;

/// Where a shared object keeps its number, in one execution. It gets one when it is used first.
pub(crate) struct Slot(AtomicU64);

impl Slot {
    pub(crate) const fn new() -> Slot {
        Slot(AtomicU64::new(0))
    }

    /// Makes the slot of an object that gets its number now, by what its thread made before.
    pub(crate) fn made(at_first: impl FnOnce() -> Object) -> Slot {
        let slot = Slot::new();
        core::with(|core| slot.set(core.execution(), core.make(at_first())));
        slot
    }

    fn set(&self, execution: u64, object: ObjectId) -> ObjectId {
        assert!(object.0 < 1 << OBJECT_BITS, "a check has at most 2^24 objects");
        self.0.store(execution << OBJECT_BITS | u64::from(object.0), Ordering::Relaxed);
        object
    }

    fn known(&self, execution: u64) -> Option<ObjectId> {
        let value = self.0.load(Ordering::Relaxed);
        let is_known = value >> OBJECT_BITS == execution;
        is_known.then_some(ObjectId(value as u32 & ((1 << OBJECT_BITS) - 1)))
    }

    /// Returns the number. `at_first` is the state of an object that is new. No number outside of
    /// checks.
    #[inline]
    pub(crate) fn id(&self, at_first: impl FnOnce() -> Object) -> ObjectId {
        let id = core::with(|core| match self.known(core.execution()) {
            Some(id) => id,
            None => self.set(core.execution(), core.find(self.address(), at_first())),
        });
        id.unwrap_or(ObjectId::NONE)
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }
}
