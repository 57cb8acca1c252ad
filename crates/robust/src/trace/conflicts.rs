//! The conflicts that keep a trace from being robust, as data: a group of one cause, with what it
//! shows.

use super::check::Analysed;
use super::cycles::Cycles;
use super::forest::Forest;
use super::groups::{Group, Key, key};
use super::order::Forced;
use super::serial::{self, Conflict};
use anyorder_system::{Control, Stopped};
use anyorder_trace::{EventId, EventKind, TaskId, TaskKind, Trace};
use std::collections::BTreeSet;

/// The conflicts of one cause, and what they show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConflictGroup {
    /// The two accesses of the conflict that stands for the group, in trace order.
    pub shown: [EventId; 2],
    /// The accesses of its conflicts, in trace order; cut at [`TraceOptions::max_pairs`].
    ///
    /// [`TraceOptions::max_pairs`]: super::TraceOptions::max_pairs
    pub pairs: Vec<[EventId; 2]>,
    /// The number of its conflicts.
    pub total: u64,
    /// Why they are reported.
    pub shows: Shows,
}

/// What the conflicts of a group show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shows {
    /// Events without a serial order.
    Cycle {
        /// The conflicts of a cycle of events. Each ends at the event where the next one begins.
        links: Vec<EventLink>,
        /// The number of events that such cycles connect in all.
        connected: u64,
    },
    /// Events without a serial order, by this conflict and others: the check was stopped before it
    /// had the cycle.
    PartOfCycle(EventLink),
    /// Two tasks of one event, in an order that one thread does not take.
    OutOfOrder {
        /// The tasks of the two accesses, in trace order.
        tasks: [TaskRun; 2],
        /// Their places in the order of one thread, from 1.
        places: [u32; 2],
        /// Their event.
        event: InputEvent,
        /// Whether every run has the accesses in this order, if that is known.
        forced: Option<bool>,
    },
}

/// Two conflicting accesses of two events, in trace order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventLink {
    /// The event of the first access.
    pub from: InputEvent,
    /// The event of the second access.
    pub to: InputEvent,
    /// The first access.
    pub before: EventId,
    /// The second access.
    pub after: EventId,
    /// Whether every run has the accesses in this order, if that is known.
    pub forced: Option<bool>,
}

/// An input event of a trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InputEvent {
    /// Its root.
    pub root: TaskRun,
    /// The trigger of the input that it handles, if the trace has one.
    pub trigger: Option<EventId>,
}

/// A task, or a piece of the code of a looper that runs between its tasks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TaskRun {
    /// The task or thread.
    pub task: TaskId,
    /// The first event of a piece that runs between two tasks.
    pub between: Option<EventId>,
}

impl ConflictGroup {
    /// Returns whether every run has its conflicts in the same order; `None` where that is not
    /// known.
    #[must_use]
    pub fn forced(&self) -> Option<bool> {
        match &self.shows {
            Shows::Cycle { links, .. } => {
                let forced: Option<Vec<bool>> = links.iter().map(|link| link.forced).collect();
                forced.map(|forced| forced.into_iter().all(|one| one))
            }
            Shows::PartOfCycle(_) => None,
            Shows::OutOfOrder { forced, .. } => *forced,
        }
    }

    /// Returns the conflict of a cycle whose second access comes last.
    #[must_use]
    pub fn closing(&self) -> Option<[EventId; 2]> {
        match &self.shows {
            Shows::Cycle { links, .. } => {
                let last = links.iter().max_by_key(|link| link.after)?;
                Some([last.before, last.after])
            }
            Shows::PartOfCycle(_) => None,
            Shows::OutOfOrder { .. } => Some(self.shown),
        }
    }
}

/// How many groups are described after a stop, too.
const UNPOLLED: usize = 100;

/// How many events of the trace are searched for the input that a task handles.
const TRIGGER_WITHIN: u32 = 64;

/// Describes the groups of conflicts that keep the events from being serializable. Skips groups
/// whose conflict is already on the cycle of an earlier one. Returns whether there are more than
/// `max`.
///
/// # Errors
///
/// Fails if it was stopped.
pub(super) fn serializability(
    all: &Analysed<'_>,
    groups: &[Group],
    forced: Option<&Forced<'_>>,
    max: usize,
    control: &Control<'_>,
    found: &mut Vec<ConflictGroup>,
) -> Result<bool, Stopped> {
    if groups.is_empty() {
        return Ok(false);
    }
    let cycles = Cycles::new(all.trace, all.forest, all.cells, all.components, control)?;
    let mut covered: BTreeSet<Key> = BTreeSet::new();
    let mut made = 0;
    // Racing groups first: a cut leaves out the less interesting ones.
    let mut order: Vec<&Group> = groups.iter().collect();
    order.sort_by_key(|group| group.racing == Some(false));
    for group in order {
        if covered.contains(&group.key) {
            continue;
        }
        if made == max {
            return Ok(true);
        }
        made += 1;
        let cycle = cycles.through(all.trace, all.cells, conflict(all, group.shown), control)?;
        let keys = cycle.iter().map(|conflict| key(all.trace, conflict.before, conflict.after));
        covered.extend(keys);
        let component = all.components.of_event[cycle[0].from as usize] as usize;
        let connected = u64::from(all.components.sizes[component]);
        let links = cycle.iter().map(|conflict| link(all, *conflict, forced)).collect();
        found.push(of_group(group, Shows::Cycle { links, connected }));
    }
    Ok(false)
}

/// Describes groups without their cycles, for a check that was stopped before it had them.
pub(super) fn without_cycles(
    all: &Analysed<'_>,
    groups: &[Group],
    max: usize,
    found: &mut Vec<ConflictGroup>,
) {
    for group in groups.iter().take(max) {
        let link = link(all, conflict(all, group.shown), None);
        found.push(of_group(group, Shows::PartOfCycle(link)));
    }
}

/// Describes the groups of conflicts against the reference order.
///
/// # Errors
///
/// Fails if it was stopped, with the first groups described.
pub(super) fn determinism(
    all: &Analysed<'_>,
    groups: &[Group],
    forced: Option<&Forced<'_>>,
    control: &Control<'_>,
    found: &mut Vec<ConflictGroup>,
) -> Result<(), Stopped> {
    let (trace, forest) = (all.trace, all.forest);
    for (at, group) in groups.iter().enumerate() {
        // A check that was stopped before still reports a few.
        if at >= UNPOLLED {
            control.check()?;
        }
        let [root, pivot] = group.shown;
        let of = |id: EventId| forest.invocation_of(trace.event(id).task, id);
        let shows = Shows::OutOfOrder {
            tasks: [root, pivot].map(|id| task_run(trace, forest, of(id))),
            places: [root, pivot].map(|id| all.positions[of(id) as usize] + 1),
            event: input_event(trace, forest, forest.invocations[of(pivot) as usize].event),
            forced: forced.map(|order| order.orders(root, pivot)),
        };
        found.push(of_group(group, shows));
    }
    Ok(())
}

fn of_group(group: &Group, shows: Shows) -> ConflictGroup {
    let Group { pairs, total, shown, .. } = group;
    ConflictGroup { shown: *shown, pairs: pairs.clone(), total: *total, shows }
}

/// Returns two conflicting accesses with their events.
fn conflict(all: &Analysed<'_>, [before, after]: [EventId; 2]) -> Conflict {
    let event = |id: EventId| serial::event_of(all.trace, all.forest, id.index());
    Conflict { from: event(before), to: event(after), before, after }
}

fn link(all: &Analysed<'_>, conflict: Conflict, forced: Option<&Forced<'_>>) -> EventLink {
    let event = |event: u32| input_event(all.trace, all.forest, event);
    let Conflict { from, to, before, after } = conflict;
    let forced = forced.map(|order| order.orders(before, after));
    EventLink { from: event(from), to: event(to), before, after, forced }
}

/// Returns an event by its root task, with the input that it handles.
fn input_event(trace: &Trace, forest: &Forest, event: u32) -> InputEvent {
    let root = forest.of_event(event)[0];
    let (task, first) = (forest.root(event).task, forest.root(event).first);
    let last = trace.span(task).last.0.min(first.0.saturating_add(TRIGGER_WITHIN));
    let trigger = (first.0..=last).map(EventId).find(|id| {
        let event = trace.event(*id);
        let triggers = event.task == task && event.kind() == EventKind::Trigger;
        triggers && forest.invocation_of(task, event.id) == root
    });
    InputEvent { root: task_run(trace, forest, root), trigger }
}

fn task_run(trace: &Trace, forest: &Forest, run: u32) -> TaskRun {
    let own = &forest.invocations[run as usize];
    let kind = trace.tables().tasks[own.task.index()].kind;
    let is_piece = kind == TaskKind::Initial && own.first != trace.span(own.task).first;
    TaskRun { task: own.task, between: is_piece.then_some(own.first) }
}
