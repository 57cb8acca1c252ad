//! The state of a forward pass between events: clocks of strands, and clocks that later events
//! join.

use crate::relation::by_key::ByKey;
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

/// The last event of a clock: the clock has what comes before the event, and the event itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Last {
    pub(crate) event: EventId,
    pub(crate) strand: StrandId,
    pub(crate) chain: ChainId,
}

/// The releases of a lock, by handler.
#[derive(Clone, Debug, Default)]
pub(crate) struct Releases {
    pub(crate) exclusive: ByKey,
    pub(crate) shared: ByKey,
}

/// What the release sequence of the last write of a location has released.
#[derive(Clone, Debug)]
pub(crate) enum Released {
    /// One event has, or the last one had seen what the others had released.
    One(Stamp),
    /// Several have, in strands that did not look at what was there: by strand.
    Many(Box<ByKey>),
}

impl Released {
    /// Returns the kept clocks.
    pub(crate) fn kept(&mut self) -> impl Iterator<Item = &mut ClockRef> {
        let (one, many) = match self {
            Released::One(stamp) => (Some(&mut stamp.clock), None),
            Released::Many(released) => (None, Some(released.kept())),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }
}

/// The forks of a handler that has not begun since.
#[derive(Clone, Debug)]
pub(crate) struct Forks {
    pub(crate) stamps: Vec<Stamp>,
    /// The join of their clocks.
    pub(crate) joined: ClockRef,
}

impl Default for Forks {
    fn default() -> Forks {
        Forks { stamps: Vec::new(), joined: ClockRef::EMPTY }
    }
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
    /// The last event at which the clock of each strand has grown.
    pub(crate) grown: Vec<EventId>,
    /// The current event.
    pub(crate) now: EventId,
    /// The number of synchronising events that each strand has passed.
    pub(crate) segments: Vec<u32>,
    pub(crate) posts: FxHashMap<TaskId, Stamp>,
    /// The posts of tasks that some event cancels.
    pub(crate) cancels: FxHashMap<TaskId, Stamp>,
    pub(crate) forks: FxHashMap<HandlerId, Forks>,
    pub(crate) loops: Vec<Option<Stamp>>,
    /// For each handler, whether one of its tasks is before its loop point.
    pub(crate) late_loops: Vec<bool>,
    pub(crate) attaches: Vec<Option<Stamp>>,
    pub(crate) locks: FxHashMap<LockId, Releases>,
    /// The clocks that sections publish, if sections give the order of locks.
    pub(crate) slots: Vec<Slot>,
    pub(crate) barriers: FxHashMap<ConditionId, ByKey>,
    /// Of a location with atomic accesses, what its last write has released, or what that write
    /// continues.
    pub(crate) atomics: FxHashMap<LocationId, Released>,
    /// Stamps of the sources of given edges.
    pub(crate) saved: FxHashMap<EventId, Stamp>,
    /// The clocks at the first events of strands of handlers whose tasks others end.
    pub(crate) firsts: FxHashMap<StrandId, ClockRef>,
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
            grown: vec![EventId(0); strands],
            now: EventId(0),
            segments: vec![0; strands],
            posts: FxHashMap::default(),
            cancels: FxHashMap::default(),
            forks: FxHashMap::default(),
            loops: vec![None; handlers],
            late_loops: vec![false; handlers],
            attaches: vec![None; handlers],
            locks: FxHashMap::default(),
            slots: Vec::new(),
            barriers: FxHashMap::default(),
            atomics: FxHashMap::default(),
            saved: FxHashMap::default(),
            firsts: FxHashMap::default(),
            begun: vec![BegunTasks::default(); handlers],
            tainted: vec![false; strands],
            edges: 0,
        }
    }

    /// Joins a clock into that of a strand on chain `own`. `last` is the event whose clock it is,
    /// with its chain, if it is that of one event.
    ///
    /// Clocks are closed: one that has an event has all that comes before it. So nothing is to do
    /// if the strand knows `last`. And if the clock has the event at which that of the strand has
    /// grown last, it has all of it.
    pub(crate) fn learn(
        &mut self,
        strand: StrandId,
        own: ChainId,
        clock: ClockRef,
        last: Option<(ChainId, EventId)>,
    ) {
        let at = self.at[strand.index()];
        if at == clock || clock == ClockRef::EMPTY {
            return;
        }
        if last.is_some_and(|(chain, event)| self.clocks.get(at, chain) > event.0) {
            return;
        }
        let covers = self.clocks.get(clock, own) > self.grown[strand.index()].0;
        // Equal parts are taken from the other clock, so that the next one shares them, too.
        let joined = if covers { clock } else { self.clocks.join(clock, at) };
        self.set(strand, joined);
    }

    /// Raises an entry of the clock of a strand.
    pub(crate) fn raise(&mut self, strand: StrandId, chain: ChainId, value: u32) {
        let raised = self.clocks.raise(self.at[strand.index()], chain, value);
        self.set(strand, raised);
    }

    /// Replaces the clock of a strand by one that is as great or greater.
    #[inline]
    pub(crate) fn set(&mut self, strand: StrandId, clock: ClockRef) {
        if self.at[strand.index()] != clock {
            self.at[strand.index()] = clock;
            self.grown[strand.index()] = self.now;
        }
    }

    /// Drops the parts of clocks that nothing needs, if there are enough of them.
    pub(crate) fn compact<'c>(&'c mut self, more: impl Iterator<Item = &'c mut ClockRef>) {
        if !self.clocks.wants_compaction() {
            return;
        }
        let stamps = (self.posts.values_mut())
            .chain(self.cancels.values_mut())
            .chain(self.loops.iter_mut().flatten())
            .chain(self.attaches.iter_mut().flatten())
            .chain(self.saved.values_mut())
            .chain(self.begun.iter_mut().flat_map(BegunTasks::kept))
            .map(|stamp| &mut stamp.clock);
        let locks = self
            .locks
            .values_mut()
            .flat_map(|releases| [&mut releases.exclusive, &mut releases.shared])
            .flat_map(ByKey::kept);
        let locks = locks.chain(self.atomics.values_mut().flat_map(Released::kept));
        let forks = self.forks.values_mut().flat_map(|forks| {
            let stamps = forks.stamps.iter_mut().map(|stamp| &mut stamp.clock);
            stamps.chain([&mut forks.joined])
        });
        let barriers = self.barriers.values_mut().flat_map(ByKey::kept).chain(forks);
        let slots = self.slots.iter_mut().flat_map(|slot| &mut slot.releases);
        let barriers = barriers.chain(slots.map(|release| &mut release.clock));
        let all = self
            .at
            .iter_mut()
            .chain(self.firsts.values_mut())
            .chain(stamps)
            .chain(locks)
            .chain(barriers)
            .chain(more);
        self.clocks.compact(all);
    }
}
