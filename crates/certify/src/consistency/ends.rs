//! What ends what: cancels, disables, exits; `docs/consistency.md`, "What has ended".

use anyorder_trace::{Action, EventId, EventKind, InputId, TaskId, TaskKind, Trace, TraceOrder};
use std::collections::HashMap;

/// What an end ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Of {
    /// A task that waits.
    Task(TaskId),
    /// An input that is possible.
    Input(InputId),
}

/// A beginning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning {
    pub(super) of: Of,
    /// What opened it.
    pub(super) opened: Option<EventId>,
}

/// The beginnings and ends of a trace whose own code is split.
#[derive(Debug, Default)]
pub(super) struct Ends {
    beginnings: HashMap<EventId, Vec<Beginning>>,
    /// By handler.
    exits: Vec<Option<EventId>>,
    cancelled: Vec<bool>,
    observed: bool,
}

impl Ends {
    pub(super) fn new(trace: &Trace) -> Ends {
        let observed = trace.tables().meta.order == TraceOrder::Observed;
        let cancelled = vec![false; trace.tasks_count()];
        let mut ends =
            Ends { observed, cancelled, exits: find_exits(trace, observed), ..Ends::default() };
        let mut enabled: HashMap<InputId, EventId> = HashMap::new();
        for event in trace.events() {
            match event.action() {
                Action::Cancel(task) => ends.cancel(trace, task),
                Action::Enable(input) if observed => drop(enabled.insert(input, event.id)),
                Action::Disable(input) => drop(enabled.remove(&input)),
                Action::Trigger(input) => {
                    let Some(&enable) = enabled.get(&input) else { continue };
                    let one = Beginning { of: Of::Input(input), opened: Some(enable) };
                    ends.begins(event.id, one);
                    let get = trace.span(event.task).get;
                    let other = trace.event(enable).task != event.task;
                    if enable < get && get < event.id && other {
                        ends.begins(get, one);
                    }
                }
                _ => {}
            }
        }
        ends
    }

    fn cancel(&mut self, trace: &Trace, task: TaskId) {
        let is_posted = |def: &anyorder_trace::TaskDef| def.kind == TaskKind::Posted;
        if !trace.tables().tasks.get(task.index()).is_some_and(is_posted)
            || std::mem::replace(&mut self.cancelled[task.index()], true)
        {
            return;
        }
        let span = trace.span(task);
        if let Some(first) = span.first.some() {
            let opened = span.post.some();
            self.begins(first, Beginning { of: Of::Task(task), opened });
        }
    }

    fn begins(&mut self, event: EventId, one: Beginning) {
        let all = self.beginnings.entry(event).or_default();
        if !all.iter().any(|other| other.of == one.of) {
            all.push(one);
        }
    }

    /// What an event begins.
    pub(super) fn beginnings(&self, event: EventId) -> &[Beginning] {
        self.beginnings.get(&event).map_or(&[], Vec::as_slice)
    }

    /// The exit of a handler.
    pub(super) fn exit(&self, handler: usize) -> Option<EventId> {
        self.exits.get(handler).copied().flatten()
    }

    /// Whether some event cancels a task.
    pub(super) fn is_cancelled(&self, task: TaskId) -> bool {
        self.cancelled.get(task.index()).copied().unwrap_or(false)
    }

    /// Whether an end binds a beginning: in an observed trace, it does not stand between what
    /// opened the beginning and that.
    pub(super) fn binds(&self, one: Beginning, begins: EventId, end: EventId) -> bool {
        let is_behind = one.opened.is_none_or(|opened| opened < end);
        !(self.observed && is_behind && end < begins)
    }

    /// Whether the trace has the post of a task before a cancel of it.
    pub(super) fn is_posted(&self, post: EventId, cancel: EventId) -> bool {
        !self.observed || post < cancel
    }
}

/// What an event ends, if it is no exit.
pub(super) fn ended_by(action: Action) -> Option<Of> {
    match action {
        Action::Cancel(task) => Some(Of::Task(task)),
        Action::Disable(input) => Some(Of::Input(input)),
        _ => None,
    }
}

fn find_exits(trace: &Trace, observed: bool) -> Vec<Option<EventId>> {
    let handlers = trace.tables().handlers.len();
    let mut runs_tasks = vec![false; handlers];
    let mut last = vec![EventId::NONE; handlers];
    let mut exits = vec![None; handlers];
    for event in trace.events() {
        let span = trace.span(event.task);
        let handler = span.handler.index();
        if handler >= handlers {
            continue;
        }
        let posted = trace.tables().tasks[event.task.index()].kind == TaskKind::Posted;
        runs_tasks[handler] |= posted;
        last[handler] = event.id;
        if event.kind() == EventKind::Exit && !posted && (observed || span.first == span.last) {
            exits[handler] = Some(event.id);
        }
    }
    for (handler, exit) in exits.iter_mut().enumerate() {
        let fits = |exit: &EventId| !observed || *exit == last[handler];
        *exit = exit.filter(|exit| runs_tasks[handler] && fits(exit));
    }
    exits
}
