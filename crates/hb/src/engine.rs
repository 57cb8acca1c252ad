//! The forward pass that computes happens-before.
//!
//! **Problem.** Given a trace and a rule set, the least relation of `docs/happens-before.md`, sections 1-3, as
//! a clock for each event.
//!
//! **Source.** Rules after Maiya, Kanade, Majumdar, "Race Detection for Android Applications", PLDI 2014,
//! and their published sources; chains after Raychev, Vechev, Sridharan, "Effective Race Detection for
//! Event-Driven Programs", OOPSLA 2013, who share clock entries among the tasks of a chain.
//!
//! **Guarantee.** Exactly the relation defined; checked against a naive closure.
//!
//! **Naive version.** A Boolean matrix over all events, closed by repeating all rules until nothing changes.
//!
//! **Idea.** Every edge goes forward in the trace. When a task begins, all that can order it behind earlier
//! tasks of its handler is known: the clock of its post (no pre-emption), and the posts of the tasks begun
//! before it that are before its own post (FIFO). So a single pass computes the least fixpoint of these two rules, although each
//! feeds the other. Only *fifo, read backwards* and orders that depend on other orders add edges to events already
//! passed: those are collected, and the pass is repeated with them until none is new.
//!
//! **Deviations.** The rule of the delayed poster is not computed: it follows from no pre-emption and
//! transitivity (`m1 ≺ m` and `m` posts `m2` give `m1 ≺ m2`).
//!
//! **Cost.** With `C` chains, `S` synchronising events and `T` tasks: O(S·C) for joins, O(T·C) for task
//! orders, O(T·C) memory. Accesses cost nothing here.

use crate::chain_map::ChainMap;
use crate::given::{Edge, Given};
use crate::rules::{Rule, RuleSet};
use crate::state::{Stamp, State};
use crate::races::Run;
use crate::strands::{Strand, StrandId, Strands};
use anyorder_order::{ChainId, Clock};
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::{
    Action, EventId, EventKind, HandlerId, LocationId, Mailbox, Position, TaskId, Trace,
};
use rustc_hash::FxHashSet;

/// Everything about a trace that passes share.
#[derive(Debug)]
pub(crate) struct Engine<'t> {
    pub(crate) trace: &'t Trace,
    pub(crate) rules: RuleSet,
    pub(crate) strands: Strands,
    pub(crate) chains: ChainMap,
    /// Of each posted strand: for each chain of its handler (by local number), the number of the event behind the last task that
    /// ends before it begins.
    pub(crate) orders: Vec<Clock>,
    pub(crate) given: Given,
    sources: FxHashSet<EventId>,
    sync: Vec<EventId>,
    atomic_locations: Vec<bool>,
    /// The first `attach` event of each handler, `NONE` where it has none.
    pub(crate) attaches: Vec<EventId>,
    /// How many passes the fixpoint took.
    pub(crate) rounds: u32,
    /// Edges met in the last pass, program order left out.
    pub(crate) edges: u64,
}

/// What a pass shows of each event.
pub(crate) struct View<'p, 't> {
    pub(crate) engine: &'p Engine<'t>,
    pub(crate) clocks: &'p [Clock],
    pub(crate) segments: &'p [u32],
}

/// Looks at events as a pass goes by.
pub(crate) trait Visitor {
    /// Called for each event, after what is before it is known. Returns a stamp to join: extra
    /// predecessors of the event, for closures larger than happens-before.
    fn event(&mut self, view: &View<'_, '_>, event: EventId, strand: StrandId);

    /// Joins further predecessors into the clock of an event, before [`event`](Self::event) sees it.
    fn more_predecessors(&mut self, _event: EventId, _clock: &mut Clock) {}

    /// Called after an event with the clock just behind it, if [`wants_stamp`](Self::wants_stamp) said so.
    fn stamp(&mut self, _event: EventId, _clock: &Clock, _chain: ChainId) {}

    /// Returns whether [`stamp`](Self::stamp) is to be called for an event.
    fn wants_stamp(&self, _event: EventId) -> bool {
        false
    }
}

impl View<'_, '_> {
    /// Returns the event number below which all events of `chain` happen before the current event of
    /// `strand`.
    #[inline]
    pub(crate) fn bound(&self, strand: StrandId, chain: ChainId) -> u32 {
        self.engine.bound(strand, &self.clocks[strand.index()], u32::MAX, chain)
    }
}

impl<'t> Engine<'t> {
    /// Computes the order of tasks: the fixpoint of all rules.
    ///
    /// # Errors
    ///
    /// Fails when it was cancelled.
    pub(crate) fn new(
        trace: &'t Trace,
        rules: RuleSet,
        cancel: &Cancel,
    ) -> Result<Engine<'t>, Stopped> {
        let strands = Strands::new(trace, rules);
        let handlers = strands.loop_points.len();
        let atomic_locations = atomic_locations(trace);
        let mut engine = Engine {
            trace,
            rules,
            chains: ChainMap::new(strands.len(), handlers),
            orders: vec![Clock::new(); strands.len()],
            given: Given::new(trace, rules),
            sources: FxHashSet::default(),
            sync: Vec::new(),
            atomic_locations,
            attaches: attaches(trace, handlers),
            strands,
            rounds: 0,
            edges: 0,
        };
        loop {
            engine.sync = engine.sync_events();
            engine.sources = engine.given.edges.iter().map(|edge| edge.from).collect();
            let found = Pass::new(&mut engine).derive(cancel)?;
            engine.rounds += 1;
            let before = engine.given.edges.len();
            engine.given.edges.extend(found);
            engine.given.sort();
            if engine.given.edges.len() == before {
                return Ok(engine);
            }
        }
    }

    /// The events at which clocks can change or are read: all but plain accesses inside a strand.
    fn sync_events(&self) -> Vec<EventId> {
        let mut needed = vec![false; self.trace.len()];
        for (_, strand) in self.strands.iter() {
            needed[strand.first.index()] = true;
        }
        for point in self.strands.loop_points.iter().filter_map(|point| point.some()) {
            needed[point.index()] = true;
        }
        for edge in &self.given.edges {
            needed[edge.from.index()] = true;
            needed[edge.to.index()] = true;
        }
        let columns = self.trace.columns();
        (0..self.trace.len())
            .filter(|&row| {
                let op = columns.ops[row];
                let access = op.kind().is_access();
                needed[row]
                    || (!access && op.kind() != EventKind::Alloc)
                    || (access && self.atomic_locations[columns.operands[row] as usize])
            })
            .map(|row| EventId(row as u32))
            .collect()
    }

    /// Returns the event number below which all events of `chain` happen before an event of `strand`
    /// whose clock is `clock`; `own` is the answer for the strand's own chain.
    #[inline]
    pub(crate) fn bound(&self, strand: StrandId, clock: &Clock, own: u32, chain: ChainId) -> u32 {
        if chain == self.chains.of(strand) {
            return own;
        }
        let at = self.strands.get(strand);
        let info = self.chains.info(chain);
        if at.posted && info.posted && info.handler == at.handler {
            self.orders[strand.index()].get(info.local)
        } else {
            clock.get(chain)
        }
    }

    /// Returns whether task `a` ends before task `b` begins; both are posted strands of one handler.
    pub(crate) fn task_before(&self, a: StrandId, b: StrandId) -> bool {
        let local = self.chains.info(self.chains.of(a)).local;
        self.orders[b.index()].get(local) > self.strands.get(a).last.0
    }

    /// Goes through the whole trace once more, showing every event to `visitor`; returns the clocks at the
    /// ends of all strands.
    ///
    /// # Errors
    ///
    /// Fails when it was cancelled.
    pub(crate) fn visit<V: Visitor>(
        &mut self,
        visitor: &mut V,
        cancel: &Cancel,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Clock>, Stopped> {
        Pass::new(self).visit(visitor, cancel, progress)
    }

    /// Estimates the bytes that a pass holds at its end: a clock for each strand, and the orders of tasks.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let orders: usize = self.orders.iter().map(Clock::memory_bytes).sum();
        (orders + self.strands.len() * self.chains.len() * 4) as u64
    }

    /// Returns the strand of an event.
    #[inline]
    pub(crate) fn strand_of(&self, event: EventId) -> StrandId {
        self.strands.of_event(self.trace.columns().tasks[event.index()], event)
    }

    /// Returns what task-level coverage takes a run's accesses to belong to: their task; in `threads` the
    /// task that stands for their handler.
    pub(crate) fn node_of(&self, run: &Run) -> TaskId {
        if self.rules.reorders_tasks() { run.task } else { self.strands.get(run.strand).task }
    }

    /// Returns the first event of a node.
    pub(crate) fn node_first(&self, node: TaskId) -> EventId {
        self.node_end(node, self.trace.span(node).first, |strand| strand.first)
    }

    /// Returns the last event of a node.
    pub(crate) fn node_last(&self, node: TaskId) -> EventId {
        self.node_end(node, self.trace.span(node).last, |strand| strand.last)
    }

    fn node_end(
        &self,
        node: TaskId,
        of_task: EventId,
        of_strand: impl Fn(&Strand) -> EventId,
    ) -> EventId {
        match self.strands.of_task(node).next() {
            Some(strand) if !self.rules.reorders_tasks() => of_strand(self.strands.get(strand)),
            _ => of_task,
        }
    }

    /// Returns all nodes in the order of their first events.
    pub(crate) fn nodes(&self) -> Vec<TaskId> {
        let mut nodes: Vec<TaskId> = self.strands.iter().map(|(_, strand)| strand.task).collect();
        nodes.sort_by_key(|node| self.node_first(*node));
        nodes.dedup();
        nodes
    }

    /// Returns whether FIFO would order two tasks of one handler whose posts are in order.
    pub(crate) fn fifo_applies(&self, a: TaskId, b: TaskId) -> bool {
        let (d1, d2) = (self.delay(a), self.delay(b));
        !self.is_bag(self.trace.span(b).handler)
            && !self.task_is_front(b)
            && (d1 == 0 || (d2 > 0 && d1 <= d2))
    }

    pub(crate) fn task_is_front(&self, task: TaskId) -> bool {
        self.trace.tables().tasks[task.index()].position == Position::Front
    }

    pub(crate) fn delay(&self, task: TaskId) -> u64 {
        self.trace.tables().tasks[task.index()].delay
    }

    pub(crate) fn is_bag(&self, handler: HandlerId) -> bool {
        self.trace.tables().handlers.get(handler.index()).is_some_and(|h| h.mailbox == Mailbox::Bag)
    }
}

/// Finds the first `attach` event of each handler.
fn attaches(trace: &Trace, handlers: usize) -> Vec<EventId> {
    let mut first = vec![EventId::NONE; handlers];
    for event in trace.events().filter(|event| event.kind() == EventKind::Attach) {
        if let Some(slot) = first.get_mut(event.operand as usize).filter(|slot| slot.is_none()) {
            *slot = event.id;
        }
    }
    first
}

/// Finds the locations that have an atomic access.
fn atomic_locations(trace: &Trace) -> Vec<bool> {
    let mut atomic = vec![false; trace.tables().locations.len()];
    let columns = trace.columns();
    for (op, operand) in columns.ops.iter().zip(&columns.operands) {
        if op.kind().is_access() && op.mode().is_atomic() {
            atomic[*operand as usize] = true;
        }
    }
    atomic
}

/// One pass.
struct Pass<'p, 't> {
    engine: &'p mut Engine<'t>,
    state: State,
    next_edge: usize,
    derive: bool,
    found: Vec<Edge>,
}

impl<'p, 't> Pass<'p, 't> {
    fn new(engine: &'p mut Engine<'t>) -> Pass<'p, 't> {
        let state = State::new(engine.strands.len(), engine.strands.loop_points.len());
        Pass { engine, state, next_edge: 0, derive: false, found: Vec::new() }
    }

    /// Derives task orders; returns the edges to events already passed that follow from them.
    fn derive(mut self, cancel: &Cancel) -> Result<Vec<Edge>, Stopped> {
        const POLL_EVENTS: usize = 4096;
        self.derive = true;
        let sync = std::mem::take(&mut self.engine.sync);
        let mut result = Ok(());
        for (i, &event) in sync.iter().enumerate() {
            if i % POLL_EVENTS == 0 {
                result = cancel.check();
                if result.is_err() {
                    break;
                }
            }
            let strand = self.engine.strand_of(event);
            self.arrive(event, strand);
            self.leave(event, strand);
        }
        self.engine.sync = sync;
        self.engine.edges = self.state.edges;
        result.map(|()| self.found)
    }

    fn visit<V: Visitor>(
        mut self,
        visitor: &mut V,
        cancel: &Cancel,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Clock>, Stopped> {
        const POLL_EVENTS: usize = 1 << 16;
        let sync = std::mem::take(&mut self.engine.sync);
        let mut next_sync = 0;
        let mut result = Ok(());
        for row in 0..self.engine.trace.len() {
            if row % POLL_EVENTS == 0 {
                progress(row as u64);
                result = cancel.check();
                if result.is_err() {
                    break;
                }
            }
            let event = EventId(row as u32);
            let strand = self.engine.strand_of(event);
            let is_sync = next_sync < sync.len() && sync[next_sync] == event;
            if is_sync {
                next_sync += 1;
                self.arrive(event, strand);
            }
            let view = View {
                engine: self.engine,
                clocks: &self.state.clocks,
                segments: &self.state.segments,
            };
            visitor.event(&view, event, strand);
            visitor.more_predecessors(event, &mut self.state.clocks[strand.index()]);
            if visitor.wants_stamp(event) {
                let chain = self.engine.chains.of(strand);
                visitor.stamp(event, &self.state.clocks[strand.index()], chain);
            }
            if is_sync {
                self.leave(event, strand);
            }
        }
        self.engine.sync = sync;
        result.map(|()| self.state.clocks)
    }

    /// Joins all that is before an event into the clock of its strand.
    fn arrive(&mut self, event: EventId, strand: StrandId) {
        if self.engine.strands.get(strand).first == event {
            self.begin(event, strand);
        } else {
            self.join_given(event, strand);
        }
        let mut clock = std::mem::take(&mut self.state.clocks[strand.index()]);
        self.join_by_kind(event, strand, &mut clock);
        self.state.clocks[strand.index()] = clock;
        self.state.segments[strand.index()] += 1;
    }

    fn join_by_kind(&mut self, event: EventId, strand: StrandId, clock: &mut Clock) {
        let handler = self.engine.strands.get(strand).handler;
        let trace = self.engine.trace;
        match trace.event(event).action() {
            Action::Join(joined) => self.join_handler(event, joined, clock),
            Action::Acquire(lock, mode) => {
                let Some(releases) = self.state.locks.get(&lock) else { return };
                self.state.edges += releases.exclusive.join_others(handler.0, clock);
                if !mode.is_shared() {
                    self.state.edges += releases.shared.join_others(handler.0, clock);
                }
            }
            Action::Get(_) => {
                let task = trace.event(event).task;
                let Some(stamp) = self.state.posts.remove(&task) else { return };
                clock.join(&stamp.clock);
                self.state.edges += 1;
            }
            Action::Barrier(condition) => {
                let task = trace.event(event).task;
                let Some(earlier) = self.state.barriers.get(&condition) else { return };
                self.state.edges += earlier.join_others(task.0, clock);
            }
            Action::Access { kind, location, mode } if kind.reads() && mode.acquires() => {
                let Some(stamp) = self.state.atomics.get(&location) else { return };
                clock.join(&stamp.clock);
                self.state.edges += 1;
            }
            Action::Post(task) => {
                let target = trace.span(task).handler;
                let attach = self.state.attaches.get(target.index()).and_then(Option::as_ref);
                if let Some(attach) = attach.filter(|_| target != handler) {
                    clock.join(&attach.clock);
                    self.state.edges += 1;
                }
            }
            _ => {}
        }
    }

    fn join_handler(&mut self, event: EventId, joined: HandlerId, clock: &mut Clock) {
        let chains = &self.engine.chains;
        for &chain in chains.posted_of(joined).iter().chain(chains.thread_of(joined)) {
            let strands = chains.strands_of(chain);
            let begun = strands.partition_point(|s| self.engine.strands.get(*s).first < event);
            let Some(&tail) = strands[..begun].last() else { continue };
            clock.join(&self.state.clocks[tail.index()]);
            clock.raise(chain, event.0.min(self.engine.strands.get(tail).last.0 + 1));
            self.state.edges += 1;
        }
    }

    /// Joins the given edges into an event that is not the first of its strand.
    fn join_given(&mut self, event: EventId, strand: StrandId) {
        let edges = self.given_into(event);
        let mut clock = std::mem::take(&mut self.state.clocks[strand.index()]);
        for at in edges {
            let from = self.engine.given.edges[at].from;
            if let Some(stamp) = self.state.saved.get(&from) {
                clock.join(&stamp.clock);
                self.state.edges += 1;
            }
        }
        self.state.clocks[strand.index()] = clock;
    }

    /// Returns the positions of the given edges into an event; events come in ascending order.
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

    /// Begins a strand: finds all that is before it, its place among the tasks of its handler, its chain.
    fn begin(&mut self, event: EventId, strand: StrandId) {
        let at = *self.engine.strands.get(strand);
        let trace = self.engine.trace;
        let mut sources: Vec<Stamp> = Vec::new();
        let given = self.given_into(event);
        let explicit = !given.is_empty();
        for at in given {
            let from = self.engine.given.edges[at].from;
            sources.extend(self.state.saved.get(&from).cloned());
        }
        if let Some(forks) = self.state.forks.remove(&at.handler) {
            sources.extend(forks);
        }
        let point = self.engine.strands.loop_points.get(at.handler.index());
        if point.is_some_and(|point| *point < event && !point.is_none()) {
            sources.extend(self.state.loops.get(at.handler.index()).cloned().flatten());
        }
        let is_get = trace.event(event).kind() == EventKind::Get;
        let post = if is_get { self.state.posts.remove(&trace.event(event).task) } else { None };
        sources.extend(post.clone());
        let mut clock = Clock::new();
        for source in &sources {
            clock.join(&source.clock);
        }
        self.state.edges += sources.len() as u64;
        if at.posted {
            if self.derive {
                self.order(strand, &sources, post.as_ref(), explicit);
            }
            self.join_ordered_tasks(strand, &mut clock);
        }
        self.state.clocks[strand.index()] = clock;
        if !self.engine.chains.is_placed(strand) {
            self.place(strand);
        }
        if at.posted && self.derive {
            self.after_begin(strand, post.as_ref());
        }
    }

    /// Finds which tasks of its handler end before a task begins.
    fn order(&mut self, strand: StrandId, sources: &[Stamp], post: Option<&Stamp>, explicit: bool) {
        let at = *self.engine.strands.get(strand);
        let mut order = Clock::new();
        let mut explicit = explicit;
        for source in sources {
            self.no_preemption(&at, source, &mut order);
        }
        let orders = &self.engine.given.orders;
        let start = orders.partition_point(|(_, b, _)| *b < at.task);
        for (a, _, _) in orders[start..].iter().take_while(|(_, b, _)| *b == at.task) {
            explicit = true;
            for a in self.engine.strands.of_task(*a) {
                self.put_before(a, &mut order);
            }
        }
        let mut tainted = explicit;
        let front = self.engine.task_is_front(at.task);
        if let Some(post) = post.filter(|_| !self.engine.is_bag(at.handler) && !front) {
            self.fifo(strand, post, &mut order, &mut tainted);
        }
        self.state.tainted[strand.index()] = tainted;
        self.engine.orders[strand.index()] = order;
    }

    /// Puts task `a` and all that is before it before the task whose order is being found.
    fn put_before(&self, a: StrandId, order: &mut Clock) {
        let local = self.engine.chains.info(self.engine.chains.of(a)).local;
        let value = self.engine.strands.get(a).last.0 + 1;
        if order.get(local) < value {
            order.join(&self.engine.orders[a.index()]);
            order.raise(local, value);
        }
    }

    /// The rule of no pre-emption, for one event that is before the begin of a task.
    fn no_preemption(&self, at: &Strand, source: &Stamp, order: &mut Clock) {
        let engine = &self.engine;
        let from = engine.strands.get(source.strand);
        if from.posted && from.handler == at.handler {
            if from.last < at.first {
                self.put_before(source.strand, order);
            }
            return;
        }
        for &chain in engine.chains.posted_of(at.handler) {
            let value = source.clock.get(chain);
            if value == 0 {
                continue;
            }
            let strands = engine.chains.strands_of(chain);
            let begun = strands.partition_point(|s| engine.strands.get(*s).first.0 < value);
            if let Some(&a) = strands[..begun].last() {
                if engine.strands.get(a).last < at.first {
                    self.put_before(a, order);
                }
            }
        }
    }

    /// The FIFO rule: tasks of the same handler that were posted before.
    fn fifo(&self, strand: StrandId, post: &Stamp, order: &mut Clock, tainted: &mut bool) {
        let at = self.engine.strands.get(strand);
        let begun = &self.state.begun[at.handler.index()];
        let delay = self.engine.delay(at.task);
        for &chain in begun.chains() {
            let bound = self.engine.bound(post.strand, &post.clock, post.event.0, chain);
            begun.visit_ordered(chain, bound, delay, |earlier| {
                if self.engine.strands.get(earlier.strand).last < at.first {
                    self.put_before(earlier.strand, order);
                    *tainted |= earlier.front && self.state.tainted[earlier.strand.index()];
                }
            });
        }
    }

    /// Joins the ends of the tasks that are before a task into its clock.
    fn join_ordered_tasks(&mut self, strand: StrandId, clock: &mut Clock) {
        let engine = &self.engine;
        let chains = engine.chains.posted_of(engine.strands.get(strand).handler);
        let order = &engine.orders[strand.index()];
        let mut missing: Vec<(u32, ChainId)> = order
            .as_slice()
            .iter()
            .zip(chains)
            .filter(|(value, chain)| clock.get(**chain) < **value)
            .map(|(value, chain)| (*value, *chain))
            .collect();
        missing.sort_unstable_by(|a, b| b.cmp(a));
        for (value, chain) in missing {
            if clock.get(chain) < value {
                let last = engine.strand_of(EventId(value - 1));
                clock.join(&self.state.clocks[last.index()]);
                clock.raise(chain, value);
                self.state.edges += 1;
            }
        }
    }

    fn place(&mut self, strand: StrandId) {
        let engine = &mut *self.engine;
        let (strands, orders) = (&engine.strands, &engine.orders);
        let clock = &self.state.clocks[strand.index()];
        let posted = strands.get(strand).posted;
        engine.chains.place(strands, strand, |info, chain, tail| {
            let value = strands.get(tail).last.0;
            if posted {
                orders[strand.index()].get(info.local) > value
            } else {
                clock.get(chain) > value
            }
        });
    }

    /// Notes a task among those begun, and looks for posts that its order says were made in order.
    fn after_begin(&mut self, strand: StrandId, post: Option<&Stamp>) {
        let at = *self.engine.strands.get(strand);
        let Some(post) = post else { return };
        if self.engine.is_bag(at.handler) {
            return;
        }
        let front = self.engine.task_is_front(at.task);
        let delay = self.engine.delay(at.task);
        if self.state.tainted[strand.index()] && delay == 0 && !front {
            self.read_backwards(strand, post);
        }
        let engine = &*self.engine;
        let chain = engine.chains.of(post.strand);
        self.state.begun[at.handler.index()].insert(
            chain,
            delay,
            (post.event, strand, front),
            |a, b| engine.task_before(a, b),
        );
    }

    /// The FIFO rule, read backwards: collects edges between the posts of tasks that are in order.
    fn read_backwards(&mut self, strand: StrandId, post: &Stamp) {
        let engine = &*self.engine;
        let poster = engine.strands.get(post.strand);
        let begun = &self.state.begun[engine.strands.get(strand).handler.index()];
        for &chain in begun.chains() {
            let info = engine.chains.info(chain);
            if poster.posted && info.posted && info.handler == poster.handler {
                continue;
            }
            let bound = engine.bound(post.strand, &post.clock, post.event.0, chain);
            let last = begun
                .between(chain, bound, post.event)
                .filter(|earlier| !earlier.front && engine.task_before(earlier.strand, strand))
                .max_by_key(|earlier| earlier.post);
            if let Some(earlier) = last {
                let (from, to) = (earlier.post, post.event);
                self.found.push(Edge { from, to, rule: Rule::FifoBackwards });
            }
        }
    }

    /// Keeps what later events need of an event.
    fn leave(&mut self, event: EventId, strand: StrandId) {
        let trace = self.engine.trace;
        let handler = self.engine.strands.get(strand).handler;
        let chain = self.engine.chains.of(strand);
        if self.engine.sources.contains(&event) {
            let stamp = self.stamp(event, strand);
            self.state.saved.insert(event, stamp);
        }
        let points = &self.engine.strands.loop_points;
        if points.get(handler.index()) == Some(&event) {
            let stamp = self.stamp(event, strand);
            self.state.loops[handler.index()] = Some(stamp);
        }
        match trace.event(event).action() {
            Action::Post(task) => {
                if !trace.span(task).get.is_none() && trace.span(task).post == event {
                    let stamp = self.stamp(event, strand);
                    self.state.posts.insert(task, stamp);
                }
            }
            Action::Fork(child) => {
                let stamp = self.stamp(event, strand);
                self.state.forks.entry(child).or_default().push(stamp);
            }
            Action::Release(lock, mode) => {
                let releases = self.state.locks.entry(lock).or_default();
                let by_handler =
                    if mode.is_shared() { &mut releases.shared } else { &mut releases.exclusive };
                by_handler.add(handler.0, &self.state.clocks[strand.index()], chain, event.0 + 1);
            }
            Action::Barrier(condition) => {
                let task = trace.event(event).task;
                let clock = &self.state.clocks[strand.index()];
                let passed = self.state.barriers.entry(condition).or_default();
                passed.add(task.0, clock, chain, event.0 + 1);
            }
            Action::Attach(of) if self.engine.rules.reorders_tasks() => {
                let stamp = self.stamp(event, strand);
                if let Some(slot) = self.state.attaches.get_mut(of.index()) {
                    slot.get_or_insert(stamp);
                }
            }
            Action::Access { kind, location, mode } if kind.writes() => {
                self.leave_write(event, strand, location, mode.releases());
            }
            Action::Free(location) => self.leave_write(event, strand, location, false),
            _ => {}
        }
        if self.derive {
            self.check_conditionals(event, strand);
        }
    }

    fn leave_write(&mut self, event: EventId, strand: StrandId, loc: LocationId, releases: bool) {
        if !self.engine.atomic_locations[loc.index()] {
            return;
        }
        if releases {
            let stamp = self.stamp(event, strand);
            self.state.atomics.insert(loc, stamp);
        } else {
            self.state.atomics.remove(&loc);
        }
    }

    fn stamp(&self, event: EventId, strand: StrandId) -> Stamp {
        let mut clock = self.state.clocks[strand.index()].clone();
        clock.raise(self.engine.chains.of(strand), event.0 + 1);
        Stamp { event, strand, clock }
    }

    /// Collects edges whose condition holds at an event: they count from the next pass on.
    fn check_conditionals(&mut self, event: EventId, strand: StrandId) {
        if self.engine.given.conditionals.is_empty() {
            return;
        }
        let engine = &*self.engine;
        let clock = &self.state.clocks[strand.index()];
        for conditional in engine.given.conditionals.iter().filter(|c| c.when.1 == event) {
            let cause = conditional.when.0;
            let chain = engine.chains.of(engine.strand_of(cause));
            if engine.bound(strand, clock, event.0, chain) > cause.0 {
                self.found.extend(&conditional.edges);
            }
        }
    }
}
