//! The notions of the rules, each computed by scanning the trace.

use anyorder_trace::{
    Action, Event, EventId, HandlerId, Input, Mailbox, TaskDef, TaskId, TaskKind, TaskSpan, Trace,
};

/// A trace. Nothing is cached between calls: they may be slow, and must be simple.
#[derive(Clone, Copy)]
pub(crate) struct View<'t> {
    pub(crate) trace: &'t Trace,
}

impl<'t> View<'t> {
    pub(crate) fn has(self, event: EventId) -> bool {
        event.index() < self.trace.len()
    }

    pub(crate) fn event(self, event: EventId) -> Event {
        self.trace.event(event)
    }

    pub(crate) fn events(self) -> impl DoubleEndedIterator<Item = Event> + 't {
        self.trace.events()
    }

    pub(crate) fn task_of(self, event: EventId) -> TaskId {
        self.event(event).task
    }

    pub(crate) fn def(self, task: TaskId) -> Option<&'t TaskDef> {
        self.trace.tables().tasks.get(task.index())
    }

    pub(crate) fn span(self, task: TaskId) -> Option<TaskSpan> {
        (task.index() < self.trace.tasks_count()).then(|| self.trace.span(task))
    }

    pub(crate) fn kind_of(self, event: EventId) -> Option<TaskKind> {
        self.def(self.task_of(event)).map(|def| def.kind)
    }

    /// The handler of a task; `None` if it is unknown.
    pub(crate) fn handler(self, task: TaskId) -> Option<HandlerId> {
        self.span(task)?.handler.some()
    }

    pub(crate) fn handler_of(self, event: EventId) -> Option<HandlerId> {
        self.handler(self.task_of(event))
    }

    pub(crate) fn mailbox(self, handler: HandlerId) -> Option<Mailbox> {
        self.trace.tables().handlers.get(handler.index()).map(|handler| handler.mailbox)
    }

    /// The task of an event, if it was posted and has begun.
    pub(crate) fn posted_task_of(self, event: EventId) -> Option<TaskId> {
        let task = self.task_of(event);
        self.get(task).map(|_| task)
    }

    /// `post(m)`.
    pub(crate) fn post(self, task: TaskId) -> Option<EventId> {
        self.span(task)?.post.some()
    }

    /// `get(m)` of a posted task.
    pub(crate) fn get(self, task: TaskId) -> Option<EventId> {
        if self.def(task)?.kind == TaskKind::Posted { self.span(task)?.get.some() } else { None }
    }

    /// `end(m)` of a posted task that has begun.
    pub(crate) fn end(self, task: TaskId) -> Option<EventId> {
        self.get(task)?;
        let span = self.span(task)?;
        span.end.some().or(span.last.some())
    }

    /// The input of an `enable`, `disable` or `trigger`.
    pub(crate) fn input_of(self, event: Event) -> Option<&'t Input> {
        match event.action() {
            Action::Enable(input) | Action::Disable(input) | Action::Trigger(input) => {
                self.trace.tables().inputs.get(input.index())
            }
            _ => None,
        }
    }
}
