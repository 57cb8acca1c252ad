//! Lanes: sequences of events, each with its clock.
//!
//! A lane is a handler (with its posted tasks, in the observed order), or one burst of an untracked
//! handler. Each lane has a *slot*, its position in all clocks. Slots are dense. After a lane has
//! been joined, another lane can reuse its slot, as if it continued the joined lane. The new lane
//! must be forked by a lane that knows all events of the joined one.

use crate::error::PredictError;
use anyorder_order::{ChainId, SharedClock};
use anyorder_trace::{Tables, TaskKind};

/// Number of a lane.
pub(crate) type LaneId = usize;

/// A callback that gets a lane and a clock that it is about to learn.
pub(crate) type ClockObserver<'w> = &'w mut dyn FnMut(LaneId, &SharedClock);

const NONE: u32 = u32::MAX;
/// The most sources of a clock that are remembered.
const SOURCES_MAX: usize = 6;
/// The most free slots to examine for a new lane.
const FREE_SCAN_MAX: usize = 256;

/// A place in the trace: the slot of a lane, and the lane's epoch.
pub(crate) type Epoch = (ChainId, u32);

/// A clock that a lane has published.
#[derive(Clone, Debug, Default)]
pub(crate) struct Published {
    pub(crate) clock: SharedClock,
    /// The epochs at which lanes published what it joins.
    pub(crate) sources: Sources,
}

impl Published {
    /// Adds another published clock.
    pub(crate) fn join(&mut self, other: &Published) {
        if self.sources.are_known(&other.clock) {
            self.clock.copy_from(&other.clock);
            self.sources = other.sources;
        } else {
            self.clock.join(&other.clock);
            self.sources.add_all(other.sources, &other.clock);
        }
    }
}

/// Epochs of which a clock is the join; a few, or unknown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sources {
    few: [Option<Epoch>; SOURCES_MAX],
    is_unknown: bool,
}

impl Sources {
    fn one(from: Epoch) -> Sources {
        let mut sources = Sources::default();
        sources.few[0] = Some(from);
        sources
    }

    fn add(&mut self, (slot, count): Epoch) {
        // A later epoch of a slot stands for the earlier ones.
        let fits = |kept: &&mut Option<Epoch>| kept.is_none_or(|(other, _)| other == slot);
        match self.few.iter_mut().find(fits) {
            Some(kept) => *kept = Some((slot, kept.map_or(count, |(_, known)| known.max(count)))),
            None => self.is_unknown = true,
        }
    }

    /// Adds the sources of a clock. They stand for those that it knows.
    fn add_all(&mut self, other: Sources, clock: &SharedClock) {
        for kept in &mut self.few {
            *kept = kept.filter(|(slot, count)| clock.get(*slot) < *count);
        }
        self.is_unknown |= other.is_unknown;
        other.few.into_iter().flatten().for_each(|from| self.add(from));
    }

    /// Returns whether a clock has all that these have. Clocks are closed: one that has an epoch
    /// has all that its lane knew when it published.
    #[inline]
    pub(crate) fn are_known(&self, clock: &SharedClock) -> bool {
        !self.is_unknown
            && self.few.iter().flatten().all(|(slot, count)| clock.get(*slot) >= *count)
    }
}

/// One lane.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    /// Its position in clocks.
    pub(crate) slot: ChainId,
    /// Its clock. Its own entry counts its publications, from 1.
    pub(crate) clock: SharedClock,
    /// Its own entry, the same as in `clock`.
    pub(crate) now: u32,
    /// Increases when other entries of `clock` do.
    pub(crate) version: u64,
    /// The own entry at which other entries of `clock` grew last. A clock that has it was
    /// published after that, and has all other entries.
    grown: u32,
    /// Where the other entries of `clock` come from.
    sources: Sources,
    handler: usize,
    /// Whether work is due before the next event: a fork, or a new slot.
    pending: bool,
    joined: bool,
    /// Whether it has had an event. Until then its slot may belong to a lane that it knows nothing
    /// of yet.
    begun: bool,
}

impl Lane {
    /// Joins a clock into that of the lane. A lane that knows the sources of the clock has all of
    /// it, and a clock that has the lane's last growth has all entries of the lane but its own one.
    #[inline]
    fn take(&mut self, clock: &SharedClock, sources: Sources) {
        if sources.are_known(&self.clock) {
            return;
        }
        if clock.get(self.slot) >= self.grown {
            if self.clock.join_greater(clock, self.slot) {
                self.sources = sources;
                self.has_grown();
            }
        } else if self.clock.join(clock) {
            self.sources.add_all(sources, clock);
            self.has_grown();
        }
    }

    /// Raises the entry of another lane.
    #[inline]
    fn raise(&mut self, (slot, count): Epoch) {
        self.clock.raise(slot, count);
        self.sources.add((slot, count));
        self.has_grown();
    }

    fn has_grown(&mut self) {
        self.version += 1;
        self.grown = self.now;
    }
}

#[derive(Clone, Debug, Default)]
struct HandlerLanes {
    lanes: Vec<LaneId>,
    main: Option<LaneId>,
    /// The clocks of the forks that no event has followed yet.
    fork: Option<Published>,
}

/// All lanes of a trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes {
    of_task: Vec<u32>,
    lanes: Vec<Lane>,
    handlers: Vec<HandlerLanes>,
    /// Slots of joined lanes, each with the last value that it reached.
    free: Vec<(ChainId, u32)>,
    slots_count: u32,
    overflow: bool,
}

impl Lanes {
    /// Makes room for the tasks and handlers of `tables`.
    pub(crate) fn grow(&mut self, tables: &Tables) {
        self.of_task.resize(tables.tasks.len(), NONE);
        self.handlers.resize_with(tables.handlers.len(), HandlerLanes::default);
    }

    /// Returns the lane of a task's next event, and does the pending work before that event.
    #[inline]
    pub(crate) fn enter(
        &mut self,
        tables: &Tables,
        (event, task): (u64, u32),
        watch: ClockObserver<'_>,
    ) -> Result<LaneId, PredictError> {
        let known = self.of_task.get(task as usize).copied().unwrap_or(NONE);
        if known != NONE && !self.lanes[known as usize].pending {
            return Ok(known as usize);
        }
        self.enter_slowly(tables, (event, task), watch)
    }

    fn enter_slowly(
        &mut self,
        tables: &Tables,
        (event, task): (u64, u32),
        watch: ClockObserver<'_>,
    ) -> Result<LaneId, PredictError> {
        let unknown = || PredictError::Unknown { event, what: "task", index: task };
        let known = *self.of_task.get(task as usize).ok_or_else(unknown)?;
        let def = tables.tasks.get(task as usize).ok_or_else(unknown)?;
        let handler = def.handler.index();
        if handler >= self.handlers.len() {
            return Err(PredictError::Unknown { event, what: "handler", index: def.handler.0 });
        }
        let lane = if known != NONE {
            known as usize
        } else if def.kind == TaskKind::Burst {
            self.open(handler, &SharedClock::new())
        } else {
            self.main_of(handler, &SharedClock::new())
        };
        self.of_task[task as usize] = lane as u32;
        if self.lanes[lane].joined {
            self.renew(lane);
        }
        self.lanes[lane].begun = true;
        if let Some(fork) = self.handlers[handler].fork.take() {
            self.learn_from(lane, &fork, watch);
        }
        for other in &self.handlers[handler].lanes {
            let other = &mut self.lanes[*other];
            other.pending = other.joined;
        }
        Ok(lane)
    }

    fn main_of(&mut self, handler: usize, known: &SharedClock) -> LaneId {
        if let Some(main) = self.handlers[handler].main {
            return main;
        }
        let lane = self.open(handler, known);
        self.handlers[handler].main = Some(lane);
        lane
    }

    /// Opens a lane whose events all come after the clock `known`.
    fn open(&mut self, handler: usize, known: &SharedClock) -> LaneId {
        let (slot, now) = self.take_slot(known);
        let mut clock = SharedClock::new();
        clock.raise(slot, now);
        self.lanes.push(Lane {
            slot,
            clock,
            now,
            version: 1,
            grown: now,
            sources: Sources::default(),
            handler,
            pending: true,
            joined: false,
            begun: false,
        });
        self.handlers[handler].lanes.push(self.lanes.len() - 1);
        self.lanes.len() - 1
    }

    fn take_slot(&mut self, known: &SharedClock) -> (ChainId, u32) {
        let from = self.free.len().saturating_sub(FREE_SCAN_MAX);
        let fits =
            |(slot, last): &(ChainId, u32)| known.get(*slot) >= *last && *last < u32::MAX - 1;
        if let Some(at) = self.free[from..].iter().rposition(fits) {
            let (slot, last) = self.free.remove(from + at);
            return (slot, last + 1);
        }
        self.slots_count += 1;
        (ChainId(self.slots_count - 1), 1)
    }

    /// Gives a new slot to a lane that continues after it was joined.
    fn renew(&mut self, lane: LaneId) {
        let (slot, now) = self.take_slot(&SharedClock::new());
        let lane = &mut self.lanes[lane];
        lane.sources = Sources::one((lane.slot, lane.now));
        (lane.slot, lane.now, lane.joined) = (slot, now, false);
        lane.clock.raise(slot, now);
        lane.has_grown();
    }

    /// Returns a lane.
    #[inline]
    pub(crate) fn get(&self, lane: LaneId) -> &Lane {
        &self.lanes[lane]
    }

    /// Returns the number of lanes so far.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Returns the number of slots, the width of clocks.
    pub(crate) fn slots_count(&self) -> u32 {
        self.slots_count
    }

    /// Joins a clock into a lane.
    #[inline]
    pub(crate) fn join(&mut self, lane: LaneId, published: &Published) {
        self.lanes[lane].take(&published.clock, published.sources);
    }

    /// Lets a lane learn a clock; calls `watch` first.
    pub(crate) fn learn_from(
        &mut self,
        lane: LaneId,
        published: &Published,
        watch: ClockObserver<'_>,
    ) {
        watch(lane, &published.clock);
        self.join(lane, published);
    }

    /// Joins a clock into a lane, if there is one, and raises the entry of the slot that published
    /// it at a count.
    #[inline]
    pub(crate) fn learn(&mut self, lane: LaneId, clock: Option<&SharedClock>, from: Epoch) {
        let lane = &mut self.lanes[lane];
        if let Some(clock) = clock {
            lane.take(clock, Sources::one(from));
        }
        lane.raise(from);
    }

    /// Returns the clock of a lane, which begins a new epoch.
    pub(crate) fn publish(&mut self, lane: LaneId) -> Published {
        let mut published = Published::default();
        self.publish_to(lane, &mut published);
        published
    }

    /// Works like [`publish`](Self::publish) in the memory of a clock that is replaced.
    #[inline]
    pub(crate) fn publish_to(&mut self, lane: LaneId, published: &mut Published) {
        let of_lane = &self.lanes[lane];
        published.clock.copy_from(&of_lane.clock);
        published.sources = Sources::one((of_lane.slot, of_lane.now));
        self.advance(lane);
    }

    /// Begins a new epoch of a lane. Call it after publishing its clock.
    #[inline]
    pub(crate) fn advance(&mut self, lane: LaneId) {
        let lane = &mut self.lanes[lane];
        if lane.now >= u32::MAX - 1 {
            self.overflow = true;
            return;
        }
        lane.now += 1;
        lane.clock.raise(lane.slot, lane.now);
    }

    /// Fails when some lane has run out of epochs.
    pub(crate) fn check(&self) -> Result<(), PredictError> {
        if self.overflow { Err(PredictError::TooMany("releases of one thread")) } else { Ok(()) }
    }

    /// Records that a lane starts a handler: the lane's clock is before that handler's next event.
    pub(crate) fn fork(&mut self, lane: LaneId, handler: usize) {
        if handler >= self.handlers.len() || self.lanes[lane].handler == handler {
            return;
        }
        let published = self.publish(lane);
        self.main_of(handler, &published.clock);
        let of_handler = &mut self.handlers[handler];
        for forked in &of_handler.lanes {
            self.lanes[*forked].pending = true;
        }
        of_handler.fork.get_or_insert_default().join(&published);
    }

    /// Records that a lane continues after a handler has ended: the handler's events so far are
    /// before the lane's next ones.
    pub(crate) fn join_handler(&mut self, lane: LaneId, handler: usize, watch: ClockObserver<'_>) {
        if handler >= self.handlers.len() || self.lanes[lane].handler == handler {
            return;
        }
        for at in 0..self.handlers[handler].lanes.len() {
            let other = self.handlers[handler].lanes[at];
            if !self.lanes[other].begun {
                continue;
            }
            // The handler does not know a fork that no event followed.
            let Lane { slot, now, sources, .. } = self.lanes[other];
            let clock = self.lanes[other].clock.clone();
            watch(lane, &clock);
            let of_lane = &mut self.lanes[lane];
            if !sources.are_known(&of_lane.clock) {
                of_lane.take(&clock, Sources::one((slot, now)));
            } else if of_lane.clock.get(slot) < now {
                of_lane.raise((slot, now));
            }
            let ended = &mut self.lanes[other];
            if !ended.joined {
                (ended.joined, ended.pending) = (true, true);
                self.free.push((ended.slot, ended.now));
            }
        }
        // The handler was started but had no events. The clock of its starter still comes before
        // the join.
        if let Some(fork) = self.handlers[handler].fork.clone() {
            self.learn_from(lane, &fork, watch);
        }
    }

    /// Returns the memory of the clocks, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.of_task.capacity() * 4
            + self.lanes.iter().map(|l| size_of::<Lane>() + l.clock.memory_bytes()).sum::<usize>()
    }
}
