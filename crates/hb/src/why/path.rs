//! A path of edges from one event to another.
//!
//! **Idea.** One pass from the earlier event records, for each strand, the first reached event and
//! the edge that reached it. Then the path is read backwards from the later event. The edges are
//! those of the forward pass of `engine`, but a bit replaces the clock.

use crate::relation::engine::Engine;
use crate::relation::rules::Rule;
use crate::relation::strands::StrandId;
use anyorder_trace::{Action, ConditionId, EventId, HandlerId, LocationId, LockId, TaskId};
use rustc_hash::{FxHashMap, FxHashSet};

/// An edge of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PathEdge {
    pub(crate) from: EventId,
    pub(crate) to: EventId,
    /// `None` for an order of tasks: `from` ends one task, `to` begins another of its handler.
    pub(crate) rule: Option<Rule>,
}

/// How a strand was reached.
#[derive(Clone, Copy)]
struct Reached {
    at: EventId,
    by: Option<PathEdge>,
}

#[derive(Default)]
struct Search {
    reached: FxHashMap<StrandId, Reached>,
    tasks_of: FxHashMap<HandlerId, Vec<StrandId>>,
    releases: FxHashMap<LockId, Vec<(HandlerId, bool, EventId)>>,
    barriers: FxHashMap<ConditionId, Vec<(TaskId, EventId)>>,
    forks: FxHashMap<HandlerId, EventId>,
    atomics: FxHashMap<LocationId, EventId>,
}

/// Edges and orders of tasks that a path must not use, by their ends.
pub(crate) type Closed = FxHashSet<(EventId, EventId)>;

/// Finds a path of edges from `x` to `y`, or `None`. Events of one strand between two edges are
/// implied.
pub(crate) fn find_path(
    engine: &Engine<'_>,
    x: EventId,
    y: EventId,
    closed: &Closed,
) -> Option<Vec<PathEdge>> {
    let mut search = Search::default();
    let origin = engine.strand_of(x);
    search.reached.insert(origin, Reached { at: x, by: None });
    search.note(engine, origin);
    search.leave(engine, x, origin);
    for event in (x.0 + 1..=y.0).map(EventId) {
        let strand = engine.strand_of(event);
        if !search.reached.contains_key(&strand)
            && let Some(edge) = search.edge_into(engine, event, strand, closed)
        {
            search.reached.insert(strand, Reached { at: event, by: Some(edge) });
            search.note(engine, strand);
        }
        // A fork orders the first event of its handler. The later events follow from that one.
        search.forks.remove(&engine.strands.get(strand).handler);
        if search.reached.contains_key(&strand) {
            search.leave(engine, event, strand);
        } else {
            search.forget(engine, event);
        }
    }
    search.back(engine, y)
}

impl Search {
    fn note(&mut self, engine: &Engine<'_>, strand: StrandId) {
        let at = engine.strands.get(strand);
        if at.posted {
            self.tasks_of.entry(at.handler).or_default().push(strand);
        }
    }

    fn is_reached(&self, engine: &Engine<'_>, event: EventId) -> bool {
        self.reached.get(&engine.strand_of(event)).is_some_and(|reached| reached.at <= event)
    }

    /// Finds an edge into an event from a reached one.
    fn edge_into(
        &self,
        engine: &Engine<'_>,
        event: EventId,
        strand: StrandId,
        closed: &Closed,
    ) -> Option<PathEdge> {
        let edge = |from: EventId, rule| Some(PathEdge { from, to: event, rule: Some(rule) });
        let edges = &engine.given.edges;
        let start = edges.partition_point(|edge| edge.to < event);
        for given in edges[start..].iter().take_while(|edge| edge.to == event) {
            if self.is_reached(engine, given.from) && !closed.contains(&(given.from, event)) {
                return edge(given.from, given.rule);
            }
        }
        let at = engine.strands.get(strand);
        if let Some(fork) = self.forks.get(&at.handler) {
            return edge(*fork, Rule::Fork);
        }
        if at.first == event {
            // The loop point orders the pieces of thread code as well; that counts as program
            // order.
            let from_loop = if at.posted { Rule::Loop } else { Rule::Po };
            let point = engine.strands.loop_points[at.handler.index()];
            if !point.is_none() && point < event && self.is_reached(engine, point) {
                return edge(point, from_loop);
            }
            if let Some(edge) = self.task_order_into(engine, event, strand, closed) {
                return Some(edge);
            }
        }
        self.edge_by_kind(engine, event, at.handler)
    }

    fn task_order_into(
        &self,
        engine: &Engine<'_>,
        event: EventId,
        strand: StrandId,
        closed: &Closed,
    ) -> Option<PathEdge> {
        let at = engine.strands.get(strand);
        let tasks = self.tasks_of.get(&at.handler).filter(|_| at.posted)?;
        let before = tasks.iter().rev().filter(|task| engine.task_before(**task, strand));
        let mut ends = before.map(|task| engine.strands.get(*task).last);
        let from = ends.find(|from| !closed.contains(&(*from, event)))?;
        Some(PathEdge { from, to: event, rule: None })
    }

    fn edge_by_kind(
        &self,
        engine: &Engine<'_>,
        event: EventId,
        handler: HandlerId,
    ) -> Option<PathEdge> {
        let trace = engine.trace;
        let edge = |from: EventId, rule| PathEdge { from, to: event, rule: Some(rule) };
        match trace.event(event).action() {
            Action::Get(_) => {
                let post = trace.span(trace.event(event).task).post.some()?;
                self.is_reached(engine, post).then(|| edge(post, Rule::Post))
            }
            Action::Cancel(task) => {
                let post = trace.span(task).post.some().filter(|post| *post < event)?;
                self.is_reached(engine, post).then(|| edge(post, Rule::Cancel))
            }
            Action::Join(joined) => {
                let tasks = trace.task_ids().filter(|task| trace.span(*task).handler == joined);
                let lasts = tasks.flat_map(|task| engine.strands.of_task(task));
                lasts
                    .filter(|strand| self.reached.contains_key(strand))
                    .map(|strand| engine.strands.get(strand).last)
                    .find(|last| *last < event)
                    .or_else(|| self.forks.get(&joined).copied().filter(|fork| *fork < event))
                    .map(|last| edge(last, Rule::Join))
            }
            Action::Acquire(lock, mode) => self
                .releases
                .get(&lock)?
                .iter()
                .find(|(by, shared, _)| *by != handler && !(*shared && mode.is_shared()))
                .map(|(_, _, release)| edge(*release, Rule::Lock)),
            Action::Barrier(condition) => self
                .barriers
                .get(&condition)?
                .iter()
                .find(|(task, _)| *task != trace.event(event).task)
                .map(|(_, passed)| edge(*passed, Rule::Barrier)),
            Action::Access { kind, location, mode } if kind.reads() && mode.acquires() => {
                self.atomics.get(&location).map(|write| edge(*write, Rule::Atomic))
            }
            Action::Post(task) if engine.rules.reorders_tasks() => {
                let target = trace.span(task).handler;
                let attach = engine.attaches.get(target.index()).copied()?;
                (target != handler && attach < event && self.is_reached(engine, attach))
                    .then(|| edge(attach, Rule::Attach))
            }
            _ => None,
        }
    }

    /// Propagates a reached event to the state that later events read.
    fn leave(&mut self, engine: &Engine<'_>, event: EventId, strand: StrandId) {
        let handler = engine.strands.get(strand).handler;
        match engine.trace.event(event).action() {
            Action::Fork(child) => {
                self.forks.entry(child).or_insert(event);
            }
            Action::Release(lock, mode) => {
                let releases = self.releases.entry(lock).or_default();
                let same = |(by, shared, _): &(HandlerId, bool, EventId)| {
                    *by == handler && *shared == mode.is_shared()
                };
                if !releases.iter().any(same) {
                    releases.push((handler, mode.is_shared(), event));
                }
            }
            Action::Barrier(condition) => {
                let task = engine.trace.event(event).task;
                self.barriers.entry(condition).or_default().push((task, event));
            }
            Action::Access { kind, location, mode } if kind.writes() && mode.releases() => {
                self.atomics.insert(location, event);
            }
            _ => self.forget(engine, event),
        }
    }

    /// Records that a write replaces what an earlier atomic write propagated.
    fn forget(&mut self, engine: &Engine<'_>, event: EventId) {
        let event = engine.trace.event(event);
        let ends = event.kind().writes() && !event.op.continues_sequence();
        if let Some(location) = event.location().filter(|_| ends) {
            self.atomics.remove(&location);
        }
    }

    fn back(&self, engine: &Engine<'_>, y: EventId) -> Option<Vec<PathEdge>> {
        let mut edges = Vec::new();
        let mut at = *self.reached.get(&engine.strand_of(y))?;
        if at.at > y {
            return None;
        }
        while let Some(edge) = at.by {
            edges.push(edge);
            at = *self.reached.get(&engine.strand_of(edge.from))?;
        }
        edges.reverse();
        Some(edges)
    }
}
