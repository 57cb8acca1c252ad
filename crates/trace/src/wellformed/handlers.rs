//! Handlers that start, exit and wait for each other.

use super::report::{Report, condition_name, handler_name, label};
use crate::event::{Event, EventKind};
use crate::ids::{EventId, HandlerId};
use crate::trace::Trace;

/// The signals of a condition that have woken nobody yet.
#[derive(Clone, Copy, Debug, Default)]
struct Condition {
    signals: u64,
    broadcast: bool,
}

/// The state of handlers and conditions.
#[derive(Debug)]
pub(super) struct Handlers {
    /// By handler: its first and its last event in the whole trace, besides the marks of its
    /// beginning and its end: recorders write these for all threads at the top and at the bottom.
    first: Vec<EventId>,
    last: Vec<EventId>,
    conditions: Vec<Condition>,
}

impl Handlers {
    pub(super) fn new(trace: &Trace) -> Handlers {
        let count = trace.tables().handlers.len();
        let mut first = vec![EventId::NONE; count];
        let mut last = vec![EventId::NONE; count];
        for event in trace.events() {
            let Some(task) = trace.tables().tasks.get(event.task.index()) else { continue };
            let handler = task.handler.index();
            if handler >= count || matches!(event.kind(), EventKind::Begin | EventKind::Exit) {
                continue;
            }
            // `NONE` is greater than all events.
            first[handler] = first[handler].min(event.id);
            last[handler] = event.id;
        }
        let conditions = vec![Condition::default(); trace.tables().conditions.len()];
        Handlers { first, last, conditions }
    }

    pub(super) fn event(&mut self, event: &Event, report: &mut Report<'_>) {
        let trace = report.trace;
        let of = |list: &[EventId]| list.get(event.operand as usize)?.some();
        let name = || handler_name(trace, HandlerId(event.operand));
        match event.kind() {
            EventKind::Fork if report.observed => {
                if let Some(first) = of(&self.first).filter(|first| *first < event.id) {
                    report.error_if_watched(event.id, || {
                        let (name, since) = (name(), label(trace, first));
                        format!("forks handler `{name}`, which has run before, since event {since}")
                    });
                }
            }
            EventKind::Join if report.observed => {
                if let Some(last) = of(&self.last).filter(|last| *last > event.id) {
                    report.error_if_watched(event.id, || {
                        let (name, until) = (name(), label(trace, last));
                        format!("joins handler `{name}`, which goes on until event {until}")
                    });
                }
            }
            EventKind::Signal | EventKind::Broadcast | EventKind::Wake
                if report.observed && !event.op.is_timeout() =>
            {
                self.condition(event, report);
            }
            _ => {}
        }
    }

    fn condition(&mut self, event: &Event, report: &mut Report<'_>) {
        let trace = report.trace;
        let Some(condition) = self.conditions.get_mut(event.operand as usize) else { return };
        match event.kind() {
            EventKind::Signal => condition.signals += 1,
            EventKind::Broadcast => condition.broadcast = true,
            _ => {
                if let Some(from) = trace.columns().refers.get(event.id.0) {
                    refers(event, from, report);
                } else if condition.signals == 0 && !condition.broadcast {
                    report.doubt(event.id, || {
                        let name = condition_name(trace, event);
                        format!("wakes from condition `{name}`, which nobody signalled")
                    });
                }
                condition.signals = condition.signals.saturating_sub(1);
            }
        }
    }
}

/// The event that a wake refers to must be able to wake it.
fn refers(event: &Event, from: u64, report: &mut Report<'_>) {
    let trace = report.trace;
    let good = u32::try_from(from).ok().map(EventId).is_some_and(|from| {
        from < event.id && {
            let from = trace.event(from);
            matches!(from.kind(), EventKind::Signal | EventKind::Broadcast)
                && from.operand == event.operand
        }
    });
    if !good {
        report.error(event.id, || {
            format!(
                "wakes from condition `{}` by event number {from}, which is no earlier signal of it",
                condition_name(trace, event)
            )
        });
    }
}
