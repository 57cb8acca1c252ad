//! The whole check of a trace: both graphs, then groups, order and cycles.

use super::cells::Cells;
use super::conflicts::{self, ConflictGroup};
use super::determinism::{self, Violation};
use super::forest::{Forest, STRIDE};
use super::groups::Groups;
use super::order::{Forced, unlocked};
use super::reference;
use super::serial::{self, Components};
use anyorder_hb::RuleSet;
use anyorder_system::{Control, StopReason, Stopped};
use anyorder_trace::{LocationId, TaskKind, Trace};
use std::collections::BTreeSet;

/// The options of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceOptions {
    /// The rules by which every run has an order.
    pub rules: RuleSet,
    /// Locations whose conflicts do not count.
    pub ignore: BTreeSet<LocationId>,
    /// The most conflicts that a finding lists.
    pub max_pairs: usize,
    /// The most cycles of events that are reported.
    pub max_cycles: usize,
    /// Conflicts of a trace with more tasks are not classed as forced or racing: happens-before can
    /// take time quadratic in the tasks.
    pub max_classed_tasks: u64,
}

impl TraceOptions {
    /// Returns the default options.
    #[must_use]
    pub fn new(rules: RuleSet) -> TraceOptions {
        TraceOptions {
            rules,
            ignore: BTreeSet::new(),
            max_pairs: 1000,
            max_cycles: 100,
            max_classed_tasks: 20_000,
        }
    }
}

/// The counts of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TraceCounts {
    /// Events that run a task or access memory.
    pub events: u64,
    /// Tasks that ran from a mailbox.
    pub tasks: u64,
    /// Accesses of the trace.
    pub accesses: u64,
    /// Distinct edges of the conflict-event graph that were needed.
    pub conflicts: u64,
    /// Components of several events.
    pub components: u64,
    /// Events in such components.
    pub events_interleaved: u64,
    /// Accesses that conflict with an earlier one against the reference order.
    pub violations: u64,
}

/// The outcome of a check.
#[derive(Clone, Debug, Default)]
pub struct TraceChecked {
    /// The conflicts, grouped by cause: tasks out of order, then events that interleave.
    pub groups: Vec<ConflictGroup>,
    /// The counts.
    pub counts: TraceCounts,
    /// Why the check ended early. The groups so far are true; without groups nothing is known.
    pub stopped: Option<StopReason>,
    /// Whether there are more cycles of events than are reported.
    pub more_cycles: bool,
    /// Whether the trace has too many tasks for its conflicts to be classed.
    pub unclassed: bool,
    /// The events of each component, ascending; events are numbered by their first event of the
    /// trace.
    pub components: Vec<Vec<u32>>,
    /// The conflicts against the reference order.
    pub violations: Vec<Violation>,
}

/// What the phases of a check share.
pub(super) struct Analysed<'a> {
    pub(super) trace: &'a Trace,
    pub(super) forest: &'a Forest,
    pub(super) cells: &'a Cells,
    pub(super) components: &'a Components,
    pub(super) positions: &'a [u32],
}

/// Checks whether a trace is robust. The events of the trace must be in the order in which they
/// happened.
///
/// Never fails: a stopped check says so, with the groups so far.
#[must_use]
pub fn check(trace: &Trace, options: &TraceOptions, control: &Control<'_>) -> TraceChecked {
    let mut checked = TraceChecked::default();
    let mut found = Vec::new();
    if let Err(Stopped(reason)) = phases(trace, options, control, &mut checked, &mut found) {
        checked.stopped = Some(reason);
    }
    checked.groups = found;
    checked
}

fn phases(
    trace: &Trace,
    options: &TraceOptions,
    control: &Control<'_>,
    checked: &mut TraceChecked,
    found: &mut Vec<ConflictGroup>,
) -> Result<(), Stopped> {
    control.progress.phase("events");
    let forest = Forest::new(trace, control)?;
    count(trace, &forest, control, &mut checked.counts)?;
    let tables = trace.tables();
    let locations = tables.locations.len() as u64;
    control.check_memory(0, locations * 48)?;
    let cells = Cells::new(tables, |location| options.ignore.contains(&location));
    control.progress.phase("serializability");
    let components = serial::find(trace, &forest, &cells, control)?;
    checked.counts.conflicts = components.edges;
    checked.counts.components = components.sizes.len() as u64;
    checked.counts.events_interleaved = components.sizes.iter().copied().map(u64::from).sum();
    checked.components = vec![Vec::new(); components.sizes.len()];
    for (event, component) in components.of_event.iter().enumerate() {
        if let Some(members) = checked.components.get_mut(*component as usize) {
            members.push(event as u32);
        }
    }
    control.progress.phase("determinism");
    let positions = reference::positions(&forest, tables, control)?;
    checked.violations = determinism::find(trace, &forest, &cells, &positions, control)?;
    checked.counts.violations = checked.violations.len() as u64;
    let (forest, cells, components, positions) = (&forest, &cells, &components, &positions[..]);
    let all = Analysed { trace, forest, cells, components, positions };
    explain(&all, options, control, checked, found)
}

/// Groups the conflicts of the components and the violations, and describes the groups.
fn explain(
    all: &Analysed<'_>,
    options: &TraceOptions,
    control: &Control<'_>,
    checked: &mut TraceChecked,
    found: &mut Vec<ConflictGroup>,
) -> Result<(), Stopped> {
    let interleaved = interleavings(all, options, control)?;
    let mut against = Groups::new(all.trace, options.max_pairs);
    for (at, violation) in checked.violations.iter().enumerate() {
        if at % STRIDE == 0 {
            control.check()?;
        }
        against.add(violation.root, violation.pivot);
    }
    if interleaved.is_empty() && against.is_empty() {
        return Ok(());
    }
    checked.unclassed = checked.counts.tasks > options.max_classed_tasks;
    let copy = if checked.unclassed {
        Ok(None)
    } else {
        control.progress.phase("happens-before");
        unlocked(all.trace, control).map(Some)
    };
    let forced = match &copy {
        Ok(Some(copy)) => Forced::new(copy, options.rules, control).map(Some),
        Ok(None) => Ok(None),
        Err(stopped) => Err(*stopped),
    };
    let order = forced.as_ref().ok().and_then(Option::as_ref);
    let (against, interleaved) = (against.finish(order), interleaved.finish(order));
    let tasks = conflicts::determinism(all, &against, order, control, found);
    // A stop from here on loses classes and cycles, not groups.
    control.progress.phase("cycles");
    let known = found.len();
    let searched = tasks.and(forced).and_then(|order| {
        let max = options.max_cycles;
        conflicts::serializability(all, &interleaved, order.as_ref(), max, control, found)
    });
    if searched.is_err() && found.len() == known {
        conflicts::without_cycles(all, &interleaved, options.max_cycles, found);
    }
    checked.more_cycles = searched?;
    Ok(())
}

/// Groups the conflicts of each component that go from a later to an earlier event. Every cycle has
/// one, whatever it is about.
fn interleavings<'t>(
    all: &Analysed<'t>,
    options: &TraceOptions,
    control: &Control<'_>,
) -> Result<Groups<'t>, Stopped> {
    let mut groups = Groups::new(all.trace, options.max_pairs);
    if !all.components.sizes.is_empty() {
        serial::visit(all.trace, all.forest, all.cells, control, |conflict| {
            if conflict.from > conflict.to && all.components.together(conflict.from, conflict.to) {
                groups.add(conflict.before, conflict.after);
            }
        })?;
    }
    Ok(groups)
}

fn count(
    trace: &Trace,
    forest: &Forest,
    control: &Control<'_>,
    counts: &mut TraceCounts,
) -> Result<(), Stopped> {
    let posted = |task: anyorder_trace::TaskId| {
        trace.tables().tasks[task.index()].kind == TaskKind::Posted
            && !trace.span(task).get.is_none()
    };
    counts.tasks = trace.task_ids().filter(|task| posted(*task)).count() as u64;
    let runs_task = |event: u32| {
        let tasks = forest.of_event(event).iter().map(|i| forest.invocations[*i as usize].task);
        tasks.into_iter().any(posted)
    };
    let mut does: Vec<bool> = (0..forest.events_count() as u32).map(runs_task).collect();
    for (row, op) in trace.columns().ops.iter().enumerate() {
        if row % STRIDE == 0 {
            control.check()?;
        }
        if op.kind().is_access() {
            counts.accesses += 1;
            does[serial::event_of(trace, forest, row) as usize] = true;
        }
    }
    counts.events = does.iter().filter(|does| **does).count() as u64;
    Ok(())
}
