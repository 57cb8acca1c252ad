//! The checker of witnesses of consistency: runs the handlers of a trace along an order of its
//! events.

use super::ends::{Of, ended_by};
use super::fault::{WitnessError, WitnessReason};
use super::mailbox::{MailboxRule, dues};
use super::model::{Model, Role, Source};
use super::pending::Pending;
use crate::lists::{Lists, Pointers};
use anyorder_system::Cancel;
use anyorder_trace::{Action, Event, EventId, EventKind, HandlerId, TaskId, Trace};
use std::collections::HashMap;

/// Checks that the handlers of a trace can run its events in this order. The definitions are in
/// [this module](super).
///
/// Time O(n log n) and memory O(n) for n events, whatever the order.
///
/// # Errors
///
/// Names the first event that cannot come at its position, or a missing one.
pub fn check_consistency_witness(
    trace: &Trace,
    mailboxes: MailboxRule,
    order: &[EventId],
) -> Result<(), WitnessError> {
    check_consistency_witness_until(trace, mailboxes, order, &Cancel::new())
}

/// The same, until it is stopped.
///
/// # Errors
///
/// As [`check_consistency_witness`]; the reason is [`WitnessReason::Stopped`] if the check was
/// stopped.
pub fn check_consistency_witness_until(
    trace: &Trace,
    mailboxes: MailboxRule,
    order: &[EventId],
    cancel: &Cancel,
) -> Result<(), WitnessError> {
    let model = Model::new(trace);
    let mut run = Run::new(&model, mailboxes);
    let refuse = |place, event: EventId, reason| {
        let label = match model.has(event) {
            true => trace.label(event),
            false => format!("number {}", event.0),
        };
        WitnessError { place, event, label, reason }
    };
    for (place, &event) in order.iter().enumerate() {
        let checked = cancel.check().map_err(WitnessReason::from);
        checked
            .and_then(|()| run.step(place, event, order))
            .map_err(|reason| refuse(place, event, reason))?;
    }
    match run.missing() {
        Some(event) => Err(refuse(order.len(), event, WitnessReason::Missing)),
        None => Ok(()),
    }
}

/// The state of the handlers and of memory after a prefix of the order.
struct Run<'m, 't> {
    model: &'m Model<'t>,
    /// By event.
    done: Vec<bool>,
    /// By event: the next needed event of its task.
    next: Vec<EventId>,
    tasks: Vec<TaskState>,
    handlers: Vec<HandlerState>,
    /// By location.
    memory: Vec<Cell>,
    pending: Pending,
    /// The needed events of each handler that runs one task at a time; and the forks of each
    /// handler.
    of_handler: Lists,
    forks_of: Lists,
    handlers_done: Pointers,
    forks_done: Pointers,
    /// By event that opens or ends something: its position.
    times: HashMap<EventId, usize>,
    /// By handler: the last join of it in the trace, of those that came.
    joined: HashMap<HandlerId, EventId>,
    /// The last end of each thing that binds.
    ended: HashMap<Of, EventId>,
}

#[derive(Clone, Copy)]
struct TaskState {
    /// Its next needed event; `NONE` when all are done.
    next: EventId,
    /// The last of its events so far; `NONE` before it began.
    last: EventId,
}

#[derive(Clone, Copy)]
struct HandlerState {
    /// The task it began last.
    runs: TaskId,
    /// The number of its initial tasks that still have needed events to come.
    initial_open: u32,
}

#[derive(Clone, Copy)]
struct Cell {
    /// The last write.
    last: EventId,
    /// The last write with a known position in the coherence order.
    ordered: EventId,
}

impl<'m, 't> Run<'m, 't> {
    fn new(model: &'m Model<'t>, mailboxes: MailboxRule) -> Run<'m, 't> {
        const NONE: EventId = EventId::NONE;
        let trace = model.trace;
        let tables = trace.tables();
        let mut tasks = vec![TaskState { next: NONE, last: NONE }; trace.tasks_count()];
        let mut next = vec![NONE; trace.len()];
        for event in trace.events().rev() {
            let task = &mut tasks[event.task.index()];
            next[event.id.index()] = task.next;
            if model.is_needed(event) {
                task.next = event.id;
            }
        }
        let mut handlers =
            vec![HandlerState { runs: TaskId::NONE, initial_open: 0 }; tables.handlers.len()];
        for task in trace.task_ids().filter(|&task| model.role(task) == Role::Initial) {
            if !tasks[task.index()].next.is_none() {
                handlers[model.span(task).handler.index()].initial_open += 1;
            }
        }
        let lists = |of: &dyn Fn(Event) -> Option<HandlerId>| {
            let listed = trace.events().filter_map(|event| Some((of(event)?.0, event.id.0)));
            Lists::new(listed.collect())
        };
        Run {
            model,
            done: vec![false; trace.len()],
            next,
            tasks,
            handlers,
            memory: vec![Cell { last: NONE, ordered: NONE }; tables.locations.len()],
            pending: Pending::new(model, dues(trace, mailboxes)),
            of_handler: lists(&|event| {
                Some(trace.handler_of(event.id)).filter(|_| model.is_needed(event))
            }),
            forks_of: lists(&|event| model.forks(event)),
            handlers_done: Pointers::default(),
            forks_done: Pointers::default(),
            times: HashMap::new(),
            joined: HashMap::new(),
            ended: HashMap::new(),
        }
    }

    /// The first needed event of the trace that did not come.
    fn missing(&self) -> Option<EventId> {
        self.tasks.iter().filter_map(|task| task.next.some()).min()
    }

    fn step(&mut self, place: usize, id: EventId, order: &[EventId]) -> Result<(), WitnessReason> {
        if !self.model.has(id) {
            return Err(WitnessReason::Unknown);
        }
        if self.done[id.index()] {
            return Err(WitnessReason::Twice);
        }
        let event = self.model.event(id);
        self.in_program_order(event)?;
        self.on_handler(event, order)?;
        self.is_alive(event)?;
        self.is_open(place, event)?;
        if self.model.is_needed(event) {
            self.effect(place, event)?;
        }
        self.finish(event);
        Ok(())
    }

    fn in_program_order(&self, event: Event) -> Result<(), WitnessReason> {
        let TaskState { next, last } = self.tasks[event.task.index()];
        if next < event.id {
            return Err(self.too_early(next, "program order"));
        }
        match last.some() {
            Some(last) if last > event.id => Err(self.too_late(last, "program order")),
            _ => Ok(()),
        }
    }

    /// Handlers run one task at a time, initial ones first.
    fn on_handler(&mut self, event: Event, order: &[EventId]) -> Result<(), WitnessReason> {
        let task = event.task;
        let Some(handler) = self.model.handler(task) else { return Ok(()) };
        let HandlerState { runs, initial_open } = self.handlers[handler.index()];
        if runs == task {
            return Ok(());
        }
        let begun = !self.tasks[task.index()].last.is_none();
        let initial = self.model.role(task) == Role::Initial;
        let others = runs.some().filter(|&runs| self.model.role(runs) == Role::Posted);
        if begun || (initial && others.is_some()) {
            let name = |runs: TaskId| self.model.trace.task_name(runs).to_owned();
            let task = runs.some().map(name).unwrap_or_default();
            return Err(WitnessReason::Left { handler: self.name(handler), task });
        }
        if let Some(next) = runs.some().and_then(|runs| self.tasks[runs.index()].next.some()) {
            return Err(WitnessReason::Busy {
                handler: self.name(handler),
                next: self.label(next),
            });
        }
        if !initial && initial_open > 0 {
            return Err(self.too_early(self.initial_of(handler), "initial task"));
        }
        if !initial {
            self.take(event, handler, order)?;
        }
        self.handlers[handler.index()].runs = task;
        Ok(())
    }

    fn take(
        &mut self,
        get: Event,
        handler: HandlerId,
        order: &[EventId],
    ) -> Result<(), WitnessReason> {
        let Some(post) = self.model.post(get.task) else { return Ok(()) };
        if !self.pending.waits(get.task) {
            return Err(self.too_early(post, "posted by"));
        }
        self.pending.take(get.task, handler).map_err(|time| {
            // Times are positions in the order.
            WitnessReason::Overtakes { first: self.label(order[time as usize]) }
        })
    }

    /// A handler runs between its forks and the joins of it.
    fn is_alive(&mut self, event: Event) -> Result<(), WitnessReason> {
        let handler = self.model.trace.handler_of(event.id);
        let is_done = |event: u32| self.done[event as usize];
        let fork = self.forks_of.first_open(handler.0, &mut self.forks_done, 0, is_done);
        if let Some(fork) = fork.map(EventId).filter(|fork| self.model.starts(*fork, event.id)) {
            return Err(self.too_early(fork, "fork"));
        }
        let joined = self.joined.get(&handler).copied();
        if let Some(join) = joined.filter(|join| self.model.ends(event.id, *join)) {
            return Err(self.too_late(join, "join"));
        }
        if let Some(joined) = self.model.joins(event) {
            let last = self.joined.entry(joined).or_insert(event.id);
            *last = event.id.max(*last);
        }
        Ok(())
    }

    /// What has ended does not begin.
    fn is_open(&mut self, place: usize, event: Event) -> Result<(), WitnessReason> {
        let model = self.model;
        if let Some(exit) = model.ends.exit(model.trace.handler_of(event.id).index())
            && self.done[exit.index()]
        {
            return Err(WitnessReason::Ended { end: self.label(exit) });
        }
        let is_done = |event: &EventId| self.done[event.index()];
        if let Some(post) = model.cancelled_post(event).filter(|post| !is_done(post)) {
            return Err(self.too_early(post, "cancel"));
        }
        if let Some(enable) = model.enabled_by(event).filter(|enable| !is_done(enable)) {
            return Err(self.too_early(enable, "enable"));
        }
        for &one in model.ends.beginnings(event.id) {
            let Some(&end) = self.ended.get(&one.of) else { continue };
            // What opened it may come later still: then the end is before that.
            let is_behind = match one.opened {
                Some(opened) => self.times.get(&opened).is_some_and(|at| at < &self.times[&end]),
                None => true,
            };
            if is_behind {
                return Err(WitnessReason::Ended { end: self.label(end) });
            }
        }
        if let Some(of) = ended_by(event.action()).filter(|of| self.binds(*of, event.id)) {
            self.ended.insert(of, event.id);
        }
        use EventKind::{Cancel, Disable, Enable, Post};
        if matches!(event.kind(), Cancel | Disable | Enable | Post) {
            self.times.insert(event.id, place);
        }
        Ok(())
    }

    /// Whether an end binds what it can end; of inputs, all do.
    fn binds(&self, of: Of, end: EventId) -> bool {
        let Of::Task(task) = of else { return true };
        if task.index() >= self.model.trace.tasks_count() {
            return false;
        }
        let first = self.model.span(task).first;
        let mut all = self.model.ends.beginnings(first).iter().filter(|one| one.of == of);
        all.any(|one| self.model.ends.binds(*one, first, end))
    }

    fn effect(&mut self, place: usize, event: Event) -> Result<(), WitnessReason> {
        let is_done = |event: u32| self.done[event as usize];
        match event.action() {
            Action::Post(_) => {
                // A task posts no later than at position `len`, which is less than 2^32.
                let posted = self.model.posts(event);
                if let Some((task, handler)) =
                    posted.and_then(|task| Some((task, self.model.handler(task)?)))
                {
                    self.pending.post(task, handler, place as u32);
                }
                Ok(())
            }
            Action::Join(_) => {
                let open = self.model.joins(event).and_then(|joined| {
                    self.of_handler.first_open(joined.0, &mut self.handlers_done, 0, is_done)
                });
                match open.map(EventId).filter(|&open| self.model.ends(open, event.id)) {
                    Some(open) => Err(self.too_early(open, "join")),
                    None => Ok(()),
                }
            }
            _ => self.access(event),
        }
    }

    fn access(&mut self, event: Event) -> Result<(), WitnessReason> {
        let kind = event.kind();
        if !kind.is_access() {
            return Ok(());
        }
        let Some(&Cell { last, ordered }) = self.memory.get(event.operand as usize) else {
            return Ok(());
        };
        if kind.reads() {
            let expected = match self.model.source(event.id) {
                Source::Any => last,
                Source::Initial => EventId::NONE,
                Source::Write(write) => write,
                Source::Wrong => return Err(WitnessReason::NotReadable),
            };
            if expected != last {
                let label = |write: EventId| write.some().map(|write| self.label(write));
                return Err(WitnessReason::Reads { seen: label(last), expected: label(expected) });
            }
        }
        if kind.writes() {
            let cell = &mut self.memory[event.operand as usize];
            cell.last = event.id;
            if let Some(place) = self.model.place(event.id) {
                let before = ordered.some().and_then(|before| self.model.place(before));
                if before.is_some_and(|before| before >= place) {
                    return Err(self.too_late(ordered, "coherence"));
                }
                cell.ordered = event.id;
            }
        }
        Ok(())
    }

    fn finish(&mut self, event: Event) {
        self.done[event.id.index()] = true;
        let task = &mut self.tasks[event.task.index()];
        task.last = event.id;
        if task.next != event.id {
            return;
        }
        task.next = self.next[event.id.index()];
        if task.next.is_none() && self.model.role(event.task) == Role::Initial {
            let handler = self.model.span(event.task).handler;
            self.handlers[handler.index()].initial_open -= 1;
        }
    }

    /// The next event of some incomplete initial task, for the error message.
    fn initial_of(&self, handler: HandlerId) -> EventId {
        let open = |&task: &TaskId| {
            self.model.role(task) == Role::Initial && self.model.span(task).handler == handler
        };
        let next = |task: TaskId| self.tasks[task.index()].next.some();
        let first = self.model.trace.task_ids().filter(open).find_map(next);
        first.unwrap_or(EventId::NONE)
    }

    fn label(&self, event: EventId) -> String {
        if self.model.has(event) { self.model.trace.label(event) } else { "?".to_owned() }
    }

    fn name(&self, handler: HandlerId) -> String {
        self.model.trace.handler_name(handler).to_owned()
    }

    fn too_early(&self, first: EventId, why: &'static str) -> WitnessReason {
        WitnessReason::TooEarly { first: self.label(first), why }
    }

    fn too_late(&self, later: EventId, why: &'static str) -> WitnessReason {
        WitnessReason::TooLate { later: self.label(later), why }
    }
}
