//! The run of the multi-thread semantics that a simulated run stands for.
//!
//! A simulated run is a sequence of steps. Another order of the same steps has the same outcome if
//! it keeps the order of the steps of each invocation, posts before what they post, and the order
//! of conflicting steps. Among these orders one may keep the rules of handlers and of the order of
//! events, too: it is a run of the multi-thread semantics.

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
    Order(Vec<u32>),
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
    after: Vec<Vec<u32>>,
    before: Vec<u32>,
    /// For each step: the handler that its invocation holds.
    lane: Vec<Option<u32>>,
    invocation: Vec<u32>,
    /// For each step: what it posts to ordered handlers, with the handler, and whether it goes
    /// before all others.
    posts: Vec<Vec<(u32, u32, bool)>>,
    /// For each invocation: whether an ordered handler takes it by the order of the posts.
    queued: Vec<bool>,
    first: Vec<bool>,
    /// Whether the step ends its invocation.
    ends: Vec<bool>,
    /// The last step; it comes last.
    pivot: u32,
}

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
            pivot: count.checked_sub(1)? as u32,
        };
        for step in &sim.steps {
            let mut posts = Vec::new();
            for one in &step.posted {
                let invocation = &sim.invocations[*one as usize];
                if let Lane::Handler(handler) = invocation.lane
                    && system.handlers()[handler as usize].order == HandlerOrder::Fifo
                    && sim.status[*one as usize] != Status::Cancelled
                {
                    graph.queued[*one as usize] = true;
                    posts.push((handler, *one, invocation.front));
                }
            }
            graph.posts.push(posts);
            graph.lane.push(match sim.invocations[step.invocation as usize].lane {
                Lane::Handler(handler) => Some(handler),
                Lane::Own => None,
            });
        }
        let ends = graph.data(sim);
        graph.handlers(system, sim, &ends)?;
        graph.events(system, sim, &ends)?;
        Some(graph)
    }

    fn edge(&mut self, a: u32, b: u32) {
        // The last step comes after all others in any case.
        if b != self.pivot && a != b {
            self.after[a as usize].push(b);
            self.before[b as usize] += 1;
        }
    }

    /// Adds program order, posts and conflicts. Returns the first and last step of each invocation.
    fn data<S>(&mut self, sim: &Sim<S>) -> Vec<Option<(u32, u32)>> {
        let mut ends: Vec<Option<(u32, u32)>> = vec![None; sim.invocations.len()];
        let mut last = LastAccesses::new();
        for (at, step) in (0..).zip(&sim.steps) {
            let invocation = &sim.invocations[step.invocation as usize];
            match &mut ends[step.invocation as usize] {
                Some((_, end)) => {
                    let before = std::mem::replace(end, at);
                    self.edge(before, at);
                }
                new => {
                    *new = Some((at, at));
                    invocation.posted_by.into_iter().for_each(|post| self.edge(post, at));
                }
            }
            let mut earlier = Vec::new();
            for access in &step.accesses {
                last.add(access, at, |other| earlier.push(other));
            }
            earlier.into_iter().for_each(|other| self.edge(other, at));
        }
        ends
    }

    /// Adds the rule that the unfinished task of a handler is its last one.
    fn handlers<A: AsyncSystem>(
        &mut self,
        system: &A,
        sim: &Sim<A::State>,
        ends: &[Option<(u32, u32)>],
    ) -> Option<()> {
        for handler in 0..system.handlers().len() as u32 {
            let lane = Lane::Handler(handler);
            let of = |one: &u32| sim.invocations[*one as usize].lane == lane;
            let all: Vec<u32> = (0..sim.invocations.len() as u32).filter(of).collect();
            let begun = |one: &u32| ends[*one as usize].is_some();
            let tasks: Vec<u32> = all.iter().copied().filter(begun).collect();
            let done = |one: u32| {
                let (_, last) = ends[one as usize].unwrap_or((0, 0));
                // The pivot comes last, so whatever it belongs to is unfinished until then.
                sim.status[one as usize] == Status::Ended && last != self.pivot
            };
            let unfinished: Vec<u32> = tasks.iter().copied().filter(|one| !done(*one)).collect();
            if unfinished.len() > 1 {
                return None;
            }
            if let Some(open) = unfinished.first() {
                let (start, _) = ends[*open as usize]?;
                for one in tasks.iter().filter(|one| *one != open) {
                    let (_, end) = ends[*one as usize]?;
                    self.edge(end, start);
                }
            }
        }
        Some(())
    }

    /// Adds the rules between events.
    fn events<A: AsyncSystem>(
        &mut self,
        system: &A,
        sim: &Sim<A::State>,
        ends: &[Option<(u32, u32)>],
    ) -> Option<()> {
        for later in &sim.events {
            let info = &system.events()[later.event as usize];
            let (start, _) = ends[later.invocation as usize]?;
            for wanted in info.started.iter().chain(&info.after) {
                let found = sim.events.iter().find(|one| one.event == *wanted)?;
                let (first, last) = ends[found.invocation as usize]?;
                if info.after.contains(wanted) {
                    if sim.status[found.invocation as usize] != Status::Ended || last == self.pivot
                    {
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
        let ready = (0..self.pivot).filter(|step| self.before[*step as usize] == 0);
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
            if partial.order.len() == self.pivot as usize {
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
    fn is_free(&self, step: u32) -> bool {
        let at = step as usize;
        (!self.first[at] || self.lane[at].is_none()) && self.posts[at].is_empty()
    }
}

/// A part of an order.
#[derive(Clone)]
struct Partial {
    order: Vec<u32>,
    before: Vec<u32>,
    ready: BTreeSet<u32>,
    /// Handlers and the invocations that hold them.
    holders: Vec<(u32, u32)>,
    /// What ordered handlers have to take.
    queues: BTreeMap<u32, VecDeque<u32>>,
}

impl Partial {
    fn take(&mut self, graph: &Graph, step: u32) {
        self.ready.remove(&step);
        self.order.push(step);
        let at = step as usize;
        if let Some(lane) = graph.lane[at] {
            let invocation = graph.invocation[at];
            if graph.first[at] {
                self.holders.push((lane, invocation));
                if graph.queued[invocation as usize] {
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
            self.before[*next as usize] -= 1;
            if self.before[*next as usize] == 0 {
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
    fn may_begin(&self, graph: &Graph, step: u32) -> bool {
        let at = step as usize;
        let (true, Some(lane)) = (graph.first[at], graph.lane[at]) else { return true };
        let invocation = graph.invocation[at];
        let front = || self.queues.get(&lane).and_then(VecDeque::front) == Some(&invocation);
        !self.holders.iter().any(|(held, _)| *held == lane)
            && (!graph.queued[invocation as usize] || front())
    }
}
