//! The lock edges of happens-before.

use crate::analysis::StreamEvent;
use crate::error::PredictError;
use crate::relations::lanes::{LaneId, Lanes, Published};

/// The clocks that the releases of each lock published.
#[derive(Clone, Debug, Default)]
pub(crate) struct LockClocks {
    released: Vec<Released>,
}

/// The clocks that the releases of one lock published.
#[derive(Clone, Debug, Default)]
struct Released {
    exclusive: Published,
    /// Of shared releases, those since the last exclusive one that knew all before it.
    shared: Published,
    /// The lane that has acquired the lock exclusively, as long as nothing was released since.
    holder: Option<LaneId>,
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
    pub(crate) fn acquire(&mut self, lanes: &mut Lanes, lane: LaneId, (lock, shared): (u32, bool)) {
        let released = &mut self.released[lock as usize];
        lanes.join(lane, &released.exclusive);
        if !shared && !released.shared.clock.is_empty() {
            lanes.join(lane, &released.shared);
        }
        released.holder = (!shared).then_some(lane);
    }

    /// Records that a lane releases a lock.
    #[inline]
    pub(crate) fn release(&mut self, lanes: &mut Lanes, lane: LaneId, (lock, shared): (u32, bool)) {
        let released = &mut self.released[lock as usize];
        let is_holder = released.holder.take() == Some(lane);
        if shared {
            released.shared.join(&lanes.publish(lane));
        } else if is_holder {
            // The lane has learnt of all releases at its acquire, and hands that on.
            lanes.publish_to(lane, &mut released.exclusive);
            released.shared = Published::default();
        } else {
            released.exclusive.join(&lanes.publish(lane));
        }
    }
}
