//! The conflicts that keep a trace from being robust, in words.

use super::events::{location_title, site};
use anyorder_common::numbers::plural;
use anyorder_finding::{CycleConflict, ExplanationStep, Finding, Kind, Severity, assign_ids};
use anyorder_robust::trace::{ConflictGroup, EventLink, InputEvent, Shows, TaskRun};
use anyorder_trace::{EventId, InputId, LocationId, Trace};
use std::collections::BTreeSet;

/// The filter of findings whose conflicts every run has in the same order.
pub(crate) const FORCED: &str = "forced";

/// The most names in a title.
const NAMED_MAX: usize = 3;

/// Returns the findings of groups of conflicts, with ids.
pub(crate) fn conflicts(trace: &Trace, groups: &[ConflictGroup]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = groups.iter().map(|group| finding(trace, group)).collect();
    assign_ids(&mut findings);
    findings
}

fn finding(trace: &Trace, group: &ConflictGroup) -> Finding {
    let mut finding = match &group.shows {
        Shows::Cycle { links, connected } => cycle(trace, links, *connected),
        Shows::PartOfCycle(link) => part_of_cycle(trace, link),
        Shows::OutOfOrder { tasks, places, event, forced } => {
            out_of_order(trace, group.shown, (*tasks, *places, *event), *forced)
        }
    };
    if let Some([root, pivot]) = group.closing() {
        finding.pivot = Some(trace.label(pivot));
        finding.root = Some(trace.label(root));
    }
    finding.sites = group.shown.map(|id| site(trace, id)).into();
    finding.pairs = group.pairs.iter().map(|pair| pair.map(|id| trace.event_name(id))).collect();
    finding.pairs_total = group.total;
    finding.severity = Severity::Warning;
    if group.forced() == Some(true) {
        finding.severity = Severity::Note;
        finding.filters = vec![FORCED.to_owned()];
        finding.explanation.push(ExplanationStep::new(
            "every run with these tasks has the conflicts in this order",
        ));
    }
    finding
}

/// Describes a cycle of events.
fn cycle(trace: &Trace, links: &[EventLink], connected: u64) -> Finding {
    let mut finding = Finding::new(Kind::NotSerializable);
    finding.cycle = links.iter().map(|link| of_link(trace, link)).collect();
    let names: BTreeSet<String> = links
        .iter()
        .filter_map(|link| trace.event(link.after).location())
        .map(|location| format!("`{}`", location_title(trace, location)))
        .collect();
    let names: Vec<String> = names.into_iter().take(NAMED_MAX).collect();
    let events = finding.cycle.iter().map(|step| step.from.as_str());
    finding.title = interleaved(events, &names.join(" and "));
    for (link, step) in links.iter().zip(&finding.cycle) {
        finding.explanation.push(conflict_step(trace, [link.before, link.after], step));
    }
    if connected > links.len() as u64 {
        let text = format!("such cycles connect {} in all", plural(connected, "event"));
        finding.explanation.push(ExplanationStep::new(text));
    }
    finding
}

/// Describes a conflict whose cycle is not known.
fn part_of_cycle(trace: &Trace, link: &EventLink) -> Finding {
    let mut finding = Finding::new(Kind::NotSerializable);
    let step = of_link(trace, link);
    let location = trace.event(link.after).location();
    let name = location.map(|location| location_title(trace, location)).unwrap_or_default();
    let events = [step.from.as_str(), step.to.as_str()];
    finding.title = interleaved(events.into_iter(), &format!("`{name}`"));
    finding.explanation = vec![
        conflict_step(trace, [link.before, link.after], &step),
        ExplanationStep::new("the check was stopped before the whole cycle was found"),
    ];
    finding
}

/// Describes two tasks of one event in an order that one thread does not take.
fn out_of_order(
    trace: &Trace,
    [root, pivot]: [EventId; 2],
    (tasks, places, event): ([TaskRun; 2], [u32; 2], InputEvent),
    forced: Option<bool>,
) -> Finding {
    let mut finding = Finding::new(Kind::Nondeterminism);
    let name = trace.event(root).location().map(|location| location_title(trace, location));
    finding.title = format!(
        "tasks of one event conflict on `{}` in an order that one thread does not take",
        name.unwrap_or_default()
    );
    let [from, to] = tasks.map(|task| task_name(trace, task));
    finding.explanation.push(ExplanationStep::new(format!(
        "one thread runs `{to}` (task {} of event `{}`) before `{from}` (task {})",
        places[1],
        event_name(trace, event),
        places[0]
    )));
    let location = location_of(trace, pivot);
    let (before, after) = (trace.label(root), trace.label(pivot));
    let step = CycleConflict { from, to, location, before, after, forced };
    finding.explanation.push(conflict_step(trace, [root, pivot], &step));
    finding.cycle = vec![step];
    finding
}

/// Returns the title of events without a serial order. Names at most three of them.
fn interleaved<'n>(events: impl Iterator<Item = &'n str>, locations: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    for event in events {
        let name = format!("`{event}`");
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(NAMED_MAX);
    names.truncate(NAMED_MAX);
    let who = match (names.as_slice(), more) {
        ([one], 0) => format!("{one} interleaves with itself"),
        (_, 0) => format!("{} interleave", names.join(" and ")),
        (_, more) => format!("{} and {more} more interleave", names.join(", ")),
    };
    format!("{who}: no serial order explains {locations}")
}

fn of_link(trace: &Trace, link: &EventLink) -> CycleConflict {
    CycleConflict {
        from: event_name(trace, link.from),
        to: event_name(trace, link.to),
        location: location_of(trace, link.after),
        before: trace.label(link.before),
        after: trace.label(link.after),
        forced: link.forced,
    }
}

/// Describes a conflict.
fn conflict_step(
    trace: &Trace,
    [before, after]: [EventId; 2],
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
fn event_name(trace: &Trace, event: InputEvent) -> String {
    let name = task_name(trace, event.root);
    match event.trigger {
        Some(trigger) => {
            let input = InputId(trace.event(trigger).operand);
            format!("{name}: {}", trace.tables().input_text(input))
        }
        None => name,
    }
}

/// Returns the name of a task or thread. A piece of a looper's code gets the label of its first
/// event.
fn task_name(trace: &Trace, run: TaskRun) -> String {
    let name = trace.task_name(run.task);
    match run.between {
        Some(first) => format!("{name} between tasks, from event {}", trace.label(first)),
        None => name.to_owned(),
    }
}
