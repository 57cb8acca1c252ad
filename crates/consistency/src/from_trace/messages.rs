//! Assigns each event to a message and a position in it.

use super::{FromTraceError, Kept};
use crate::mailbox::Due;
use crate::partial::{Message, MessageId, Slot};
use anyorder_trace::{EventId, EventKind, HandlerId, TaskId, TaskKind, Trace, TraceOrder};

/// No message yet, or no handler.
const NONE: u32 = u32::MAX;

/// The messages of a trace, and the position of each event.
pub(super) struct Layout {
    /// The messages; numbered by their first events.
    pub(super) messages: Vec<Message>,
    /// By message: its role on its handler.
    pub(super) roles: Vec<Role>,
    /// By slot: the event.
    pub(super) events: Vec<EventId>,
    /// By event: its slot.
    pub(super) slot_of: Vec<Slot>,
    /// By event: its message.
    pub(super) message_of: Vec<MessageId>,
    /// The number of handlers that have messages; a separate sequence counts as a handler of its
    /// own.
    pub(super) handlers: u32,
    /// Whether the order of the trace is the order of execution.
    pub(super) observed: bool,
    /// By handler of the trace: its exit, if it runs posted tasks.
    pub(super) exits: Vec<Option<EventId>>,
}

/// The role of a message on its handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// Runs before all others of the handler.
    Initial,
    /// Runs while no other message of the handler runs.
    Posted,
    /// A separate sequence: a burst, or the handler's own code between its tasks.
    Alone,
    /// The handler's exit: comes after all its other events.
    Exit,
}

/// The state of a handler in a pass over the trace.
#[derive(Clone, Copy)]
struct Progress {
    /// Its initial message, or the current piece of its own code.
    current: u32,
    /// Whether its next own event begins a piece.
    cut: bool,
    /// Whether its initial message has ended, or there is none.
    past_initial: bool,
    /// Whether it runs posted tasks.
    runs_tasks: bool,
    /// Its last event; in a trace without an order of tasks, the last one of its own code.
    last: EventId,
    /// Its number among those that have messages.
    number: u32,
}

impl Layout {
    pub(super) fn new(trace: &Trace, kept: &mut Kept) -> Result<Layout, FromTraceError> {
        let mut layout = Layout {
            messages: Vec::new(),
            roles: Vec::new(),
            events: vec![EventId(0); trace.len()],
            slot_of: vec![0; trace.len()],
            message_of: Vec::with_capacity(trace.len()),
            handlers: 0,
            observed: trace.tables().meta.order == TraceOrder::Observed,
            exits: vec![None; trace.tables().handlers.len()],
        };
        layout.assign(trace, kept)?;
        layout.place();
        layout.find_exits(trace);
        let mut handlers: Vec<HandlerId> =
            layout.messages.iter().map(|message| message.handler_id).collect();
        handlers.sort_unstable();
        handlers.dedup();
        kept.handlers = handlers.len() as u64;
        Ok(layout)
    }

    /// Finds the message of each event, and counts the events of each message.
    fn assign(&mut self, trace: &Trace, kept: &mut Kept) -> Result<(), FromTraceError> {
        let mut progress = progress(trace, self.observed);
        let mut message_of_task = vec![NONE; trace.tasks_count()];
        for row in 0..trace.len() {
            let task = trace.columns().tasks[row];
            let handler = trace.span(task).handler;
            let Some(at) = progress.get_mut(handler.index()) else {
                return Err(FromTraceError::NoHandler { task });
            };
            let message = if trace.tables().tasks[task.index()].kind == TaskKind::Initial {
                self.own_code(trace, row, handler, at, kept)
            } else {
                let message = &mut message_of_task[task.index()];
                if *message == NONE {
                    *message = self.messages.len() as u32;
                    self.task(trace, task, handler, at, kept);
                }
                *message
            };
            self.messages[message as usize].slots.end += 1;
            self.message_of.push(message);
        }
        Ok(())
    }

    /// Begins the message of a posted task or a burst.
    fn task(
        &mut self,
        trace: &Trace,
        task: TaskId,
        handler: HandlerId,
        at: &mut Progress,
        kept: &mut Kept,
    ) {
        let span = trace.span(task);
        let posted = trace.tables().tasks[task.index()].kind == TaskKind::Posted;
        // A task that does not begin with its get was not taken from a mailbox.
        if posted && span.get == span.first {
            kept.posted += 1;
            self.begin(handler, task, Role::Posted, at);
            if self.observed {
                at.cut = true;
                at.past_initial = true;
            }
        } else {
            kept.bursts += 1;
            self.begin(handler, task, Role::Alone, at);
        }
    }

    /// Returns the message of an event of a handler's own code.
    fn own_code(
        &mut self,
        trace: &Trace,
        row: usize,
        handler: HandlerId,
        at: &mut Progress,
        kept: &mut Kept,
    ) -> MessageId {
        let kind = trace.columns().ops[row].kind();
        let behind_tasks = if self.observed { at.past_initial } else { at.runs_tasks };
        let exits = kind == EventKind::Exit && behind_tasks && at.last.index() == row;
        if at.current == NONE || at.cut || exits {
            let (role, count) = if exits {
                (Role::Exit, &mut kept.exits)
            } else if at.past_initial {
                (Role::Alone, &mut kept.pieces)
            } else {
                (Role::Initial, &mut kept.initial)
            };
            *count += 1;
            at.current = self.messages.len() as u32;
            at.cut = false;
            self.begin(handler, trace.columns().tasks[row], role, at);
        }
        // The own code of a handler with a mailbox, after the beginning of its loop, runs between
        // tasks.
        if self.observed && kind == EventKind::Loop && at.runs_tasks {
            at.cut = true;
            at.past_initial = true;
        }
        at.current
    }

    fn begin(&mut self, handler: HandlerId, task: TaskId, role: Role, at: &mut Progress) {
        let new = self.handlers;
        let number = match role {
            Role::Alone | Role::Exit => new,
            Role::Initial | Role::Posted => {
                if at.number == NONE {
                    at.number = new;
                }
                at.number
            }
        };
        self.handlers += u32::from(number == new);
        self.roles.push(role);
        self.messages.push(Message {
            handler: number,
            handler_id: handler,
            task,
            initial: role != Role::Posted,
            slots: 0..0,
            post: None,
            due: Due::After(0),
        });
    }

    /// Assigns each event its slot.
    fn place(&mut self) {
        let mut next = 0;
        for message in &mut self.messages {
            let count = message.slots.end;
            message.slots = next..next;
            next += count;
        }
        for (row, message) in self.message_of.iter().enumerate() {
            let end = &mut self.messages[*message as usize].slots.end;
            self.slot_of[row] = *end;
            self.events[*end as usize] = EventId(row as u32);
            *end += 1;
        }
    }

    /// Finds the exit of each handler that runs posted tasks: the last event of all, or, in a trace
    /// without an order of tasks, a message of its own.
    fn find_exits(&mut self, trace: &Trace) {
        let columns = trace.columns();
        let mut runs_tasks = vec![false; self.exits.len()];
        let mut last = vec![0; self.exits.len()];
        for row in 0..trace.len() {
            let task = columns.tasks[row];
            let handler = trace.span(task).handler.index();
            runs_tasks[handler] |= trace.tables().tasks[task.index()].kind == TaskKind::Posted;
            last[handler] = row;
            if columns.ops[row].kind() == EventKind::Exit {
                self.exits[handler] = self.exit(trace, row).or(self.exits[handler]);
            }
        }
        for (handler, exit) in self.exits.iter_mut().enumerate() {
            let is_last = |exit: &EventId| !self.observed || exit.index() == last[handler];
            *exit = exit.filter(|exit| runs_tasks[handler] && is_last(exit));
        }
    }

    fn exit(&self, trace: &Trace, row: usize) -> Option<EventId> {
        let posted =
            trace.tables().tasks[trace.columns().tasks[row].index()].kind == TaskKind::Posted;
        let alone = self.messages[self.message_of[row] as usize].slots.len() == 1;
        (!posted && (self.observed || alone)).then_some(EventId(row as u32))
    }

    /// Returns the events of a message.
    pub(super) fn events_of(&self, message: MessageId) -> &[EventId] {
        let slots = &self.messages[message as usize].slots;
        &self.events[slots.start as usize..slots.end as usize]
    }
}

/// Returns, by handler of the trace, its initial state.
fn progress(trace: &Trace, observed: bool) -> Vec<Progress> {
    let start = Progress {
        current: NONE,
        cut: false,
        past_initial: false,
        runs_tasks: false,
        last: EventId(0),
        number: NONE,
    };
    let mut progress = vec![start; trace.tables().handlers.len()];
    for (task, def) in trace.task_ids().zip(&trace.tables().tasks) {
        let span = trace.span(task);
        if let Some(at) = progress.get_mut(span.handler.index())
            && !span.first.is_none()
        {
            at.runs_tasks |= def.kind == TaskKind::Posted;
            if observed || def.kind == TaskKind::Initial {
                at.last = at.last.max(span.last);
            }
        }
    }
    progress
}
