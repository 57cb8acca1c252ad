//! The state of a forward pass between events: clocks of strands, and clocks that later events
//! join.

use crate::relation::fifo::BegunTasks;
use crate::relation::strands::StrandId;
use anyorder_order::{ChainId, Clock, ClockRef, ClockStore};
use anyorder_trace::{ConditionId, EventId, HandlerId, LocationId, LockId, TaskId};
use rustc_hash::FxHashMap;

/// All clocks of a pass. Clocks share common parts: a copy is free, and a new clock costs its
/// difference from its sources.
#[derive(Debug)]
pub(crate) struct Clocks {
    pub(crate) store: ClockStore,
    /// Set when the store was full. Later results are too small, so the pass must stop.
    pub(crate) full: bool,
    /// The number of nodes that starts the next compaction.
    compact_at: usize,
}

impl Clocks {
    /// The least number of 64-byte nodes that starts a compaction.
    const COMPACT_NODES_MIN: usize = 1 << 20;

    pub(crate) fn new(memory_bytes_max: Option<u64>) -> Clocks {
        let max = memory_bytes_max.and_then(|max| usize::try_from(max).ok());
        let store = max.map_or_else(ClockStore::new, ClockStore::with_memory_max);
        Clocks { store, full: false, compact_at: Clocks::COMPACT_NODES_MIN }
    }

    /// Returns the entry of a chain.
    #[inline]
    pub(crate) fn get(&self, clock: ClockRef, chain: ChainId) -> u32 {
        self.store.get(clock, chain)
    }

    /// Returns the pointwise maximum of two clocks.
    pub(crate) fn join(&mut self, clock: ClockRef, other: ClockRef) -> ClockRef {
        if clock == other || other == ClockRef::EMPTY {
            return clock;
        }
        if clock == ClockRef::EMPTY {
            return other;
        }
        let mut edit = self.store.edit(clock);
        if edit.join(other).is_err() {
            self.full = true;
            return clock;
        }
        edit.finish()
    }

    /// Returns the clock with an entry raised to at least `value`. The chain of a bare strand has
    /// no entry.
    pub(crate) fn raise(&mut self, clock: ClockRef, chain: ChainId, value: u32) -> ClockRef {
        if chain.0 == u32::MAX {
            return clock;
        }
        let mut edit = self.store.edit(clock);
        if edit.raise(chain, value).is_err() {
            self.full = true;
            return clock;
        }
        edit.finish()
    }

    /// Returns a flat copy of a clock.
    pub(crate) fn flat(&self, clock: ClockRef) -> Clock {
        let mut flat = Clock::new();
        self.store.load(clock, &mut flat);
        flat
    }

    /// Returns whether the clocks have grown enough since the last compaction to justify another.
    pub(crate) fn wants_compaction(&self) -> bool {
        self.store.nodes_count() >= self.compact_at
    }

    /// Drops the nodes that none of `clocks` needs, and renumbers the clocks.
    pub(crate) fn compact<'c>(&mut self, clocks: impl IntoIterator<Item = &'c mut ClockRef>) {
        self.store.compact(clocks);
        self.compact_at = (2 * self.store.nodes_count()).max(Clocks::COMPACT_NODES_MIN);
    }
}

/// The clock directly after an event: its predecessors and the event itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub(crate) event: EventId,
    pub(crate) strand: StrandId,
    pub(crate) clock: ClockRef,
}

/// Clocks joined by key. An event takes the clocks of all keys but its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByKey {
    joined: Vec<(u32, ClockRef)>,
}

impl ByKey {
    /// Joins a clock into the one of its key.
    pub(crate) fn add(&mut self, clocks: &mut Clocks, key: u32, clock: ClockRef) {
        match self.joined.iter_mut().find(|(k, _)| *k == key) {
            Some((_, joined)) => *joined = clocks.join(*joined, clock),
            None => self.joined.push((key, clock)),
        }
    }

    /// Joins the clocks of all keys but one into `clock`; returns how many there were.
    pub(crate) fn join_others(&self, clocks: &mut Clocks, key: u32, clock: &mut ClockRef) -> u64 {
        let mut count = 0;
        for (_, other) in self.joined.iter().filter(|(k, _)| *k != key) {
            *clock = clocks.join(*clock, *other);
            count += 1;
        }
        count
    }
}

/// The releases of a lock, by handler.
#[derive(Clone, Debug, Default)]
pub(crate) struct Releases {
    pub(crate) exclusive: ByKey,
    pub(crate) shared: ByKey,
}

/// The releases of the sections of a slot. For each handler it keeps the releases that no later
/// release of the handler knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slot {
    releases: Vec<SlotRelease>,
}

#[derive(Clone, Copy, Debug)]
struct SlotRelease {
    handler: HandlerId,
    chain: ChainId,
    event: EventId,
    clock: ClockRef,
}

impl Slot {
    /// Adds a release.
    pub(crate) fn add(
        &mut self,
        clocks: &Clocks,
        handler: HandlerId,
        chain: ChainId,
        stamp: Stamp,
    ) {
        let Stamp { event, clock, .. } = stamp;
        self.releases.retain(|release| {
            release.handler != handler || clocks.get(clock, release.chain) <= release.event.0
        });
        self.releases.push(SlotRelease { handler, chain, event, clock });
    }

    /// Joins the releases of other handlers into a clock; returns how many it did not know.
    pub(crate) fn join_others(
        &self,
        clocks: &mut Clocks,
        handler: HandlerId,
        clock: &mut ClockRef,
    ) -> u64 {
        let mut count = 0;
        for release in self.releases.iter().rev().filter(|release| release.handler != handler) {
            if clocks.get(*clock, release.chain) <= release.event.0 {
                *clock = clocks.join(*clock, release.clock);
                count += 1;
            }
        }
        count
    }
}

/// The state of a forward pass.
pub(crate) struct State {
    pub(crate) clocks: Clocks,
    /// The clock of each strand at its current event, or at its end once the strand has ended.
    pub(crate) at: Vec<ClockRef>,
    /// The number of synchronising events that each strand has passed.
    pub(crate) segments: Vec<u32>,
    pub(crate) posts: FxHashMap<TaskId, Stamp>,
    pub(crate) forks: FxHashMap<HandlerId, Vec<Stamp>>,
    pub(crate) loops: Vec<Option<Stamp>>,
    /// For each handler, whether one of its tasks is before its loop point.
    pub(crate) late_loops: Vec<bool>,
    pub(crate) attaches: Vec<Option<Stamp>>,
    pub(crate) locks: FxHashMap<LockId, Releases>,
    /// The clocks that sections publish, if sections give the order of locks.
    pub(crate) slots: Vec<Slot>,
    pub(crate) barriers: FxHashMap<ConditionId, ByKey>,
    /// The last write of a location with atomic accesses, if it releases.
    pub(crate) atomics: FxHashMap<LocationId, Stamp>,
    /// Stamps of the sources of given edges.
    pub(crate) saved: FxHashMap<EventId, Stamp>,
    pub(crate) begun: Vec<BegunTasks>,
    /// Whether the order of each task depends on more than posts.
    pub(crate) tainted: Vec<bool>,
    /// The number of edges met, without program order.
    pub(crate) edges: u64,
}

impl State {
    pub(crate) fn new(strands: usize, handlers: usize, memory_bytes_max: Option<u64>) -> State {
        State {
            clocks: Clocks::new(memory_bytes_max),
            at: vec![ClockRef::EMPTY; strands],
            segments: vec![0; strands],
            posts: FxHashMap::default(),
            forks: FxHashMap::default(),
            loops: vec![None; handlers],
            late_loops: vec![false; handlers],
            attaches: vec![None; handlers],
            locks: FxHashMap::default(),
            slots: Vec::new(),
            barriers: FxHashMap::default(),
            atomics: FxHashMap::default(),
            saved: FxHashMap::default(),
            begun: vec![BegunTasks::default(); handlers],
            tainted: vec![false; strands],
            edges: 0,
        }
    }

    /// Drops the parts of clocks that nothing needs, if there are enough of them.
    pub(crate) fn compact<'c>(&'c mut self, more: impl Iterator<Item = &'c mut ClockRef>) {
        if !self.clocks.wants_compaction() {
            return;
        }
        let by_key = |by_key: &'c mut ByKey| by_key.joined.iter_mut().map(|(_, clock)| clock);
        let stamps = (self.posts.values_mut())
            .chain(self.forks.values_mut().flatten())
            .chain(self.loops.iter_mut().flatten())
            .chain(self.attaches.iter_mut().flatten())
            .chain(self.atomics.values_mut())
            .chain(self.saved.values_mut())
            .chain(self.begun.iter_mut().flat_map(BegunTasks::recent_mut))
            .map(|stamp| &mut stamp.clock);
        let locks = self
            .locks
            .values_mut()
            .flat_map(|releases| [&mut releases.exclusive, &mut releases.shared])
            .flat_map(by_key);
        let barriers = self.barriers.values_mut().flat_map(by_key);
        let slots = self.slots.iter_mut().flat_map(|slot| &mut slot.releases);
        let barriers = barriers.chain(slots.map(|release| &mut release.clock));
        let all = self.at.iter_mut().chain(stamps).chain(locks).chain(barriers).chain(more);
        self.clocks.compact(all);
    }
}
