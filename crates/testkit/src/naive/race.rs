//! Sections 4 and 5: conflicts, races and coverage.

use super::fixpoint::Fixpoint;
use super::matrix::Matrix;
use super::rules::RuleSet;
use anyorder_trace::{Event, EventId, Location, TaskId, TaskKind, Trace};

/// Returns whether two accesses conflict.
pub(super) fn conflict(trace: &Trace, a: Event, b: Event) -> bool {
    let accesses = a.kind().is_access() && b.kind().is_access();
    accesses
        && (a.kind().writes() || b.kind().writes())
        && !(a.mode().is_atomic() && b.mode().is_atomic())
        && same_place(trace, a, b)
}

/// Returns whether the locations of two accesses are the same or overlap.
pub(super) fn same_place(trace: &Trace, a: Event, b: Event) -> bool {
    let (Some(la), Some(lb)) = (a.location(), b.location()) else { return false };
    let locations = &trace.tables().locations;
    match (locations[la.index()], locations[lb.index()]) {
        (
            Location::Range { address: a1, size: s1, generation: g1 },
            Location::Range { address: a2, size: s2, generation: g2 },
        ) if la != lb => {
            let end1 = u128::from(a1) + u128::from(s1);
            let end2 = u128::from(a2) + u128::from(s2);
            g1 == g2 && u128::from(a1).max(u128::from(a2)) < end1.min(end2)
        }
        _ => la == lb,
    }
}

/// The races of a trace and the closures that define coverage.
#[derive(Debug)]
pub(super) struct RaceView {
    /// The races, by first and then by second event.
    pub(super) races: Vec<(EventId, EventId)>,
    nodes: Nodes,
    /// The closure of happens-before, `R` and all conflicts.
    access: Matrix,
    /// `=>`.
    tasks: Matrix,
    /// The races as pairs of different tasks, the one that begins first first.
    task_races: Vec<(TaskId, TaskId)>,
}

/// Finds the races and closes the relations of coverage.
pub(super) fn find(fixpoint: &Fixpoint<'_, '_>) -> RaceView {
    let trace = fixpoint.view.trace;
    let nodes = Nodes::new(trace, fixpoint.rules.set);
    let mut races = Vec::new();
    let mut access = Matrix::new(trace.len());
    let mut tasks = Matrix::new(trace.tasks_count());
    for a in trace.events() {
        for b in trace.events().filter(|b| a.id < b.id) {
            let (i, j) = (a.id.index(), b.id.index());
            let ordered = fixpoint.happens_before(a.id, b.id);
            let by_edges = fixpoint.ordered_by_edges(a.id, b.id);
            let conflicting = conflict(trace, a, b);
            if conflicting && !ordered {
                races.push((a.id, b.id));
                if let Some((first, second)) = nodes.of_race(trace, (a.id, b.id)) {
                    tasks.set(first.index(), second.index());
                }
            }
            if conflicting || by_edges || fixpoint.r.has(i, j) {
                access.set(i, j);
            }
            let (x, y) = (nodes.of(a.task), nodes.of(b.task));
            let both_count = nodes.counts[x.index()] && nodes.counts[y.index()];
            if fixpoint.r.has(i, j) && nodes.first(x) < nodes.first(y) && both_count {
                tasks.set(x.index(), y.index());
            }
        }
    }
    access.close();
    tasks.close();
    let mut task_races: Vec<(TaskId, TaskId)> =
        races.iter().filter_map(|race| nodes.of_race(trace, *race)).collect();
    task_races.sort_unstable();
    task_races.dedup();
    RaceView { races, nodes, access, tasks, task_races }
}

/// The nodes of task-level coverage: tasks; in `threads`, handlers and the bursts of untracked
/// ones. A task of the node names it.
#[derive(Debug)]
struct Nodes {
    /// For each task its node, and for each node its first and last event.
    of: Vec<TaskId>,
    ends: Vec<Option<(EventId, EventId)>>,
    /// For each task whether it counts: bursts without accesses do not.
    counts: Vec<bool>,
}

impl Nodes {
    fn new(trace: &Trace, set: RuleSet) -> Nodes {
        let kind = |task: TaskId| trace.tables().tasks[task.index()].kind;
        let merges = |a: TaskId, b: TaskId| {
            set == RuleSet::Threads
                && trace.span(a).handler == trace.span(b).handler
                && kind(a) != TaskKind::Burst
                && kind(b) != TaskKind::Burst
        };
        let of: Vec<TaskId> = trace
            .task_ids()
            .map(|task| trace.task_ids().find(|a| *a == task || merges(*a, task)).unwrap_or(task))
            .collect();
        let mut ends = vec![None; of.len()];
        for event in trace.events() {
            let ends: &mut Option<(EventId, EventId)> = &mut ends[of[event.task.index()].index()];
            *ends = Some((ends.map_or(event.id, |(first, _)| first), event.id));
        }
        let counts = trace
            .task_ids()
            .map(|task| {
                kind(task) != TaskKind::Burst
                    || trace.events().any(|e| e.task == task && e.kind().is_access())
            })
            .collect();
        Nodes { of, ends, counts }
    }

    fn of(&self, task: TaskId) -> TaskId {
        self.of[task.index()]
    }

    fn first(&self, node: TaskId) -> Option<EventId> {
        self.ends[node.index()].map(|(first, _)| first)
    }

    /// The two nodes of a race, the one that begins first first; `None` for a race inside one.
    fn of_race(&self, trace: &Trace, (a, b): (EventId, EventId)) -> Option<(TaskId, TaskId)> {
        let (x, y) = (self.of(trace.event(a).task), self.of(trace.event(b).task));
        match x {
            _ if x == y => None,
            _ if self.first(x) < self.first(y) => Some((x, y)),
            _ => Some((y, x)),
        }
    }
}

impl RaceView {
    pub(super) fn covered_access(&self, trace: &Trace, (a, b): (EventId, EventId)) -> bool {
        (0..trace.len()).any(|k| self.access.has(a.index(), k) && self.access.has(k, b.index()))
    }

    pub(super) fn covered_task(&self, trace: &Trace, race: (EventId, EventId)) -> bool {
        let Some((a, b)) = self.nodes.of_race(trace, race) else { return true };
        (0..trace.tasks_count())
            .any(|k| self.tasks.has(a.index(), k) && self.tasks.has(k, b.index()))
    }

    pub(super) fn covered_single(
        &self,
        fixpoint: &Fixpoint<'_, '_>,
        race: (EventId, EventId),
    ) -> bool {
        let trace = fixpoint.view.trace;
        let Some((a, b)) = self.nodes.of_race(trace, race) else { return true };
        let up_to = |x: TaskId, y: TaskId| {
            x == y
                || self.nodes.ends[x.index()]
                    .zip(self.nodes.ends[y.index()])
                    .is_some_and(|((_, last), (first, _))| fixpoint.ordered_by_edges(last, first))
        };
        self.task_races.iter().any(|&(c, d)| (c, d) != (a, b) && up_to(a, c) && up_to(d, b))
    }
}
