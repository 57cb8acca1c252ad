//! The lock edges of happens-before.

use crate::analysis::StreamEvent;
use crate::error::PredictError;
use crate::relations::lanes::{LaneId, Lanes};
use anyorder_order::Clock;

/// The clocks that the releases of each lock published.
#[derive(Clone, Debug, Default)]
pub(crate) struct LockClocks {
    /// The clocks of exclusive releases, and of shared ones.
    released: Vec<[Clock; 2]>,
}

impl LockClocks {
    /// Makes room for `count` locks.
    pub(crate) fn grow(&mut self, count: usize) {
        self.released.resize_with(count, Default::default);
    }

    /// Fails when the lock of an event is unknown.
    #[inline]
    pub(crate) fn check(&self, step: StreamEvent) -> Result<(), PredictError> {
        if (step.operand as usize) < self.released.len() {
            return Ok(());
        }
        Err(PredictError::Unknown { event: step.event, what: "lock", index: step.operand })
    }

    /// Records that a lane acquires a lock. A reader learns from writers, a writer from all.
    #[inline]
    pub(crate) fn acquire(&self, lanes: &mut Lanes, lane: LaneId, (lock, shared): (u32, bool)) {
        let [exclusive, readers] = &self.released[lock as usize];
        lanes.join(lane, exclusive);
        if !shared && !readers.is_empty() {
            lanes.join(lane, readers);
        }
    }

    /// Records that a lane releases a lock.
    #[inline]
    pub(crate) fn release(&mut self, lanes: &mut Lanes, lane: LaneId, (lock, shared): (u32, bool)) {
        self.released[lock as usize][usize::from(shared)].join(&lanes.get(lane).clock);
        lanes.advance(lane);
    }
}
