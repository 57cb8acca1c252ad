//! The number of an object, in the object.

use super::core;
use anyorder_threads::{Object, ObjectId};
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bits of a slot for the number of the object; the others are for the execution.
const OBJECT_BITS: u32 = 24;

/// Where a shared object keeps its number, in one execution. It gets one when it is used first.
///
/// All zeros is a slot, too, of an object of which nothing is known: some programs make what they
/// share of memory that is cleared.
pub(crate) struct Slot {
    number: AtomicU64,
    type_name: Option<fn() -> &'static str>,
    made: Option<&'static Location<'static>>,
}

/// What reports say of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About {
    /// Its type, if that was noted.
    pub(crate) type_name: Option<fn() -> &'static str>,
    /// Where it was made.
    pub(crate) made: &'static Location<'static>,
    /// Whether that is where it was used first.
    pub(crate) is_use: bool,
}

/// Stands for an unknown place.
const UNKNOWN: &Location<'static> = Location::caller();

impl Slot {
    #[track_caller]
    pub(crate) const fn new() -> Slot {
        let made = Some(Location::caller());
        Slot { number: AtomicU64::new(0), type_name: None, made }
    }

    /// Makes the slot of an object of a type, for reports.
    #[track_caller]
    pub(crate) const fn of(type_name: fn() -> &'static str) -> Slot {
        let made = Some(Location::caller());
        Slot { number: AtomicU64::new(0), type_name: Some(type_name), made }
    }

    /// Makes the slot of an object that gets its number now, by what its thread made before.
    #[track_caller]
    pub(crate) fn made(at_first: impl FnOnce() -> Object) -> Slot {
        Slot::new().make(at_first)
    }

    /// Gives the object its number now, by what its thread made before.
    pub(crate) fn make(self, at_first: impl FnOnce() -> Object) -> Slot {
        core::with(|core| self.set(core.execution(), core.make(at_first(), self.about())));
        self
    }

    /// Returns where the object was made.
    pub(crate) fn made_at(&self) -> &'static Location<'static> {
        self.made.unwrap_or(UNKNOWN)
    }

    fn about(&self) -> About {
        About { type_name: self.type_name, made: self.made_at(), is_use: false }
    }

    fn set(&self, execution: u64, object: ObjectId) -> ObjectId {
        assert!(object.0 < 1 << OBJECT_BITS, "a check has at most 2^24 objects");
        self.number.store(execution << OBJECT_BITS | u64::from(object.0), Ordering::Relaxed);
        object
    }

    fn known(&self, execution: u64) -> Option<ObjectId> {
        let value = self.number.load(Ordering::Relaxed);
        let is_known = value >> OBJECT_BITS == execution;
        is_known.then_some(ObjectId(value as u32 & ((1 << OBJECT_BITS) - 1)))
    }

    /// Returns the number. `at_first` is the state of an object that is new. No number outside of
    /// checks.
    #[inline]
    pub(crate) fn id(&self, at_first: impl FnOnce() -> Object) -> ObjectId {
        let id = core::with(|core| {
            let id = match self.known(core.execution()) {
                Some(id) => id,
                None => {
                    self.set(core.execution(), core.find(self.address(), at_first(), self.about()))
                }
            };
            core.note_address(id, self.address());
            id
        });
        id.unwrap_or(ObjectId::NONE)
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }
}

/// Atomics with slots have names, and are followed where they are moved.
#[cfg(not(feature = "std-size"))]
pub(crate) fn see_before_move(_address: usize, _size: usize, _at: &'static Location<'static>) {}

impl Drop for Slot {
    #[inline]
    fn drop(&mut self) {
        core::with(|core| core.end(self.address()));
    }
}
