//! The run of the multi-thread semantics that a simulated run stands for.
//!
//! A simulated run is a sequence of steps. Another order of the same steps has the same outcome if
//! it keeps the order of the steps of each invocation, posts before what they post, and the order
//! of conflicting steps. Among these orders one may keep the rules of handlers and of the order of
//! events, too: it is a run of the multi-thread semantics.

use super::ids::{InvocationNumber, StepId};
use super::sim::{LastAccesses, Sim, Status};
use anyorder_system::{AsyncSystem, Control, HandlerOrder, Lane};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Most attempts to find an order of the tasks of handlers. A search that was cut is reported.
const ATTEMPTS: u32 = 10_000;

/// An order of the steps of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Linear {
    /// It keeps all rules, with the last step in the last place.
    Order(Vec<StepId>),
    /// No order does.
    None,
    /// The search was cut.
    Cut,
}

/// Searches an order of all steps that keeps all rules.
pub(crate) fn linearize<A: AsyncSystem>(
    system: &A,
    sim: &Sim<A::State>,
    control: &Control<'_>,
) -> Linear {
    match Graph::new(system, sim) {
        Some(graph) => graph.order(control),
        None => Linear::None,
    }
}

/// The steps with what must come before what.
struct Graph {
    /// For each step: those that must come later.
    after: Vec<Vec<StepId>>,
    /// For each step: how many must come earlier.
    before: Vec<u32>,
    /// For each step: the handler that its invocation holds.
    lane: Vec<Option<u32>>,
    invocation: Vec<InvocationNumber>,
    /// For each step: what it posts to ordered handlers, with the handler, and whether it goes
    /// before all others.
    posts: Vec<Vec<(u32, InvocationNumber, bool)>>,
    /// For each invocation: whether an ordered handler takes it by the order of the posts.
    queued: Vec<bool>,
    /// Whether the step begins its invocation.
    first: Vec<bool>,
    /// Whether the step ends its invocation.
    ends: Vec<bool>,
    /// The last step; it comes last.
    pivot: StepId,
}

/// The first and the last step of an invocation; `None` if it has not begun.
type Ends = Option<(StepId, StepId)>;

impl Graph {
    /// Returns `None` if the rules cannot be kept in any order.
    fn new<A: AsyncSystem>(system: &A, sim: &Sim<A::State>) -> Option<Graph> {
        let count = sim.steps.len();
        let mut graph = Graph {
            after: vec![Vec::new(); count],
            before: vec![0; count],
            lane: Vec::with_capacity(count),
            posts: Vec::with_capacity(count),
            queued: vec![false; sim.invocations.len()],
            invocation: sim.steps.iter().map(|step| step.invocation).collect(),
            first: sim.steps.iter().map(|step| step.number == 0).collect(),
            ends: sim.steps.iter().map(|step| step.ended).collect(),
            pivot: StepId::at(count.checked_sub(1)?),
        };
        for step in &sim.steps {
            let mut posts = Vec::new();
            for number in &step.posted {
                let invocation = sim.invocation(*number);
                if let Lane::Handler(handler) = invocation.lane
                    && system.handlers()[handler as usize].order == HandlerOrder::Fifo
                    && sim.status_of(*number) != Status::Cancelled
                {
                    graph.queued[number.index()] = true;
                    posts.push((handler, *number, invocation.front));
                }
            }
            graph.posts.push(posts);
            graph.lane.push(match sim.invocation(step.invocation).lane {
                Lane::Handler(handler) => Some(handler),
                Lane::Own => None,
            });
        }
        let ends = graph.data(sim);
        graph.handlers(system, sim, &ends)?;
        graph.events(system, sim, &ends)?;
        Some(graph)
    }

    /// Adds that a step comes before another one.
    fn edge(&mut self, earlier: StepId, later: StepId) {
        // The last step comes after all others in any case.
        if later != self.pivot && earlier != later {
            self.after[earlier.index()].push(later);
            self.before[later.index()] += 1;
        }
    }

    /// Adds program order, posts and conflicts. Returns the first and last step of each invocation.
    fn data<S>(&mut self, sim: &Sim<S>) -> Vec<Ends> {
        let mut ends: Vec<Ends> = vec![None; sim.invocations.len()];
        let mut last = LastAccesses::new();
        for (id, step) in (0..).map(StepId).zip(&sim.steps) {
            let invocation = sim.invocation(step.invocation);
            match &mut ends[step.invocation.index()] {
                Some((_, end)) => {
                    let before = std::mem::replace(end, id);
                    self.edge(before, id);
                }
                new => {
                    *new = Some((id, id));
                    invocation.posted_by.into_iter().for_each(|post| self.edge(post, id));
                }
            }
            let mut earlier = Vec::new();
            for access in &step.accesses {
                last.add(access, id, |other| earlier.push(other));
            }
            earlier.into_iter().for_each(|other| self.edge(other, id));
        }
        ends
    }

    /// Adds the rule that the unfinished task of a handler is its last one.
    fn handlers<A: AsyncSystem>(
        &mut self,
        system: &A,
        sim: &Sim<A::State>,
        ends: &[Ends],
    ) -> Option<()> {
        for handler in 0..system.handlers().len() as u32 {
            let lane = Lane::Handler(handler);
            let numbers = (0..sim.invocations.len()).map(InvocationNumber::at);
            let on_handler = numbers.filter(|number| sim.invocation(*number).lane == lane);
            let begun = on_handler.filter_map(|number| Some((number, ends[number.index()]?)));
            let begun: Vec<(InvocationNumber, (StepId, StepId))> = begun.collect();
            // The pivot comes last, so whatever it belongs to is unfinished until then.
            let is_unfinished = |(number, (_, last)): &&(InvocationNumber, (StepId, StepId))| {
                sim.status_of(*number) != Status::Ended || *last == self.pivot
            };
            let mut unfinished = begun.iter().filter(is_unfinished);
            let Some((open, (start, _))) = unfinished.next() else { continue };
            if unfinished.next().is_some() {
                return None;
            }
            for (_, (_, end)) in begun.iter().filter(|(number, _)| number != open) {
                self.edge(*end, *start);
            }
        }
        Some(())
    }

    /// Adds the rules between events.
    fn events<A: AsyncSystem>(
        &mut self,
        system: &A,
        sim: &Sim<A::State>,
        ends: &[Ends],
    ) -> Option<()> {
        for later in &sim.events {
            let info = &system.events()[later.event as usize];
            let (start, _) = ends[later.invocation.index()]?;
            for wanted in info.started.iter().chain(&info.after) {
                let earlier = sim.events.iter().find(|other| other.event == *wanted)?;
                let (first, last) = ends[earlier.invocation.index()]?;
                if info.after.contains(wanted) {
                    let is_over = sim.status_of(earlier.invocation) == Status::Ended;
                    if !is_over || last == self.pivot {
                        return None;
                    }
                    self.edge(last, start);
                } else {
                    self.edge(first, start);
                }
            }
        }
        Some(())
    }

    /// Orders the steps. Where the rules leave a choice that matters (which task a handler begins,
    /// who posts first to an ordered handler), the order of the simulation is tried first.
    fn order(&self, control: &Control<'_>) -> Linear {
        let steps = (0..self.pivot.0).map(StepId);
        let ready = steps.filter(|step| self.before[step.index()] == 0);
        let mut start = Partial {
            order: Vec::with_capacity(self.before.len()),
            before: self.before.clone(),
            ready: ready.collect(),
            holders: Vec::new(),
            queues: BTreeMap::new(),
        };
        start.run(self);
        let mut open = vec![start];
        let mut seen = FxHashSet::default();
        let mut attempts = 0;
        while let Some(partial) = open.pop() {
            if partial.order.len() == self.pivot.index() {
                let mut order = partial.order;
                order.push(self.pivot);
                return Linear::Order(order);
            }
            attempts += 1;
            if attempts > ATTEMPTS || control.check().is_err() {
                return Linear::Cut;
            }
            for step in partial.ready.iter().rev() {
                if !partial.may_begin(self, *step) {
                    continue;
                }
                let mut next = partial.clone();
                next.take(self, *step);
                next.run(self);
                // What is ready says what was taken: all that comes before it.
                if seen.insert((next.ready.clone(), next.queues.clone())) {
                    open.push(next);
                }
            }
        }
        Linear::None
    }

    /// Returns whether taking a step early can only help.
    fn is_free(&self, step: StepId) -> bool {
        let at = step.index();
        (!self.first[at] || self.lane[at].is_none()) && self.posts[at].is_empty()
    }
}

/// A part of an order.
#[derive(Clone)]
struct Partial {
    order: Vec<StepId>,
    /// For each step: how many that must come earlier have not been taken.
    before: Vec<u32>,
    ready: BTreeSet<StepId>,
    /// Handlers and the invocations that hold them.
    holders: Vec<(u32, InvocationNumber)>,
    /// What ordered handlers have to take.
    queues: BTreeMap<u32, VecDeque<InvocationNumber>>,
}

impl Partial {
    fn take(&mut self, graph: &Graph, step: StepId) {
        self.ready.remove(&step);
        self.order.push(step);
        let at = step.index();
        if let Some(lane) = graph.lane[at] {
            let invocation = graph.invocation[at];
            if graph.first[at] {
                self.holders.push((lane, invocation));
                if graph.queued[invocation.index()] {
                    self.queues.entry(lane).or_default().pop_front();
                }
            }
            if graph.ends[at] {
                self.holders.retain(|(_, holder)| *holder != invocation);
            }
        }
        for (lane, invocation, front) in &graph.posts[at] {
            let queue = self.queues.entry(*lane).or_default();
            if *front { queue.push_front(*invocation) } else { queue.push_back(*invocation) }
        }
        for next in &graph.after[at] {
            self.before[next.index()] -= 1;
            if self.before[next.index()] == 0 {
                self.ready.insert(*next);
            }
        }
    }

    /// Takes all steps that are free.
    fn run(&mut self, graph: &Graph) {
        while let Some(step) = self.ready.iter().find(|step| graph.is_free(**step)).copied() {
            self.take(graph, step);
        }
    }

    /// Returns whether the rules of handlers allow a step.
    fn may_begin(&self, graph: &Graph, step: StepId) -> bool {
        let at = step.index();
        let (true, Some(lane)) = (graph.first[at], graph.lane[at]) else { return true };
        let invocation = graph.invocation[at];
        let front = || self.queues.get(&lane).and_then(VecDeque::front) == Some(&invocation);
        !self.holders.iter().any(|(held, _)| *held == lane)
            && (!graph.queued[invocation.index()] || front())
    }
}
