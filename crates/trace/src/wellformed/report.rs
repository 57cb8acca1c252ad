//! Collects problems, each with the label of its event.

use crate::error::{Place, Problem, Problems, Severity, Unknown};
use crate::event::Event;
use crate::ids::{EventId, HandlerId, InputId, LocationId, TaskId};
use crate::tables::{LabelScheme, TraceOrder};
use crate::trace::Trace;

/// The problems so far, and the facts about the trace that the rules need.
pub(super) struct Report<'a> {
    pub(super) trace: &'a Trace,
    /// Whether the trace has the order in which its events happened.
    pub(super) observed: bool,
    /// Whether the run began before the trace.
    pub(super) is_rest: bool,
    /// Whether the recorder watched only part of the program.
    partly_watched: bool,
    problems: Problems,
}

impl<'a> Report<'a> {
    pub(super) fn new(trace: &'a Trace, is_rest: bool) -> Report<'a> {
        let meta = &trace.tables().meta;
        Report {
            trace,
            observed: meta.order == TraceOrder::Observed,
            is_rest,
            partly_watched: meta.origin == "droidracer",
            problems: Problems::default(),
        }
    }

    /// Adds an error at an event. The message continues after the event's label.
    pub(super) fn error(&mut self, event: EventId, message: impl FnOnce() -> String) {
        self.add(Severity::Error, event, message);
    }

    /// Adds an error, or a warning if part of the program was not watched.
    pub(super) fn error_if_watched(&mut self, event: EventId, message: impl FnOnce() -> String) {
        let severity = if self.partly_watched { Severity::Warning } else { Severity::Error };
        self.add(severity, event, message);
    }

    /// Adds a warning at an event.
    pub(super) fn warning(&mut self, event: EventId, message: impl FnOnce() -> String) {
        self.add(Severity::Warning, event, message);
    }

    /// Adds a warning at an event whose effect is not known, so that a result may miss something.
    pub(super) fn doubt(&mut self, event: EventId, message: impl FnOnce() -> String) {
        let treated = (!self.partly_watched).then_some(Unknown::LeftOut);
        self.push(Severity::Warning, treated, event, message);
    }

    fn add(&mut self, severity: Severity, event: EventId, message: impl FnOnce() -> String) {
        self.push(severity, None, event, message);
    }

    fn push(
        &mut self,
        severity: Severity,
        treated: Option<Unknown>,
        event: EventId,
        message: impl FnOnce() -> String,
    ) {
        let trace = self.trace;
        self.problems.push_with(severity, || {
            let message = format!("event {} {}", label(trace, event), message());
            let number = trace.columns().numbers.get(event.index());
            let line = match (trace.tables().meta.labels, number) {
                (LabelScheme::Line, Some(line)) => Some(u64::from(*line)),
                _ => None,
            };
            let place = Place { line, event: Some(u64::from(event.0)), ..Place::default() };
            Problem { severity, ..Problem::error(place, message) }.treated_as(treated)
        });
    }

    /// Returns the handler of an event's task.
    pub(super) fn handler(&self, event: &Event) -> HandlerId {
        self.trace.span(event.task).handler
    }

    pub(super) fn finish(self) -> Problems {
        self.problems
    }
}

/// Returns the label of an event in the form that `find` accepts.
pub(super) fn label(trace: &Trace, event: EventId) -> String {
    let label = trace.label(event);
    match trace.tables().meta.labels {
        _ if label.starts_with('@') => format!("`{label}`"),
        LabelScheme::AccessOrOperation if trace.event(event).kind().is_access() => {
            format!("rwId:{label}")
        }
        LabelScheme::AccessOrOperation => format!("op:{label}"),
        _ => format!("`{label}`"),
    }
}

/// Returns the name of a handler, `?` for one that is not in the table.
pub(super) fn handler_name(trace: &Trace, handler: HandlerId) -> &str {
    let known = handler.index() < trace.tables().handlers.len();
    if known { trace.handler_name(handler) } else { "?" }
}

/// Returns the name of a task, `?` for one that is not in the table.
pub(super) fn task_name(trace: &Trace, task: TaskId) -> &str {
    if task.index() < trace.tasks_count() { trace.task_name(task) } else { "?" }
}

/// Returns the name of the lock that an event is about.
pub(super) fn lock_name<'a>(trace: &'a Trace, event: &Event) -> &'a str {
    let name = trace.tables().locks.get(event.operand as usize).copied();
    trace.tables().name(name.unwrap_or_default())
}

/// Returns the name of the condition that an event is about.
pub(super) fn condition_name<'a>(trace: &'a Trace, event: &Event) -> &'a str {
    let name = trace.tables().conditions.get(event.operand as usize).copied();
    trace.tables().name(name.unwrap_or_default())
}

/// Returns the location that an event is about.
pub(super) fn location_name(trace: &Trace, event: &Event) -> String {
    let known = (event.operand as usize) < trace.tables().locations.len();
    if known { trace.location_text(LocationId(event.operand)) } else { "?".to_owned() }
}

/// Returns the input that an event is about.
pub(super) fn input_name(trace: &Trace, event: &Event) -> String {
    let known = (event.operand as usize) < trace.tables().inputs.len();
    if known { trace.tables().input_text(InputId(event.operand)) } else { "?".to_owned() }
}
