//! Happens-before as a fixpoint: the data that all passes over a trace share, and queries on the
//! result. Module `pass` holds one pass, `task_order` its rules for tasks.
//!
//! **Problem.** Given a trace and a rule set, the least relation of `docs/happens-before.md`,
//! sections 1-3, as a clock for each event.
//!
//! **Source.** Rules after Maiya, Kanade, Majumdar, "Race Detection for Android Applications", PLDI
//! 2014, and their published sources; chains after Raychev, Vechev, Sridharan, "Effective Race
//! Detection for Event-Driven Programs", OOPSLA 2013, who share clock entries among the tasks of a
//! chain.
//!
//! **Guarantee.** Exactly the relation defined; checked against a naive closure.
//!
//! **Naive version.** A Boolean matrix over all events, closed by repeating all rules until nothing
//! changes.
//!
//! **Idea.** Every edge goes forward in the trace. When a task begins, the pass knows everything
//! that can order it after earlier tasks of its handler: the clock of its post (no pre-emption),
//! and the earlier tasks that were posted before it (FIFO). So a single pass computes the least
//! fixpoint of these two rules, although each feeds the other. Only *fifo, read backwards* and
//! orders that depend on other orders add edges to events that the pass has already processed. The
//! engine collects these edges and repeats the pass with them until it finds no new one.
//!
//! **Deviations.** The engine does not compute the rule of the delayed poster: it follows from no
//! pre-emption and transitivity (`m1 ≺ m` and `m` posts `m2` give `m1 ≺ m2`).
//!
//! **Cost.** With `C` chains, `S` synchronising events and `T` tasks: one join or two for each
//! synchronising event, each proportional to what the two clocks do not share. Usually that is
//! O(log C); in the worst case, where every event learns something new of every chain, O(C/16). A
//! task costs one step for each task directly before it, at worst O(T·C) together. Accesses cost
//! nothing here. `docs/cost.md` has a row for each thing that can grow.

use crate::relation::chain_map::ChainMap;
use crate::relation::conflicts::Conflicts;
use crate::relation::given::Given;
use crate::relation::locks::Locks;
use crate::relation::over::Over;
use crate::relation::pass::{Ends, Pass, Visitor};
use crate::relation::rules::RuleSet;
use crate::relation::sabotage::Sabotage;
use crate::relation::sections::{Actions, Points, SectionPlan};
use crate::relation::strands::{StrandId, Strands};
use crate::relation::task_orders::TaskOrders;
use anyorder_order::ChainId;
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::{EventId, EventKind, HandlerId, Mailbox, Position, TaskId, TaskKind, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// How the order is computed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mode {
    /// Whether queries may name every event, even the posts of bare bursts.
    pub(crate) exact: bool,
    /// The most bytes that the clocks of a pass may take.
    pub(crate) memory_bytes_max: Option<u64>,
    /// How locks order events.
    pub(crate) locks: Locks,
    /// The fault that a test put in.
    pub(crate) sabotage: Sabotage,
}

impl Mode {
    /// Queries may name every event.
    pub(crate) const EXACT: Mode = Mode {
        exact: true,
        memory_bytes_max: None,
        locks: Locks::HandOver,
        sabotage: Sabotage::None,
    };
}

/// The data about a trace that all passes share.
#[derive(Debug)]
pub(crate) struct Engine<'t> {
    pub(crate) trace: &'t Trace,
    pub(crate) rules: RuleSet,
    pub(crate) strands: Strands,
    pub(crate) chains: ChainMap,
    /// For each posted strand, the tasks of its handler that end before it begins.
    pub(crate) orders: TaskOrders,
    pub(crate) given: Given,
    /// Strands without a chain: bursts that do nothing but post one task. Every event before that
    /// task's begin is also before the burst, except the burst itself, so no query needs them.
    bare: Vec<bool>,
    /// Whether some strand is bare.
    pub(crate) has_bare: bool,
    /// The edges that the fixpoint has added to the edges of the trace.
    pub(crate) derived: FxHashSet<(EventId, EventId)>,
    /// The source events of given edges.
    pub(crate) sources: FxHashSet<EventId>,
    /// The events at which clocks can change or are read.
    pub(crate) sync: Vec<EventId>,
    /// For each location, whether it has an atomic access.
    pub(crate) atomic_locations: Vec<bool>,
    /// The most bytes that the clocks of a pass may take.
    pub(crate) memory_bytes_max: Option<u64>,
    /// The actions that each section orders, if locks give no other order.
    pub(crate) sections: Option<SectionPlan>,
    /// The tasks that cannot begin any more, and since when.
    pub(crate) over: Over,
    /// By strand of a posted task, the tasks that it cancels, with the cancels, if their posts
    /// stand before it begins.
    cancels_in: FxHashMap<StrandId, Vec<(TaskId, EventId)>>,
    /// The tasks that some event cancels.
    pub(crate) cancelled: FxHashSet<TaskId>,
    /// The first `attach` event of each handler; `NONE` if it has none.
    pub(crate) attaches: Vec<EventId>,
    /// The number of passes that the fixpoint took.
    pub(crate) rounds: u32,
    /// The number of edges met in the last pass, without program order.
    pub(crate) edges: u64,
    /// Nodes of clocks that the passes have joined.
    pub(crate) nodes_joined: u64,
    /// The different delays of all tasks but 0, sorted.
    pub(crate) delays: Rc<[u64]>,
    /// Tasks that the FIFO rule has visited.
    pub(crate) tasks_visited: u64,
    /// The fault that a test put in.
    pub(crate) sabotage: Sabotage,
}

impl<'t> Engine<'t> {
    /// Computes the order of tasks: the fixpoint of all rules.
    ///
    /// # Errors
    ///
    /// Fails if it was cancelled.
    pub(crate) fn new(
        trace: &'t Trace,
        rules: RuleSet,
        mode: Mode,
        cancel: &Cancel,
    ) -> Result<Engine<'t>, Stopped> {
        Engine::with_points(trace, rules, mode, &Points::default(), cancel)
    }

    /// Works like [`new`](Self::new), with the orders of some calls, each as two events.
    ///
    /// # Errors
    ///
    /// Fails if it was cancelled.
    pub(crate) fn with_calls(
        trace: &'t Trace,
        rules: RuleSet,
        mode: Mode,
        calls: &[(EventId, EventId)],
        cancel: &Cancel,
    ) -> Result<Engine<'t>, Stopped> {
        let given = Given::with_calls(trace, rules, calls);
        Engine::with_given((trace, rules), mode, (given, &Points::default()), cancel)
    }

    /// Works like [`new`](Self::new), with actions other than memory accesses. They matter only if
    /// the order of locks comes from sections.
    ///
    /// # Errors
    ///
    /// Fails if it was cancelled.
    pub(crate) fn with_points(
        trace: &'t Trace,
        rules: RuleSet,
        mode: Mode,
        points: &Points,
        cancel: &Cancel,
    ) -> Result<Engine<'t>, Stopped> {
        Engine::with_given((trace, rules), mode, (Given::new(trace, rules), points), cancel)
    }

    fn with_given(
        (trace, rules): (&'t Trace, RuleSet),
        mode: Mode,
        (given, points): (Given, &Points),
        cancel: &Cancel,
    ) -> Result<Engine<'t>, Stopped> {
        let strands = Strands::new(trace, rules);
        let handlers = strands.loop_points.len();
        let atomic_locations = atomic_locations(trace);
        let mut engine = Engine {
            trace,
            rules,
            chains: ChainMap::new(strands.len(), handlers),
            orders: TaskOrders::new(strands.len(), mode.memory_bytes_max),
            given,
            bare: vec![false; strands.len()],
            has_bare: false,
            derived: FxHashSet::default(),
            sources: FxHashSet::default(),
            sync: Vec::new(),
            atomic_locations,
            memory_bytes_max: mode.memory_bytes_max,
            sections: None,
            over: Over::new(trace, rules, &strands),
            attaches: attaches(trace, handlers),
            cancelled: cancelled(trace),
            cancels_in: FxHashMap::default(),
            strands,
            rounds: 0,
            edges: 0,
            nodes_joined: 0,
            delays: delays(trace),
            tasks_visited: 0,
            sabotage: mode.sabotage,
        };
        engine.cancels_in = engine.find_cancels();
        if !mode.exact {
            engine.bare = engine.bare_strands();
            engine.has_bare = engine.bare.contains(&true);
        }
        if mode.locks == Locks::Sections {
            engine.sections = Some(engine.plan_sections(points, cancel)?);
        }
        loop {
            engine.sync = engine.sync_events();
            engine.sources = engine.given.edges.iter().map(|edge| edge.from).collect();
            engine.orders.restart();
            engine.over.opened.clear();
            let found = Pass::new(&mut engine).derive(cancel)?;
            engine.rounds += 1;
            let before = engine.given.edges.len();
            let known: FxHashSet<(EventId, EventId)> =
                engine.given.edges.iter().map(|edge| (edge.from, edge.to)).collect();
            let new = found.iter().map(|edge| (edge.from, edge.to));
            engine.derived.extend(new.filter(|edge| !known.contains(edge)));
            engine.given.edges.extend(found);
            engine.given.sort();
            if engine.given.edges.len() == before {
                return Ok(engine);
            }
        }
    }

    fn plan_sections(&self, points: &Points, cancel: &Cancel) -> Result<SectionPlan, Stopped> {
        let strand_of = |event| self.strand_of(event);
        let conflicts = Conflicts::new(self.trace, strand_of, cancel, self.memory_bytes_max)?;
        let actions = Actions::new(self.trace, &conflicts, points);
        SectionPlan::new(self.trace, &self.strands, strand_of, &actions, cancel)
    }

    /// Returns the events at which clocks can change or are read: all but plain accesses inside a
    /// strand.
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
        for pull in self.sections.iter().flat_map(|plan| &plan.pulls) {
            needed[pull.event.index()] = true;
        }
        for event in forked(self.trace) {
            needed[event.index()] = true;
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

    fn find_cancels(&self) -> FxHashMap<StrandId, Vec<(TaskId, EventId)>> {
        let mut found: FxHashMap<StrandId, Vec<(TaskId, EventId)>> = FxHashMap::default();
        for event in self.trace.events().filter(|event| event.kind() == EventKind::Cancel) {
            let (task, strand) = (TaskId(event.operand), self.strand_of(event.id));
            let at = self.strands.get(strand);
            let post = self.trace.span(task).post;
            if at.posted && post < at.first && !post.is_none() {
                found.entry(strand).or_default().push((task, event.id));
            }
        }
        found
    }

    /// Returns the tasks that a posted strand cancels, with the cancels, if their posts stand
    /// before it begins.
    pub(crate) fn cancels_in(&self, strand: StrandId) -> &[(TaskId, EventId)] {
        self.cancels_in.get(&strand).map_or(&[], Vec::as_slice)
    }

    /// Finds the bursts that only post one task and are the source of no given edge.
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
                    // Only the begin of its task knows a bare strand.
                    EventKind::Post if !self.cancelled.contains(&TaskId(event.operand)) => {
                        posts[strand] += 1;
                    }
                    EventKind::Begin | EventKind::Exit => {}
                    _ => bare[strand] = false,
                }
            }
        }
        let conditional = self.given.conditionals.iter().flat_map(|given| &given.edges);
        for edge in self.given.edges.iter().chain(conditional) {
            bare[self.strand_of(edge.from).index()] = false;
        }
        for (bare, posts) in bare.iter_mut().zip(posts) {
            *bare &= posts == 1;
        }
        bare
    }

    /// Returns the steps of the passes so far that can be more than the events.
    pub(crate) fn steps(&self) -> u64 {
        let orders = self.orders.clocks.store.stats().nodes_joined;
        self.nodes_joined + orders + self.chains.asked + self.tasks_visited
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

    /// Returns the event number below which all events of `chain` happen before an event of
    /// `strand`. `own` is the answer for the strand's own chain, and `known` that of the event's
    /// clock.
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
            self.orders.get(strand, info.local)
        } else {
            known(chain)
        }
    }

    /// Returns the strands of a chain that begin before an event number, in order.
    pub(crate) fn begun_on(&self, chain: ChainId, before: u32) -> &[StrandId] {
        self.chains.begun_on(chain, before)
    }

    /// Returns whether task `a` ends before task `b` begins; both are posted strands of one
    /// handler.
    pub(crate) fn task_before(&self, a: StrandId, b: StrandId) -> bool {
        let local = self.chains.info(self.chains.of(a)).local;
        self.orders.get(b, local) > self.strands.get(a).last.0
    }

    /// Runs one more pass that shows every event to `visitor`. Returns the clocks at the ends of
    /// all strands.
    ///
    /// # Errors
    ///
    /// Fails if it was cancelled.
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

    /// Returns the task that task-level coverage assigns to accesses of a task on a strand: that
    /// task, or in `threads` the one that represents its handler.
    pub(crate) fn node_of(&self, task: TaskId, strand: StrandId) -> TaskId {
        if self.rules.reorders_tasks() { task } else { self.strands.get(strand).task }
    }

    /// Returns the first event of a node.
    pub(crate) fn node_first(&self, node: TaskId) -> EventId {
        self.node_span(node).0
    }

    /// Returns the last event of a node.
    pub(crate) fn node_last(&self, node: TaskId) -> EventId {
        self.node_span(node).1
    }

    fn node_span(&self, node: TaskId) -> (EventId, EventId) {
        let strand = self.strands.of_task(node).next().map(|strand| self.strands.get(strand));
        match strand.filter(|_| !self.rules.reorders_tasks()) {
            Some(strand) => (strand.first, strand.last),
            None => (self.trace.span(node).first, self.trace.span(node).last),
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

/// Finds the tasks that some event cancels.
fn cancelled(trace: &Trace) -> FxHashSet<TaskId> {
    let cancels = trace.events().filter(|event| event.kind() == EventKind::Cancel);
    cancels.map(|event| TaskId(event.operand)).collect()
}

/// Returns the different delays of all tasks but 0, sorted.
fn delays(trace: &Trace) -> Rc<[u64]> {
    let tasks = trace.tables().tasks.iter();
    let mut delays: Vec<u64> = tasks.map(|task| task.delay).filter(|delay| *delay > 0).collect();
    delays.sort_unstable();
    delays.dedup();
    delays.into()
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

/// Finds the events that forks order: the first event of each forked handler after the fork.
fn forked(trace: &Trace) -> Vec<EventId> {
    let mut due = vec![false; trace.tables().handlers.len()];
    let mut found = Vec::new();
    for event in trace.events() {
        if let Some(due) = due.get_mut(trace.span(event.task).handler.index())
            && std::mem::take(due)
        {
            found.push(event.id);
        }
        if event.kind() == EventKind::Fork
            && let Some(due) = due.get_mut(event.operand as usize)
        {
            *due = true;
        }
    }
    found
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
