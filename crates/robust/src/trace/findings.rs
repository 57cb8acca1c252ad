//! Cycles of conflicts as findings.

use super::check::Analysed;
use super::cycles::Cycles;
use super::forest::Forest;
use super::groups::{Group, Key, key};
use super::order::Forced;
use super::serial::Conflict;
use anyorder_common::numbers::plural;
use anyorder_finding::{CycleConflict, ExplanationStep, Finding, Kind, Severity};
use anyorder_hb::{location_title, site_of};
use anyorder_system::{Control, Stopped};
use anyorder_trace::{EventId, EventKind, InputId, LocationId, TaskKind, Trace};
use std::collections::BTreeSet;

/// A finding, and the two accesses of its sites.
pub(super) type WithShown = (Finding, [EventId; 2]);

/// The filter of findings whose conflicts every run has in the same order.
pub const FORCED: &str = "forced";

/// How many findings are made after a stop, too.
const UNPOLLED: usize = 100;

/// How many events of the trace are searched for the input that a task handles.
const TRIGGER_WITHIN: u32 = 64;

/// Makes the findings of the groups of conflicts that keep the events from being serializable.
/// Skips groups whose conflict is already on the cycle of an earlier one. Returns whether there are
/// more than `max`.
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
    found: &mut Vec<WithShown>,
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
        let [before, after] = group.shown;
        let event = |id: EventId| super::serial::event_of(all.trace, all.forest, id.index());
        let conflict = Conflict { from: event(before), to: event(after), before, after };
        let cycle = cycles.through(all.trace, all.cells, conflict, control)?;
        let keys = cycle.iter().map(|conflict| key(all.trace, conflict.before, conflict.after));
        covered.extend(keys);
        found.push((interleaving(all, group, &cycle, forced), group.shown));
    }
    Ok(false)
}

/// The title of events without a serial order. Names at most three of them.
fn interleaved<'n>(events: impl Iterator<Item = &'n str>, locations: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    for event in events {
        let name = format!("`{event}`");
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(3);
    names.truncate(3);
    let who = match (names.as_slice(), more) {
        ([one], 0) => format!("{one} interleaves with itself"),
        (_, 0) => format!("{} interleave", names.join(" and ")),
        (_, more) => format!("{} and {more} more interleave", names.join(", ")),
    };
    format!("{who}: no serial order explains {locations}")
}

/// Makes findings without their cycles, for a check that was stopped before it had them.
pub(super) fn without_cycles(
    all: &Analysed<'_>,
    groups: &[Group],
    max: usize,
    found: &mut Vec<WithShown>,
) {
    for group in groups.iter().take(max) {
        let [before, after] = group.shown;
        let mut finding = Finding::new(Kind::NotSerializable);
        let location = all.trace.event(after).location();
        let name = location.map(|location| location_title(all.trace, location));
        let events = [before, after]
            .map(|id| super::serial::event_of(all.trace, all.forest, id.index()))
            .map(|event| event_name(all.trace, all.forest, event));
        finding.title = interleaved(
            events.iter().map(String::as_str),
            &format!("`{}`", name.unwrap_or_default()),
        );
        let event = |id: EventId| super::serial::event_of(all.trace, all.forest, id.index());
        let step = CycleConflict {
            from: event_name(all.trace, all.forest, event(before)),
            to: event_name(all.trace, all.forest, event(after)),
            ..CycleConflict::default()
        };
        finding.explanation.push(conflict_step(all.trace, before, after, &step));
        finding
            .explanation
            .push(ExplanationStep::new("the check was stopped before the whole cycle was found"));
        complete(all.trace, group, None, &mut finding);
        found.push((finding, group.shown));
    }
}

/// Makes the finding of a cycle of events.
fn interleaving(
    all: &Analysed<'_>,
    group: &Group,
    cycle: &[Conflict],
    forced: Option<&Forced<'_>>,
) -> Finding {
    let (trace, forest) = (all.trace, all.forest);
    let mut finding = Finding::new(Kind::NotSerializable);
    let steps: Vec<CycleConflict> = cycle
        .iter()
        .map(|conflict| CycleConflict {
            from: event_name(trace, forest, conflict.from),
            to: event_name(trace, forest, conflict.to),
            location: location_of(trace, conflict.after),
            before: trace.label(conflict.before),
            after: trace.label(conflict.after),
            forced: forced.map(|order| order.orders(conflict.before, conflict.after)),
        })
        .collect();
    let closing = cycle.iter().max_by_key(|conflict| conflict.after);
    finding.pivot = closing.map(|conflict| trace.label(conflict.after));
    finding.root = closing.map(|conflict| trace.label(conflict.before));
    let names: BTreeSet<String> = cycle
        .iter()
        .filter_map(|conflict| trace.event(conflict.after).location())
        .map(|location| format!("`{}`", location_title(trace, location)))
        .collect();
    let names: Vec<String> = names.into_iter().take(3).collect();
    let events = steps.iter().map(|step| step.from.as_str());
    finding.title = interleaved(events, &names.join(" and "));
    for (conflict, step) in cycle.iter().zip(&steps) {
        finding.explanation.push(conflict_step(trace, conflict.before, conflict.after, step));
    }
    let component = all.components.of_event[cycle[0].from as usize] as usize;
    let size = u64::from(all.components.sizes[component]);
    if size > cycle.len() as u64 {
        let text = format!("such cycles connect {} in all", plural(size, "event"));
        finding.explanation.push(ExplanationStep::new(text));
    }
    let is_forced = forced.map(|_| steps.iter().all(|step| step.forced == Some(true)));
    finding.cycle = steps;
    complete(trace, group, is_forced, &mut finding);
    finding
}

/// Makes the findings of the groups of conflicts against the reference order.
///
/// # Errors
///
/// Fails if it was stopped, with the first findings made.
pub(super) fn determinism(
    all: &Analysed<'_>,
    groups: &[Group],
    forced: Option<&Forced<'_>>,
    control: &Control<'_>,
    found: &mut Vec<WithShown>,
) -> Result<(), Stopped> {
    let (trace, forest) = (all.trace, all.forest);
    for (at, group) in groups.iter().enumerate() {
        // A check that was stopped before still reports a few.
        if at >= UNPOLLED {
            control.check()?;
        }
        let [root, pivot] = group.shown;
        let mut finding = Finding::new(Kind::Nondeterminism);
        let name = trace.event(root).location().map(|location| location_title(trace, location));
        finding.title = format!(
            "tasks of one event conflict on `{}` in an order that one thread does not take",
            name.unwrap_or_default()
        );
        let of = |id: EventId| forest.invocation_of(trace.event(id).task, id);
        let names = [root, pivot].map(|id| invocation_name(trace, forest, of(id)));
        let step = CycleConflict {
            from: names[0].clone(),
            to: names[1].clone(),
            location: location_of(trace, pivot),
            before: trace.label(root),
            after: trace.label(pivot),
            forced: forced.map(|order| order.orders(root, pivot)),
        };
        let event = event_name(trace, forest, forest.invocations[of(pivot) as usize].event);
        let place = |id: EventId| all.positions[of(id) as usize] + 1;
        finding.explanation.push(ExplanationStep::new(format!(
            "one thread runs `{}` (task {} of event `{event}`) before `{}` (task {})",
            names[1],
            place(pivot),
            names[0],
            place(root)
        )));
        finding.explanation.push(conflict_step(trace, root, pivot, &step));
        finding.pivot = Some(step.after.clone());
        finding.root = Some(step.before.clone());
        let is_forced = step.forced;
        finding.cycle = vec![step];
        complete(trace, group, is_forced, &mut finding);
        found.push((finding, group.shown));
    }
    Ok(())
}

/// Sets what all findings have: sites, pairs, severity, and whether every run has them.
fn complete(trace: &Trace, group: &Group, is_forced: Option<bool>, finding: &mut Finding) {
    finding.sites = group.shown.map(|id| site_of(trace, id)).into();
    finding.pairs = group.pairs.iter().map(|pair| pair.map(|id| trace.event_name(id))).collect();
    finding.pairs_total = group.total;
    finding.severity = Severity::Warning;
    if is_forced == Some(true) {
        finding.severity = Severity::Note;
        finding.filters = vec![FORCED.to_owned()];
        finding.explanation.push(ExplanationStep::new(
            "every run with these tasks has the conflicts in this order",
        ));
    }
}

/// Describes a conflict.
fn conflict_step(
    trace: &Trace,
    before: EventId,
    after: EventId,
    step: &CycleConflict,
) -> ExplanationStep {
    let access = |id: EventId| {
        let kind = trace.event(id).kind().word();
        format!("{kind} of `{}` (event {})", location_of(trace, id), trace.label(id))
    };
    let text = format!(
        "`{}`: the {} comes before `{}`: the {}",
        step.from,
        access(before),
        step.to,
        access(after)
    );
    let events = vec![trace.unique_label(before), trace.unique_label(after)];
    let rule = step.forced.map(|forced| if forced { FORCED } else { "racing" }.to_owned());
    ExplanationStep { text, rule, events }
}

fn location_of(trace: &Trace, access: EventId) -> String {
    let location = trace.event(access).location().unwrap_or(LocationId::NONE);
    trace.location_text(location)
}

/// Returns the name of an event: its root task, and the input that it handles.
pub(super) fn event_name(trace: &Trace, forest: &Forest, event: u32) -> String {
    let root = forest.of_event(event)[0];
    let name = invocation_name(trace, forest, root);
    let (task, first) = (forest.root(event).task, forest.root(event).first);
    let last = trace.span(task).last.0.min(first.0.saturating_add(TRIGGER_WITHIN));
    let trigger = (first.0..=last).map(|row| trace.event(EventId(row))).find(|event| {
        let triggers = event.task == task && event.kind() == EventKind::Trigger;
        triggers && forest.invocation_of(task, event.id) == root
    });
    match trigger {
        Some(trigger) => {
            format!("{name}: {}", trace.tables().input_text(InputId(trigger.operand)))
        }
        None => name,
    }
}

/// Returns the name of an invocation: its task or thread. A piece of a looper's code gets the label
/// of its first event.
fn invocation_name(trace: &Trace, forest: &Forest, invocation: u32) -> String {
    let own = &forest.invocations[invocation as usize];
    let name = trace.task_name(own.task);
    let kind = trace.tables().tasks[own.task.index()].kind;
    if kind == TaskKind::Initial && own.first != trace.span(own.task).first {
        return format!("{name} between tasks, from event {}", trace.label(own.first));
    }
    name.to_owned()
}
