//! Executions that do not end: which threads repeat what.

use super::failure::Endless;
use super::run::Run;
use super::trace::{Trace, place};
use crate::runtime::Program;
use anyorder_threads::{Act, Event, ThreadId};

/// The longest turn that is looked for, and how often it must be repeated.
const TURN_MAX: usize = 64;
const TURNS_MIN: usize = 8;

/// How many operations of such an execution are shown.
pub(super) const SHOWN: usize = 30;

/// Returns the report of an execution that was cut. `others` are threads that could go on at its
/// end.
pub(super) fn endless(program: &Program, run: &Run, trace: &Trace, able: &[ThreadId]) -> Endless {
    let events = &run.events;
    let length = (1..=TURN_MAX).find(|length| repeats(events, *length)).unwrap_or(0);
    let from = events.len() - length;
    let mut threads: Vec<ThreadId> = Vec::new();
    for event in &events[from..] {
        if !threads.contains(&event.step.thread) {
            threads.push(event.step.thread);
        }
    }
    let turn = (from..events.len())
        .map(|at| (trace.words(&trace.lines[at]), place(program, events[at].site)))
        .collect();
    let starves = length > 0 && able.iter().any(|thread| !threads.contains(thread));
    Endless { operations: events.len(), threads, turn, starves }
}

/// Whether the events end with the same turn again and again.
fn repeats(events: &[Event], length: usize) -> bool {
    let Some(from) = events.len().checked_sub(length * TURNS_MIN) else { return false };
    let same = |a: &Event, b: &Event| {
        a.step.thread == b.step.thread
            && a.op.object == b.op.object
            && a.site == b.site
            && (a.op.act == b.op.act || matches!(a.op.act, Act::Alter(_)))
    };
    (from + length..events.len()).all(|at| same(&events[at], &events[at - length]))
}
