//! Clocks of lanes at releases. Equal clocks share one snapshot.
//!
//! A lane's clock changes only when the lane learns something. Until then, the clocks of all its
//! releases differ only in its own entry, which the sections store themselves. So memory and time
//! for wide clocks depend on how often lanes learn, not on how often they release.

use crate::relations::lanes::{LaneId, Lanes};
use anyorder_order::SharedClock;

/// The number for no snapshot.
pub(crate) const NO_SNAPSHOT: u32 = u32::MAX;

/// The newest snapshot of a lane, and the version of the clock that it contains.
#[derive(Clone, Copy, Debug)]
struct Newest {
    snapshot: u32,
    version: u64,
}

/// Snapshots as counted references.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshots {
    clocks: Vec<SharedClock>,
    references: Vec<u32>,
    free: Vec<u32>,
    /// The newest snapshot of each lane, which also holds a reference to it.
    newest: Vec<Newest>,
}

impl Snapshots {
    /// Makes room for lane numbers below `count`.
    pub(crate) fn grow(&mut self, count: usize) {
        if self.newest.len() < count {
            self.newest.resize(count, Newest { snapshot: NO_SNAPSHOT, version: 0 });
        }
    }

    /// Returns a snapshot of a lane's clock, with one more reference. The entry of the lane's own
    /// slot may be out of date.
    pub(crate) fn take(&mut self, lanes: &Lanes, lane: LaneId) -> u32 {
        let of_lane = lanes.get(lane);
        let newest = self.newest[lane];
        if newest.snapshot != NO_SNAPSHOT && newest.version == of_lane.version {
            self.references[newest.snapshot as usize] += 1;
            return newest.snapshot;
        }
        self.drop(newest.snapshot);
        let snapshot = self.free.pop().unwrap_or_else(|| {
            self.clocks.push(SharedClock::new());
            self.references.push(0);
            self.clocks.len() as u32 - 1
        });
        self.clocks[snapshot as usize].copy_from(&of_lane.clock);
        self.references[snapshot as usize] = 2;
        self.newest[lane] = Newest { snapshot, version: of_lane.version };
        snapshot
    }

    /// Drops a reference to a snapshot.
    #[inline]
    pub(crate) fn drop(&mut self, snapshot: u32) {
        if snapshot == NO_SNAPSHOT {
            return;
        }
        let references = &mut self.references[snapshot as usize];
        *references -= 1;
        if *references == 0 {
            self.free.push(snapshot);
        }
    }

    /// Returns the clock of a snapshot.
    #[inline]
    pub(crate) fn clock(&self, snapshot: u32) -> &SharedClock {
        &self.clocks[snapshot as usize]
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let clock = |c: &SharedClock| size_of::<SharedClock>() + 4 + c.memory_bytes();
        self.clocks.iter().map(clock).sum::<usize>() + self.free.capacity() * 4
    }
}
