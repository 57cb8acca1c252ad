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
use crate::state::{Clocks, Stamp, State};
use crate::races::Run;
use crate::strands::{Strand, StrandId, Strands};
use anyorder_order::{ChainId, Clock, ClockRef};
use anyorder_system::{Cancel, StopReason, Stopped};
use anyorder_trace::{
    Action, EventId, EventKind, HandlerId, LocationId, Mailbox, Position, TaskId, TaskKind, Trace,
};
use rustc_hash::FxHashSet;

/// How the order is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Mode {
    /// Whether every event can be asked for, the posts of bare bursts included.
    pub(crate) exact: bool,
    /// The most bytes that the clocks of a pass may take.
    pub(crate) memory_bytes_max: Option<u64>,
}

impl Mode {
    /// Every event can be asked for.
    pub(crate) const EXACT: Mode = Mode { exact: true, memory_bytes_max: None };
}

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
    /// Strands without a chain: bursts that do nothing but post one task. All that is before that task's
    /// begin is before them but for themselves, so nobody needs to ask for them.
    bare: Vec<bool>,
    sources: FxHashSet<EventId>,
    sync: Vec<EventId>,
    atomic_locations: Vec<bool>,
    /// The most bytes that the clocks of a pass may take.
    memory_bytes_max: Option<u64>,
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
    pub(crate) clocks: &'p Clocks,
    /// The clock of each strand at its current event.
    pub(crate) at: &'p [ClockRef],
    pub(crate) segments: &'p [u32],
}

/// Looks at events as a pass goes by.
pub(crate) trait Visitor {
    /// Called for each event, after what is before it is known.
    fn event(&mut self, view: &View<'_, '_>, event: EventId, strand: StrandId);

    /// Joins further predecessors into the clock of an event, for closures larger than happens-before; after
    /// [`event`](Self::event) has seen it.
    fn more_predecessors(&mut self, _event: EventId, _clocks: &mut Clocks, clock: ClockRef) -> ClockRef {
        clock
    }

    /// Takes the clock just behind an event, if [`wants_stamp`](Self::wants_stamp) said so.
    fn stamp(&mut self, _event: EventId, _clock: ClockRef) {}

    /// Returns whether [`stamp`](Self::stamp) is to be called for an event.
    fn wants_stamp(&self, _event: EventId) -> bool {
        false
    }

    /// The clocks that the visitor keeps.
    fn kept_clocks(&mut self) -> Box<dyn Iterator<Item = &mut ClockRef> + '_> {
        Box::new(std::iter::empty())
    }
}

impl View<'_, '_> {
    /// Returns the event number below which all events of `chain` happen before the current event of
    /// `strand`.
    #[inline]
    pub(crate) fn bound(&self, strand: StrandId, chain: ChainId) -> u32 {
        let clock = self.at[strand.index()];
        self.engine.bound(strand, u32::MAX, chain, |chain| self.clocks.get(clock, chain))
    }
}

/// The clocks at the ends of all strands.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) clocks: Clocks,
    pub(crate) of_strand: Vec<ClockRef>,
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
        mode: Mode,
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
            bare: vec![false; strands.len()],
            sources: FxHashSet::default(),
            sync: Vec::new(),
            atomic_locations,
            memory_bytes_max: mode.memory_bytes_max,
            attaches: attaches(trace, handlers),
            strands,
            rounds: 0,
            edges: 0,
        };
        if !mode.exact {
            engine.bare = engine.bare_strands();
        }
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
            needed[strand.last.index()] = true;
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

    /// Finds the bursts that do nothing but post one task, and whose events no given edge leaves.
    fn bare_strands(&self) -> Vec<bool> {
        let trace = self.trace;
        let joined: FxHashSet<u32> = trace
            .events()
            .filter(|event| event.kind() == EventKind::Join)
            .map(|event| event.operand)
            .collect();
        let mut posts = vec![0_u32; self.strands.len()];
        let mut bare: Vec<bool> = self
            .strands
            .iter()
            .map(|(_, strand)| {
                trace.tables().tasks[strand.task.index()].kind == TaskKind::Burst
                    && !joined.contains(&strand.handler.0)
            })
            .collect();
        for event in trace.events() {
            if trace.tables().tasks[event.task.index()].kind == TaskKind::Burst {
                let strand = self.strand_of(event.id).index();
                match event.kind() {
                    EventKind::Post => posts[strand] += 1,
                    EventKind::Begin | EventKind::Exit => {}
                    _ => bare[strand] = false,
                }
            }
        }
        for edge in &self.given.edges {
            bare[self.strand_of(edge.from).index()] = false;
        }
        for conditional in &self.given.conditionals {
            for edge in &conditional.edges {
                bare[self.strand_of(edge.from).index()] = false;
            }
        }
        for (bare, posts) in bare.iter_mut().zip(posts) {
            *bare &= posts == 1;
        }
        bare
    }

    /// Returns whether a strand has no chain.
    pub(crate) fn is_bare(&self, strand: StrandId) -> bool {
        self.bare[strand.index()]
    }

    /// Returns the strand of the task that a bare strand posts, if it ran.
    pub(crate) fn posted_by_bare(&self, strand: StrandId) -> Option<StrandId> {
        let at = self.strands.get(strand);
        let post = (at.first.0..=at.last.0).map(EventId).find(|event| {
            let event = self.trace.event(*event);
            event.task == at.task && event.kind() == EventKind::Post
        })?;
        self.strands.of_task(TaskId(self.trace.event(post).operand)).next()
    }

    /// Returns the event number below which all events of `chain` happen before an event of `strand`;
    /// `own` is the answer for the strand's own chain, and `known` that of the event's clock.
    #[inline]
    pub(crate) fn bound(
        &self,
        strand: StrandId,
        own: u32,
        chain: ChainId,
        known: impl FnOnce(ChainId) -> u32,
    ) -> u32 {
        if chain == self.chains.of(strand) {
            return own;
        }
        let at = self.strands.get(strand);
        let info = self.chains.info(chain);
        if at.posted && info.posted && info.handler == at.handler {
            self.orders[strand.index()].get(info.local)
        } else {
            known(chain)
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
    ) -> Result<Ends, Stopped> {
        Pass::new(self).visit(visitor, cancel, progress)
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

/// Up to this many posters are gone through one by one.
const FEW_POSTERS: usize = 64;

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
        let handlers = engine.strands.loop_points.len();
        let state = State::new(engine.strands.len(), handlers, engine.memory_bytes_max);
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
                result = self.poll(cancel);
                if result.is_err() {
                    break;
                }
                self.state.compact(std::iter::empty());
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
    ) -> Result<Ends, Stopped> {
        const POLL_EVENTS: usize = 1 << 16;
        let sync = std::mem::take(&mut self.engine.sync);
        let mut next_sync = 0;
        let mut result = Ok(());
        for row in 0..self.engine.trace.len() {
            if row % POLL_EVENTS == 0 {
                progress(row as u64);
                result = self.poll(cancel);
                if result.is_err() {
                    break;
                }
                self.state.compact(visitor.kept_clocks());
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
                at: &self.state.at,
                segments: &self.state.segments,
            };
            visitor.event(&view, event, strand);
            let at = &mut self.state.at[strand.index()];
            *at = visitor.more_predecessors(event, &mut self.state.clocks, *at);
            if visitor.wants_stamp(event) {
                visitor.stamp(event, self.stamp(event, strand).clock);
            }
            if is_sync {
                self.leave(event, strand);
            }
        }
        self.engine.sync = sync;
        result.map(|()| Ends { clocks: self.state.clocks, of_strand: self.state.at })
    }

    fn poll(&self, cancel: &Cancel) -> Result<(), Stopped> {
        if self.state.clocks.full {
            return Err(Stopped(StopReason::MemoryLimit));
        }
        cancel.check()
    }

    /// Joins all that is before an event into the clock of its strand.
    fn arrive(&mut self, event: EventId, strand: StrandId) {
        if self.engine.strands.get(strand).first == event {
            self.begin(event, strand);
        } else {
            self.join_given(event, strand);
        }
        self.join_by_kind(event, strand);
        self.state.segments[strand.index()] += 1;
    }

    /// Joins a clock into that of a strand.
    fn join(&mut self, strand: StrandId, other: ClockRef) {
        let at = &mut self.state.at[strand.index()];
        *at = self.state.clocks.join(*at, other);
        self.state.edges += 1;
    }

    fn join_by_kind(&mut self, event: EventId, strand: StrandId) {
        let handler = self.engine.strands.get(strand).handler;
        let trace = self.engine.trace;
        match trace.event(event).action() {
            Action::Join(joined) => self.join_handler(event, joined, strand),
            Action::Acquire(lock, mode) => {
                let Some(releases) = self.state.locks.get(&lock) else { return };
                let clocks = &mut self.state.clocks;
                let at = self.state.at[strand.index()];
                let (mut at, mut edges) = releases.exclusive.join_others(clocks, handler.0, at);
                if !mode.is_shared() {
                    let (both, more) = releases.shared.join_others(clocks, handler.0, at);
                    at = both;
                    edges += more;
                }
                self.state.at[strand.index()] = at;
                self.state.edges += edges;
            }
            Action::Get(_) => {
                let task = trace.event(event).task;
                let Some(stamp) = self.state.posts.remove(&task) else { return };
                self.join(strand, stamp.clock);
            }
            Action::Barrier(condition) => {
                let task = trace.event(event).task;
                let Some(earlier) = self.state.barriers.get(&condition) else { return };
                let at = self.state.at[strand.index()];
                let (at, edges) = earlier.join_others(&mut self.state.clocks, task.0, at);
                self.state.at[strand.index()] = at;
                self.state.edges += edges;
            }
            Action::Access { kind, location, mode } if kind.reads() && mode.acquires() => {
                let Some(stamp) = self.state.atomics.get(&location).copied() else { return };
                self.join(strand, stamp.clock);
            }
            Action::Post(task) => {
                let target = trace.span(task).handler;
                let attach = self.state.attaches.get(target.index()).copied().flatten();
                if let Some(attach) = attach.filter(|_| target != handler) {
                    self.join(strand, attach.clock);
                }
            }
            _ => {}
        }
    }

    fn join_handler(&mut self, event: EventId, joined: HandlerId, strand: StrandId) {
        let engine = &*self.engine;
        let (posted, thread) =
            (engine.chains.posted_of(joined), engine.chains.thread_of(joined));
        for &chain in posted.iter().chain(thread) {
            let strands = engine.chains.strands_of(chain);
            let begun = strands.partition_point(|s| engine.strands.get(*s).first < event);
            let Some(&tail) = strands[..begun].last() else { continue };
            let value = event.0.min(engine.strands.get(tail).last.0 + 1);
            let clocks = &mut self.state.clocks;
            let at = clocks.join(self.state.at[strand.index()], self.state.at[tail.index()]);
            self.state.at[strand.index()] = clocks.raise(at, chain, value);
            self.state.edges += 1;
        }
    }

    /// Joins the given edges into an event that is not the first of its strand.
    fn join_given(&mut self, event: EventId, strand: StrandId) {
        for at in self.given_into(event) {
            let from = self.engine.given.edges[at].from;
            if let Some(stamp) = self.state.saved.get(&from).copied() {
                self.join(strand, stamp.clock);
            }
        }
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
            sources.extend(self.state.saved.get(&from));
        }
        if let Some(forks) = self.state.forks.remove(&at.handler) {
            sources.extend(forks);
        }
        let point = self.engine.strands.loop_points.get(at.handler.index());
        if point.is_some_and(|point| *point < event && !point.is_none()) {
            sources.extend(self.state.loops.get(at.handler.index()).copied().flatten());
        }
        let is_get = trace.event(event).kind() == EventKind::Get;
        let post = if is_get { self.state.posts.remove(&trace.event(event).task) } else { None };
        sources.extend(post);
        for source in &sources {
            self.join(strand, source.clock);
        }
        if at.posted {
            if self.derive {
                self.order(strand, &sources, post.as_ref(), explicit);
            }
            self.join_ordered_tasks(strand);
        }
        if !self.engine.bare[strand.index()] && !self.engine.chains.is_placed(strand) {
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
            self.fifo_of_bare_posts(strand, post, &mut order);
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
            let value = self.state.clocks.get(source.clock, chain);
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
        let mut visit = |chain: ChainId, known: u32| {
            let bound = self.engine.bound(post.strand, post.event.0, chain, |_| known);
            begun.visit_ordered(chain, bound, delay, |earlier| {
                if self.engine.strands.get(earlier.strand).last < at.first {
                    self.put_before(earlier.strand, order);
                    *tainted |= earlier.front && self.state.tainted[earlier.strand.index()];
                }
            });
        };
        // Through the posters that this handler has had, or through those that the post knows of: mostly
        // one of them is short.
        if begun.chains().len() <= FEW_POSTERS {
            for &chain in begun.chains() {
                visit(chain, self.state.clocks.get(post.clock, chain));
            }
        } else {
            self.state.clocks.for_each(post.clock, &mut visit);
        }
    }

    /// The FIFO rule for tasks that bare strands posted. Such a post is before another exactly if the begin of
    /// its task is, whatever their order as tasks. Where that makes a difference to no pre-emption, the
    /// other is made by a task of the same handler.
    fn fifo_of_bare_posts(&self, strand: StrandId, post: &Stamp, order: &mut Clock) {
        let engine = &*self.engine;
        let at = engine.strands.get(strand);
        let poster = engine.strands.get(post.strand);
        if !poster.posted || poster.handler != at.handler {
            return;
        }
        for &chain in engine.chains.posted_of(at.handler) {
            let value = self.state.clocks.get(post.clock, chain);
            let known = order.get(engine.chains.info(chain).local);
            if value <= known {
                continue;
            }
            let strands = engine.chains.strands_of(chain);
            let begun = strands.partition_point(|s| engine.strands.get(*s).first.0 < value);
            for &earlier in strands[..begun].iter().rev() {
                let task = engine.strands.get(earlier);
                if task.last.0 < known {
                    break;
                }
                let posted = engine.trace.span(task.task).post;
                let bare = !posted.is_none() && engine.is_bare(engine.strand_of(posted));
                if bare && task.last < at.first && engine.fifo_applies(task.task, at.task) {
                    self.put_before(earlier, order);
                    break;
                }
            }
        }
    }

    /// Joins the ends of the tasks that are before a task into its clock.
    fn join_ordered_tasks(&mut self, strand: StrandId) {
        let engine = &*self.engine;
        let chains = engine.chains.posted_of(engine.strands.get(strand).handler);
        let order = &engine.orders[strand.index()];
        let (clocks, all) = (&mut self.state.clocks, &mut self.state.at);
        let mut at = all[strand.index()];
        let mut missing: Vec<(u32, ChainId)> = order
            .as_slice()
            .iter()
            .zip(chains)
            .filter(|(value, chain)| **value > 0 && clocks.get(at, **chain) < **value)
            .map(|(value, chain)| (*value, *chain))
            .collect();
        missing.sort_unstable_by(|a, b| b.cmp(a));
        for (value, chain) in missing {
            if clocks.get(at, chain) < value {
                let last = engine.strand_of(EventId(value - 1));
                at = clocks.join(at, all[last.index()]);
                at = clocks.raise(at, chain, value);
                self.state.edges += 1;
            }
        }
        all[strand.index()] = at;
    }

    fn place(&mut self, strand: StrandId) {
        let engine = &mut *self.engine;
        let (strands, orders) = (&engine.strands, &engine.orders);
        let (clocks, at) = (&self.state.clocks, self.state.at[strand.index()]);
        let posted = strands.get(strand).posted;
        engine.chains.place(strands, strand, |info, chain, tail| {
            let value = strands.get(tail).last.0;
            if posted {
                orders[strand.index()].get(info.local) > value
            } else {
                clocks.get(at, chain) > value
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
        if engine.bare[post.strand.index()] {
            // See `fifo_of_bare_posts`.
            return;
        }
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
            let clock = |chain| self.state.clocks.get(post.clock, chain);
            let bound = engine.bound(post.strand, post.event.0, chain, clock);
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
                let stamp = self.stamp(event, strand).clock;
                let releases = self.state.locks.entry(lock).or_default();
                let by_handler =
                    if mode.is_shared() { &mut releases.shared } else { &mut releases.exclusive };
                by_handler.add(&mut self.state.clocks, handler.0, stamp);
            }
            Action::Barrier(condition) => {
                let task = trace.event(event).task;
                let stamp = self.stamp(event, strand).clock;
                let passed = self.state.barriers.entry(condition).or_default();
                passed.add(&mut self.state.clocks, task.0, stamp);
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

    fn stamp(&mut self, event: EventId, strand: StrandId) -> Stamp {
        let chain = self.engine.chains.of(strand);
        let clock = self.state.clocks.raise(self.state.at[strand.index()], chain, event.0 + 1);
        Stamp { event, strand, clock }
    }

    /// Collects edges whose condition holds at an event: they count from the next pass on.
    fn check_conditionals(&mut self, event: EventId, strand: StrandId) {
        if self.engine.given.conditionals.is_empty() {
            return;
        }
        let engine = &*self.engine;
        let (clocks, at) = (&self.state.clocks, self.state.at[strand.index()]);
        for conditional in engine.given.conditionals.iter().filter(|c| c.when.1 == event) {
            let cause = conditional.when.0;
            let chain = engine.chains.of(engine.strand_of(cause));
            if engine.bound(strand, event.0, chain, |chain| clocks.get(at, chain)) > cause.0 {
                self.found.extend(&conditional.edges);
            }
        }
    }
}
