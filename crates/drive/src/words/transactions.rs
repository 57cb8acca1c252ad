//! Atomic blocks that are interrupted, in words.

use super::events::{location_title, site};
use anyorder_common::numbers::plural;
use anyorder_finding::{CycleConflict, ExplanationStep, Finding, Kind, Severity, Site, assign_ids};
use anyorder_robust::transactions::{Link, Unit, Violation, Why};
use anyorder_trace::{EventId, EventKind, HandlerId, NameId, OperandKind, Trace};

/// Returns the findings of violated transactions, with ids.
pub(crate) fn transactions(trace: &Trace, violations: &[Violation]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = violations.iter().map(|v| finding(trace, v)).collect();
    assign_ids(&mut findings);
    findings
}

fn finding(trace: &Trace, violation: &Violation) -> Finding {
    let (Some(first), Some(last)) = (violation.links.first(), violation.links.last()) else {
        return Finding::new(Kind::Atomicity);
    };
    let mut finding = Finding::new(Kind::Atomicity);
    finding.severity = Severity::Warning;
    let thread = trace.handler_name(violation.thread);
    finding.title = format!(
        "the atomic block of `{thread}` that begins at {} is interrupted by {}",
        place(trace, violation.begin),
        others(trace, violation)
    );
    let events = [first.before, first.after, last.after];
    finding.sites = events.map(|event| site_of(trace, event)).into();
    finding.cycle = violation.links.iter().map(|link| conflict(trace, link)).collect();
    finding.pivot = Some(trace.label(last.after));
    finding.root = Some(trace.label(first.before));
    finding.explanation = violation.links.iter().map(|link| step(trace, link)).collect();
    let end = violation.end.map(|end| format!(" to {}", place(trace, end))).unwrap_or_default();
    let text = format!(
        "so the others come after event {} of the block and before its event {}: they fit neither \
         before nor after the whole block, from {}{end}",
        trace.label(first.before),
        trace.label(last.after),
        place(trace, violation.begin),
    );
    finding.explanation.push(ExplanationStep::new(text));
    let rule = Some("hint".to_owned());
    let text = "hold one lock from the first to the last of these events of the block";
    finding.explanation.push(ExplanationStep { rule, ..ExplanationStep::new(text) });
    if violation.on_cycles > 1 {
        let text =
            format!("{} that begin there lie on such cycles", plural(violation.on_cycles, "block"));
        finding.explanation.push(ExplanationStep::new(text));
    }
    finding
}

/// Returns the site of an event, with the name of a lock or condition as its location.
fn site_of(trace: &Trace, id: EventId) -> Site {
    let at = site(trace, id);
    Site { location: at.location.clone().or_else(|| operand(trace, id)), ..at }
}

/// Names the threads that come between, the first three of them.
fn others(trace: &Trace, violation: &Violation) -> String {
    let mut names: Vec<String> = Vec::new();
    for link in &violation.links[1..] {
        let name = format!("`{}`", trace.handler_name(trace.handler_of(link.before)));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(3);
    names.truncate(3);
    match more {
        0 => names.join(" and "),
        _ => format!("{} and {}", names.join(", "), plural(more as u64, "other thread")),
    }
}

/// Returns where an event happened: its position in the source, or its number.
fn place(trace: &Trace, id: EventId) -> String {
    match trace.tables().site_text(trace.event(id).site).as_ref() {
        "?" => format!("event {}", trace.label(id)),
        site => format!("{site} (event {})", trace.label(id)),
    }
}

/// Returns the name of a unit: its thread, and where its block begins.
fn unit(trace: &Trace, unit: Unit) -> String {
    let (Unit::Block(first) | Unit::Single(first)) = unit;
    let thread = trace.handler_name(trace.handler_of(first));
    match unit {
        Unit::Block(begin) => format!("{thread}: block at {}", place(trace, begin)),
        Unit::Single(_) => thread.to_owned(),
    }
}

fn conflict(trace: &Trace, link: &Link) -> CycleConflict {
    let location = match trace.event(link.after).location() {
        Some(location) => trace.location_text(location),
        None => word(link.why).to_owned(),
    };
    CycleConflict {
        from: unit(trace, link.from),
        to: unit(trace, link.to),
        location,
        before: trace.label(link.before),
        after: trace.label(link.after),
        forced: None,
    }
}

const fn word(why: Why) -> &'static str {
    match why {
        Why::Thread => "thread",
        Why::Memory => "memory",
        Why::Lock => "lock",
        Why::Life => "fork_join",
        Why::Signal => "signal",
    }
}

fn step(trace: &Trace, link: &Link) -> ExplanationStep {
    let [before, after] = [link.before, link.after].map(|id| act(trace, id));
    let thread = trace.handler_name(trace.handler_of(link.before));
    let other = trace.handler_name(trace.handler_of(link.after));
    let text = match link.why {
        Why::Thread => format!("`{thread}` then {after}"),
        _ => format!("`{thread}` {before} before `{other}` {after}"),
    };
    let events = vec![trace.unique_label(link.before), trace.unique_label(link.after)];
    ExplanationStep { text, rule: Some(word(link.why).to_owned()), events }
}

/// Returns the name of what an event is about.
fn operand(trace: &Trace, id: EventId) -> Option<String> {
    let event = trace.event(id);
    let tables = trace.tables();
    let name = |names: &[NameId]| {
        names.get(event.operand as usize).map(|name| tables.name(*name).to_owned())
    };
    match event.kind().operand() {
        OperandKind::Location => event.location().map(|location| location_title(trace, location)),
        OperandKind::Lock => name(&tables.locks),
        OperandKind::Condition => name(&tables.conditions),
        OperandKind::Handler => Some(trace.handler_name(HandlerId(event.operand)).to_owned()),
        _ => None,
    }
}

/// Says what a thread does at an event.
fn act(trace: &Trace, id: EventId) -> String {
    let event = trace.event(id);
    let verb = match event.kind() {
        EventKind::Read => "reads",
        EventKind::Write => "writes",
        EventKind::Rmw => "updates",
        EventKind::Free => "frees",
        EventKind::Acquire => "takes",
        EventKind::Release => "gives back",
        EventKind::Fork => "starts",
        EventKind::Join => "joins",
        EventKind::Signal | EventKind::Broadcast => "signals",
        EventKind::Wait => "waits for",
        EventKind::Wake => "is woken by",
        other => other.word(),
    };
    let target = operand(trace, id).map(|name| format!(" `{name}`")).unwrap_or_default();
    format!("{verb}{target} at {}", place(trace, id))
}
