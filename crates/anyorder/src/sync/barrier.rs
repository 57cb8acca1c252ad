//! A barrier.

use crate::runtime::{self, Slot};
use anyorder_threads::{Act, Object};
use std::fmt;
use std::panic::Location;

/// As [`std::sync::Barrier`].
pub struct Barrier {
    slot: Slot,
    size: usize,
}

/// As [`std::sync::BarrierWaitResult`].
#[derive(Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Returns whether the caller is the one of its generation that may do what is done once.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// Makes a barrier for some number of threads.
    #[track_caller]
    #[must_use]
    pub const fn new(n: usize) -> Barrier {
        Barrier { slot: Slot::of(std::any::type_name::<Barrier>), size: n }
    }

    /// Waits until as many threads have come.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let at = Location::caller();
        let size = u32::try_from(self.size).unwrap_or(u32::MAX);
        let barrier = self.slot.id(|| Object::Barrier { size, arrived: 0, generation: 0 });
        let arrival = runtime::perform(barrier, Act::Arrive, at);
        let is_leader = arrival & 1 == 1;
        if !is_leader {
            runtime::perform(barrier, Act::Pass(arrival >> 1), at);
        }
        BarrierWaitResult(is_leader)
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}
