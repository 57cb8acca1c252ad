//! One pass over a trace, event by event.
//!
//! **Idea.** The clock of a strand covers the predecessors of its current event. On arrival at an
//! event, the pass joins the clocks of its predecessors into the clock of its strand. On leaving,
//! the pass keeps the clocks that later events need. Module `task_order` places a task among the
//! tasks of its handler.

use crate::relation::by_key::{ByKey, Part};
use crate::relation::engine::Engine;
use crate::relation::given::Edge;
use crate::relation::state::{Clocks, Slot, Stamp, State};
use crate::relation::strands::StrandId;
use anyorder_order::{ChainId, ClockRef};
use anyorder_system::{Cancel, StopReason, Stopped};
use anyorder_trace::{Action, EventId, EventKind, HandlerId};
use rustc_hash::FxHashMap;

mod apart;
mod sequences;

/// The view of an event that a pass gives to its visitor.
pub(crate) struct View<'p, 't> {
    pub(crate) engine: &'p Engine<'t>,
    pub(crate) clocks: &'p Clocks,
    /// The clock of each strand at its current event.
    pub(crate) at: &'p [ClockRef],
    pub(crate) segments: &'p [u32],
    /// The clocks at the first events of strands of handlers whose tasks others end.
    pub(crate) firsts: &'p FxHashMap<StrandId, ClockRef>,
    /// The clock that the strand has learnt by the edges into this event, without edges of sections
    /// and derived edges.
    pub(crate) learnt: ClockRef,
    /// The clock of the strand, without the part learnt from sections at this event and by derived
    /// edges into the strand.
    pub(crate) unsectioned: ClockRef,
}

/// Observes the events of a pass.
pub(crate) trait Visitor {
    /// Handles an event after its predecessors are known.
    fn event(&mut self, view: &View<'_, '_>, event: EventId, strand: StrandId);

    /// Joins further predecessors into the clock of an event, for closures larger than
    /// happens-before. The pass calls it after [`event`](Self::event).
    fn more_predecessors(
        &mut self,
        _event: EventId,
        _clocks: &mut Clocks,
        clock: ClockRef,
    ) -> ClockRef {
        clock
    }

    /// Takes the clock directly after an event for which [`wants_stamp`](Self::wants_stamp)
    /// returned true.
    fn stamp(&mut self, _event: EventId, _clock: ClockRef) {}

    /// Returns whether the pass must call [`stamp`](Self::stamp) for an event.
    fn wants_stamp(&self, _event: EventId) -> bool {
        false
    }

    /// Returns the bytes that the visitor holds, if they can be many.
    fn memory_bytes(&self) -> usize {
        0
    }

    /// Returns the clocks that the visitor keeps.
    fn kept_clocks(&mut self) -> Box<dyn Iterator<Item = &mut ClockRef> + '_> {
        Box::new(std::iter::empty())
    }
}

impl View<'_, '_> {
    /// Returns the event number below which all events of `chain` happen before the current event
    /// of `strand`.
    #[inline]
    pub(crate) fn bound(&self, strand: StrandId, chain: ChainId) -> u32 {
        let clock = self.at[strand.index()];
        self.engine.bound(strand, u32::MAX, chain, |chain| self.clocks.get(clock, chain))
    }
}

/// The clocks at the ends of all strands.
pub(crate) struct Ends {
    pub(crate) clocks: Clocks,
    pub(crate) of_strand: Vec<ClockRef>,
}

/// One pass.
pub(crate) struct Pass<'p, 't> {
    pub(crate) engine: &'p mut Engine<'t>,
    pub(crate) state: State,
    /// As in [`View`]; separate only if sections give orders.
    learnt: ClockRef,
    unsectioned: ClockRef,
    /// The clock of each strand without the part learnt by derived edges, if there are any.
    plain: Vec<ClockRef>,
    apart: bool,
    next_edge: usize,
    next_pull: usize,
    next_publish: usize,
    /// Whether the pass derives task orders, or uses those of the engine.
    pub(crate) derive: bool,
    /// Edges to events that the pass has already processed, for the next pass.
    pub(crate) found: Vec<Edge>,
}

impl<'p, 't> Pass<'p, 't> {
    /// Creates a pass at the start of the trace.
    pub(crate) fn new(engine: &'p mut Engine<'t>) -> Pass<'p, 't> {
        let handlers = engine.strands.loop_points.len();
        let mut state = State::new(engine.strands.len(), handlers, engine.memory_bytes_max);
        let slots = engine.sections.as_ref().map_or(0, |plan| plan.slots);
        state.slots.resize_with(slots, Slot::default);
        let (next_edge, next_pull, next_publish) = (0, 0, 0);
        let (learnt, unsectioned) = (ClockRef::EMPTY, ClockRef::EMPTY);
        let apart = engine.sections.is_some() && !engine.derived.is_empty();
        let strands = if apart { engine.strands.len() } else { 0 };
        Pass {
            engine,
            state,
            learnt,
            unsectioned,
            plain: vec![ClockRef::EMPTY; strands],
            apart: false,
            next_edge,
            next_pull,
            next_publish,
            derive: false,
            found: Vec::new(),
        }
    }

    /// Derives task orders. Returns the edges that follow from them to events that the pass has
    /// already processed.
    pub(crate) fn derive(mut self, cancel: &Cancel) -> Result<Vec<Edge>, Stopped> {
        const POLL_EVENTS: usize = 64;
        self.derive = true;
        let sync = std::mem::take(&mut self.engine.sync);
        let mut result = Ok(());
        for (i, &event) in sync.iter().enumerate() {
            if i % POLL_EVENTS == 0 {
                result = self.poll(cancel, 0);
                if result.is_err() {
                    break;
                }
                self.state.compact(std::iter::empty());
            }
            self.state.now = event;
            let strand = self.engine.strand_of(event);
            self.arrive(event, strand);
            self.leave(event, strand);
        }
        self.engine.sync = sync;
        self.engine.edges = self.state.edges;
        self.engine.nodes_joined += self.state.clocks.store.stats().nodes_joined;
        result.map(|()| self.found)
    }

    /// Shows every event to `visitor`. Returns the clocks at the ends of all strands.
    pub(crate) fn visit<V: Visitor>(
        mut self,
        visitor: &mut V,
        cancel: &Cancel,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Ends, Stopped> {
        const PROGRESS_EVENTS: usize = 1 << 16;
        const POLL_EVENTS: usize = 64;
        let sync = std::mem::take(&mut self.engine.sync);
        let mut next_sync = 0;
        let mut result = Ok(());
        for row in 0..self.engine.trace.len() {
            if row % POLL_EVENTS == 0 {
                if row % PROGRESS_EVENTS == 0 {
                    progress(row as u64);
                }
                result = self.poll(cancel, visitor.memory_bytes());
                if result.is_err() {
                    break;
                }
                if self.state.clocks.wants_compaction() {
                    self.state.compact(visitor.kept_clocks().chain(&mut self.plain));
                }
            }
            let event = EventId(row as u32);
            self.state.now = event;
            let strand = self.engine.strand_of(event);
            let is_sync = next_sync < sync.len() && sync[next_sync] == event;
            self.learnt = ClockRef::EMPTY;
            self.unsectioned = self.state.at[strand.index()];
            if is_sync {
                next_sync += 1;
                self.arrive(event, strand);
            }
            let view = View {
                learnt: self.learnt,
                unsectioned: self.unsectioned,
                engine: self.engine,
                clocks: &self.state.clocks,
                at: &self.state.at,
                segments: &self.state.segments,
                firsts: &self.state.firsts,
            };
            visitor.event(&view, event, strand);
            let at = self.state.at[strand.index()];
            let at = visitor.more_predecessors(event, &mut self.state.clocks, at);
            self.state.set(strand, at);
            if visitor.wants_stamp(event) {
                visitor.stamp(event, self.stamp(event, strand).clock);
            }
            if is_sync {
                self.leave(event, strand);
            }
        }
        self.engine.sync = sync;
        self.engine.nodes_joined += self.state.clocks.store.stats().nodes_joined;
        result.map(|()| Ends { clocks: self.state.clocks, of_strand: self.state.at })
    }

    fn poll(&self, cancel: &Cancel, more_bytes: usize) -> Result<(), Stopped> {
        let (own, orders) = (&self.state.clocks.store, &self.engine.orders.clocks.store);
        let bytes = own.memory_bytes() + orders.memory_bytes() + more_bytes;
        if self.engine.memory_bytes_max.is_some_and(|max| bytes as u64 > max) {
            return Err(Stopped(StopReason::MemoryLimit));
        }
        if self.state.clocks.full || self.engine.orders.clocks.full {
            return Err(Stopped(StopReason::MemoryLimit));
        }
        cancel.check()
    }

    /// Joins all predecessors of an event into the clock of its strand.
    fn arrive(&mut self, event: EventId, strand: StrandId) {
        if self.engine.sections.is_some() && !self.derive {
            self.arrive_apart(event, strand);
        } else {
            self.join_hard(event, strand);
            self.join_sections(event, strand);
        }
        self.state.segments[strand.index()] += 1;
        let begun = self.engine.strands.get(strand);
        if begun.first == event && self.engine.over.is_foreign(begun.handler) {
            self.state.firsts.insert(strand, self.state.at[strand.index()]);
        }
    }

    /// Joins the predecessors of an event by edges other than those of sections.
    fn join_hard(&mut self, event: EventId, strand: StrandId) {
        if self.engine.strands.get(strand).first == event {
            self.begin(event, strand);
        } else {
            self.join_given(event, strand);
        }
        self.join_by_kind(event, strand);
    }

    /// Joins the clock of a stamp into that of a strand. If the pass separates kinds of edges, a
    /// strand learns nothing from itself.
    fn join(&mut self, strand: StrandId, from: Stamp) {
        if self.apart && from.strand == strand {
            return;
        }
        let last = (self.engine.chains.of(from.strand), from.event);
        self.state.learn(strand, self.engine.chains.of(strand), from.clock, Some(last));
        self.state.edges += 1;
    }

    /// Joins the clocks of all keys but one.
    fn join_others(&mut self, strand: StrandId, by_key: &mut ByKey, key: u32) {
        let own = self.engine.chains.of(strand);
        let state = &mut self.state;
        state.edges += by_key.others_count(key);
        let knows = |part: Part| {
            part.last.is_some_and(|last| {
                last.strand == strand
                    || state.clocks.get(state.at[strand.index()], last.chain) > last.event.0
            })
        };
        if !self.apart && by_key.own(key).is_none_or(knows) {
            let Part { clock, last } = by_key.all();
            state.learn(strand, own, clock, last.map(|last| (last.chain, last.event)));
            return;
        }
        let mut at = state.at[strand.index()];
        by_key.for_others(&mut state.clocks, key, |clocks, part| {
            at = clocks.join(at, part.clock);
        });
        state.set(strand, at);
    }

    fn join_by_kind(&mut self, event: EventId, strand: StrandId) {
        let handler = self.engine.strands.get(strand).handler;
        let trace = self.engine.trace;
        match trace.event(event).action() {
            Action::Join(joined) => self.join_handler(event, joined, strand),
            Action::Acquire(lock, mode) if self.engine.sections.is_none() => {
                let Some(mut releases) = self.state.locks.remove(&lock) else { return };
                self.join_others(strand, &mut releases.exclusive, handler.0);
                if !mode.is_shared() {
                    self.join_others(strand, &mut releases.shared, handler.0);
                }
                self.state.locks.insert(lock, releases);
            }
            Action::Get(_) => {
                let task = trace.event(event).task;
                let Some(stamp) = self.state.posts.remove(&task) else { return };
                self.join(strand, stamp);
            }
            Action::Cancel(task) => {
                // The post stays: the task may begin later.
                let Some(stamp) = self.state.cancels.get(&task).copied() else { return };
                self.join(strand, stamp);
            }
            Action::Barrier(condition) => {
                let key = self.passer(trace.event(event).task, strand);
                let Some(mut earlier) = self.state.barriers.remove(&condition) else { return };
                self.join_others(strand, &mut earlier, key);
                self.state.barriers.insert(condition, earlier);
            }
            Action::Access { kind, location, mode } if kind.reads() && mode.acquires() => {
                self.join_sequence(strand, location);
            }
            Action::Post(task) => {
                let target = trace.span(task).handler;
                let attach = self.state.attaches.get(target.index()).copied().flatten();
                if let Some(attach) = attach.filter(|_| target != handler) {
                    self.join(strand, attach);
                }
            }
            _ => {}
        }
    }

    fn join_handler(&mut self, event: EventId, joined: HandlerId, strand: StrandId) {
        // A fork is before the next event of the forked handler.
        self.join_forks(joined, strand);
        let engine = &*self.engine;
        let own = engine.chains.of(strand);
        let (posted, thread) = (engine.chains.posted_of(joined), engine.chains.thread_of(joined));
        for &chain in posted.iter().chain(thread) {
            let Some(&tail) = engine.begun_on(chain, event.0).last() else { continue };
            if self.apart && tail == strand {
                continue;
            }
            let value = event.0.min(engine.strands.get(tail).last.0 + 1);
            // Later events of the strand do not come before the join.
            self.state.segments[tail.index()] += 1;
            let State { at, grown, .. } = &self.state;
            let (clock, grown) = (at[tail.index()], grown[tail.index()]);
            self.state.learn(strand, own, clock, Some((chain, grown)));
            self.state.raise(strand, chain, value);
            self.state.edges += 1;
        }
    }

    /// Joins the forks of a handler that has not begun since.
    fn join_forks(&mut self, joined: HandlerId, strand: StrandId) {
        let Some(forks) = self.state.forks.get(&joined) else { return };
        if self.apart {
            let stamps = forks.stamps.clone();
            stamps.into_iter().for_each(|fork| self.join(strand, fork));
        } else {
            let (clock, count) = (forks.joined, forks.stamps.len() as u64);
            self.state.learn(strand, self.engine.chains.of(strand), clock, None);
            self.state.edges += count;
        }
    }

    /// Joins the given edges, and forks, into an event that is not the first of its strand.
    fn join_given(&mut self, event: EventId, strand: StrandId) {
        if !self.state.forks.is_empty() {
            // The handler had begun before it was forked.
            let handler = self.engine.strands.get(strand).handler;
            for fork in self.state.forks.remove(&handler).unwrap_or_default().stamps {
                self.join(strand, fork);
            }
        }
        for at in self.given_into(event) {
            let from = self.engine.given.edges[at].from;
            if self.apart && self.engine.derived.contains(&(from, event)) {
                continue;
            }
            if let Some(stamp) = self.state.saved.get(&from).copied() {
                self.join(strand, stamp);
            }
        }
    }

    /// Returns the positions of the given edges into an event. Calls must name events in ascending
    /// order.
    fn given_into(&mut self, event: EventId) -> std::ops::Range<usize> {
        let edges = &self.engine.given.edges;
        while self.next_edge < edges.len() && edges[self.next_edge].to < event {
            self.next_edge += 1;
        }
        let start = self.next_edge;
        while self.next_edge < edges.len() && edges[self.next_edge].to == event {
            self.next_edge += 1;
        }
        start..self.next_edge
    }

    /// Begins a strand: finds its predecessors, its place among the tasks of its handler, and its
    /// chain.
    fn begin(&mut self, event: EventId, strand: StrandId) {
        let at = *self.engine.strands.get(strand);
        let trace = self.engine.trace;
        let mut sources: Vec<Stamp> = Vec::new();
        let given = self.given_into(event);
        let mut explicit = !given.is_empty();
        for at in given {
            let from = self.engine.given.edges[at].from;
            if self.apart && self.engine.derived.contains(&(from, event)) {
                continue;
            }
            sources.extend(self.state.saved.get(&from));
        }
        if let Some(forks) = self.state.forks.remove(&at.handler) {
            explicit = true;
            sources.extend(forks.stamps);
        }
        let point = self.engine.strands.loop_points.get(at.handler.index());
        if point.is_some_and(|point| *point < event && !point.is_none()) {
            let source = self.state.loops.get(at.handler.index()).copied().flatten();
            explicit |= self.state.late_loops[at.handler.index()];
            sources.extend(source);
        }
        let is_get = trace.event(event).kind() == EventKind::Get;
        let post = if is_get { self.state.posts.remove(&trace.event(event).task) } else { None };
        sources.extend(post);
        for source in &sources {
            self.join(strand, *source);
        }
        if at.posted {
            if self.derive {
                let posts = self.engine.cancels_in(strand).to_vec();
                let cancels = posts.iter().filter_map(|(task, _)| self.state.cancels.get(task));
                sources.extend(cancels);
                explicit |= !posts.is_empty();
                self.order(strand, &sources, post.as_ref(), explicit);
            }
            self.join_ordered_tasks(strand);
        }
        if !self.engine.is_bare(strand) && !self.engine.chains.is_placed(strand) {
            self.place(strand);
        }
        if at.posted && self.derive {
            self.after_begin(strand, post.as_ref());
        }
    }

    /// Keeps the clocks of an event that later events need.
    fn leave(&mut self, event: EventId, strand: StrandId) {
        let trace = self.engine.trace;
        let handler = self.engine.strands.get(strand).handler;
        if self.engine.sources.contains(&event) {
            let stamp = self.stamp(event, strand);
            self.state.saved.insert(event, stamp);
        }
        let points = &self.engine.strands.loop_points;
        if points.get(handler.index()) == Some(&event) {
            let stamp = self.stamp(event, strand);
            self.state.loops[handler.index()] = Some(stamp);
            let mut chains = self.engine.chains.posted_of(handler).iter();
            let late = chains.any(|chain| self.state.clocks.get(stamp.clock, *chain) > 0);
            self.state.late_loops[handler.index()] = late;
        }
        if self.derive {
            self.note_openings(event, strand);
        }
        if let Action::Post(task) = trace.event(event).action()
            && self.engine.cancelled.contains(&task)
            && trace.span(task).post == event
        {
            let stamp = self.stamp(event, strand);
            self.state.cancels.insert(task, stamp);
        }
        match trace.event(event).action() {
            Action::Post(task)
                if !trace.span(task).get.is_none() && trace.span(task).post == event =>
            {
                let stamp = self.stamp(event, strand);
                self.state.posts.insert(task, stamp);
            }
            Action::Fork(child) => {
                let stamp = self.stamp(event, strand);
                let State { forks, clocks, .. } = &mut self.state;
                let forks = forks.entry(child).or_default();
                forks.joined = clocks.join(forks.joined, stamp.clock);
                forks.stamps.push(stamp);
            }
            Action::Release(..) if self.engine.sections.is_some() => {
                self.leave_section(event, strand);
            }
            Action::Release(lock, mode) => {
                let stamp = self.stamp(event, strand);
                let chain = self.engine.chains.of(strand);
                let releases = self.state.locks.entry(lock).or_default();
                let by_handler =
                    if mode.is_shared() { &mut releases.shared } else { &mut releases.exclusive };
                by_handler.add(&mut self.state.clocks, handler.0, stamp, chain);
            }
            Action::Barrier(condition) => {
                let task = trace.event(event).task;
                let stamp = self.stamp(event, strand);
                let chain = self.engine.chains.of(strand);
                let key = self.passer(task, strand);
                let passed = self.state.barriers.entry(condition).or_default();
                passed.add(&mut self.state.clocks, key, stamp, chain);
            }
            Action::Attach(of) if self.engine.rules.reorders_tasks() => {
                let stamp = self.stamp(event, strand);
                if let Some(slot) = self.state.attaches.get_mut(of.index()) {
                    slot.get_or_insert(stamp);
                }
            }
            Action::Access { kind, location, .. } if kind.writes() => {
                self.leave_write(event, strand, location);
            }
            Action::Free(location) => self.leave_write(event, strand, location),
            _ => {}
        }
        if self.derive {
            self.check_conditionals(event, strand);
        }
    }

    /// Records the enablings that happen before an event that ends them.
    fn note_openings(&mut self, end: EventId, strand: StrandId) {
        let engine = &mut *self.engine;
        let (clocks, at) = (&self.state.clocks, self.state.at[strand.index()]);
        for &opened in engine.over.openings_of(end).to_vec().iter() {
            let from = engine.strand_of(opened);
            let bound =
                || engine.bound(strand, end.0, engine.chains.of(from), |c| clocks.get(at, c));
            if from == strand || bound() > opened.0 {
                engine.over.opened.insert((opened, end));
            }
        }
    }

    fn stamp(&mut self, event: EventId, strand: StrandId) -> Stamp {
        let chain = self.engine.chains.of(strand);
        let clock = self.state.clocks.raise(self.state.at[strand.index()], chain, event.0 + 1);
        Stamp { event, strand, clock }
    }

    /// Collects edges whose condition holds at an event. They apply from the next pass on.
    fn check_conditionals(&mut self, event: EventId, strand: StrandId) {
        if self.engine.given.conditionals.is_empty() {
            return;
        }
        let engine = &*self.engine;
        let (clocks, at) = (&self.state.clocks, self.state.at[strand.index()]);
        let conditionals = &engine.given.conditionals;
        let start = conditionals.partition_point(|c| c.when.1 < event);
        for conditional in conditionals[start..].iter().take_while(|c| c.when.1 == event) {
            let cause = conditional.when.0;
            let chain = engine.chains.of(engine.strand_of(cause));
            if engine.bound(strand, event.0, chain, |chain| clocks.get(at, chain)) > cause.0 {
                self.found.extend(&conditional.edges);
            }
        }
    }
}
