//! The derived relations of a trace: roles of tasks, sources of reads, coherence, forks and joins.

use super::ends::{Ends, Of};
use anyorder_trace::{
    Action, Columns, Event, EventId, EventKind, HandlerId, TaskId, TaskKind, TaskSpan, Trace,
    TraceOrder,
};

/// The role of a task on its handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// Without events.
    Absent,
    /// Runs before all posted tasks of its handler.
    Initial,
    /// Runs to completion, while its handler runs nothing else.
    Posted,
    /// A separate sequence of events.
    Alone,
}

/// The source of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// Not a read, or unknown: no constraint.
    Any,
    /// The initial value.
    Initial,
    /// A write of the same location.
    Write(EventId),
    /// The trace refers to an event that is no write: neither answer is accepted because of it.
    Wrong,
}

/// In place of a position in the coherence order: the order is open.
const OPEN: u32 = u32::MAX;

/// A trace with its derived relations. Memory O(events + tasks); one or two passes.
pub(super) struct Model<'t> {
    pub(super) trace: &'t Trace,
    roles: Vec<Role>,
    sources: Vec<Source>,
    /// By event: the position in the coherence order; [`OPEN`] for all but writes with a known
    /// position.
    places: Vec<u32>,
    observed: bool,
    pub(super) ends: Ends,
}

impl<'t> Model<'t> {
    pub(super) fn new(trace: &'t Trace) -> Model<'t> {
        let observed = trace.tables().meta.order == TraceOrder::Observed;
        let roles = trace.task_ids().map(|task| role(trace, task)).collect();
        let places = places(trace, observed);
        let sources = sources(trace, observed);
        let ends = Ends::new(trace);
        Model { trace, roles, sources, places, observed, ends }
    }

    pub(super) fn has(&self, event: EventId) -> bool {
        event.index() < self.trace.len()
    }

    pub(super) fn event(&self, event: EventId) -> Event {
        self.trace.event(event)
    }

    pub(super) fn role(&self, task: TaskId) -> Role {
        self.roles.get(task.index()).copied().unwrap_or(Role::Absent)
    }

    /// The span of a task; call it only for tasks with a role.
    pub(super) fn span(&self, task: TaskId) -> TaskSpan {
        self.trace.span(task)
    }

    /// The handler that runs a task, one at a time with others; `None` for separate and absent
    /// tasks.
    pub(super) fn handler(&self, task: TaskId) -> Option<HandlerId> {
        match self.role(task) {
            Role::Initial | Role::Posted => Some(self.span(task).handler),
            Role::Absent | Role::Alone => None,
        }
    }

    /// The post of a posted task that runs.
    pub(super) fn post(&self, task: TaskId) -> Option<EventId> {
        if self.role(task) == Role::Posted { self.span(task).post.some() } else { None }
    }

    /// The task that a post puts into a mailbox, if that task ever runs.
    pub(super) fn posts(&self, event: Event) -> Option<TaskId> {
        match event.action() {
            Action::Post(task) if self.post(task) == Some(event.id) => Some(task),
            _ => None,
        }
    }

    /// Whether an event posts a task that something cancels.
    fn posts_cancelled(&self, event: Event) -> bool {
        match event.action() {
            Action::Post(task) => {
                self.ends.is_cancelled(task) && self.trace.span(task).post == event.id
            }
            _ => false,
        }
    }

    /// The post of the task that an event cancels, if the trace has it first.
    pub(super) fn cancelled_post(&self, event: Event) -> Option<EventId> {
        let Action::Cancel(task) = event.action() else { return None };
        let post =
            if self.ends.is_cancelled(task) { self.trace.span(task).post.some() } else { None };
        post.filter(|post| self.ends.is_posted(*post, event.id))
    }

    /// The `enable` that enables a `trigger`.
    pub(super) fn enabled_by(&self, event: Event) -> Option<EventId> {
        let Action::Trigger(input) = event.action() else { return None };
        let all = self.ends.beginnings(event.id).iter();
        all.filter(|one| one.of == Of::Input(input)).find_map(|one| one.opened)
    }

    pub(super) fn source(&self, read: EventId) -> Source {
        self.sources[read.index()]
    }

    /// The position of a write in the coherence order of its location; `None` where that is open.
    pub(super) fn place(&self, write: EventId) -> Option<u32> {
        let place = self.places[write.index()];
        (place != OPEN).then_some(place)
    }

    /// The handler that an event forks, unless it is the event's own.
    pub(super) fn forks(&self, event: Event) -> Option<HandlerId> {
        match event.action() {
            Action::Fork(handler) => self.other(event, handler),
            _ => None,
        }
    }

    /// The handler that an event joins, unless it is the event's own.
    pub(super) fn joins(&self, event: Event) -> Option<HandlerId> {
        match event.action() {
            Action::Join(handler) => self.other(event, handler),
            _ => None,
        }
    }

    fn other(&self, event: Event, handler: HandlerId) -> Option<HandlerId> {
        (self.trace.handler_of(event.id) != handler).then_some(handler)
    }

    /// Whether a fork of the event's own handler comes before the event. It always does, except in
    /// an observed trace when the fork follows the event there: a recorder may observe a handler
    /// before it sees its fork.
    pub(super) fn starts(&self, fork: EventId, event: EventId) -> bool {
        !self.observed || fork < event
    }

    /// Whether an event of the joined handler comes before the join; in an observed trace only if
    /// it precedes the join there.
    pub(super) fn ends(&self, event: EventId, join: EventId) -> bool {
        !self.observed || event < join
    }

    /// Whether an order must contain the event: whether it has an effect on other events.
    pub(super) fn is_needed(&self, event: Event) -> bool {
        match event.kind() {
            EventKind::Post => self.posts(event).is_some() || self.posts_cancelled(event),
            EventKind::Get | EventKind::Fork | EventKind::Join => true,
            EventKind::Cancel | EventKind::Enable | EventKind::Disable | EventKind::Trigger => true,
            EventKind::Exit => {
                let handler = self.trace.span(event.task).handler;
                self.ends.exit(handler.index()) == Some(event.id)
            }
            kind => kind.is_access(),
        }
    }
}

fn role(trace: &Trace, task: TaskId) -> Role {
    let span = trace.span(task);
    if span.first.is_none() {
        return Role::Absent;
    }
    let known = span.handler.index() < trace.tables().handlers.len();
    match trace.tables().tasks[task.index()].kind {
        TaskKind::Initial if known => Role::Initial,
        TaskKind::Posted if known && span.get == span.first => Role::Posted,
        _ => Role::Alone,
    }
}

/// In an observed trace, writes are in trace order. In other traces they follow the given coherence
/// orders; a single write has position 0.
fn places(trace: &Trace, observed: bool) -> Vec<u32> {
    let mut places = vec![OPEN; trace.len()];
    let mut given = vec![false; trace.tables().locations.len()];
    for order in &trace.tables().coherence {
        if let Some(given) = given.get_mut(order.location.index()) {
            *given = true;
        }
        for (place, &write) in order.writes.iter().enumerate() {
            let write = usize::try_from(write).ok().filter(|&write| write < trace.len());
            let Some(write) = write else { continue };
            let event = trace.event(EventId::from_index(write));
            if event.kind().writes() && event.location() == Some(order.location) {
                places[write] = u32::try_from(place).unwrap_or(OPEN);
            }
        }
    }
    let mut counts = vec![0u32; given.len()];
    let writes = || trace.events().filter(|event| event.kind().writes());
    for write in writes() {
        let location = write.operand as usize;
        let Some(count) = counts.get_mut(location).filter(|_| !given[location]) else { continue };
        if observed {
            places[write.id.index()] = *count;
        }
        *count += 1;
    }
    if !observed {
        for write in writes().filter(|write| counts.get(write.operand as usize) == Some(&1)) {
            places[write.id.index()] = 0;
        }
    }
    places
}

fn sources(trace: &Trace, observed: bool) -> Vec<Source> {
    let mut sources = vec![Source::Any; trace.len()];
    if observed {
        let mut last = vec![Source::Initial; trace.tables().locations.len()];
        for event in trace.events().filter(|event| event.kind().is_access()) {
            let Some(last) = last.get_mut(event.operand as usize) else { continue };
            if event.kind().reads() {
                sources[event.id.index()] = *last;
            }
            if event.kind().writes() {
                *last = Source::Write(event.id);
            }
        }
    }
    for (row, from) in trace.columns().refers.iter() {
        let read = EventId(row);
        if read.index() < trace.len() && trace.event(read).kind().reads() {
            sources[read.index()] = referred(trace, read, from);
        }
    }
    sources
}

fn referred(trace: &Trace, read: EventId, from: u64) -> Source {
    if from == Columns::INITIAL {
        return Source::Initial;
    }
    let from = usize::try_from(from).ok().filter(|&from| from < trace.len());
    let Some(from) = from.map(EventId::from_index) else { return Source::Wrong };
    let (read, write) = (trace.event(read), trace.event(from));
    let fits = write.kind().writes() && write.operand == read.operand && write.id != read.id;
    if fits { Source::Write(from) } else { Source::Wrong }
}
