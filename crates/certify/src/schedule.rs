//! Schedules: total orders of events that a program with these handlers, mailboxes and locks can
//! run.
//!
//! The conditions on the event at each position:
//! - it is in the trace, and not scheduled before;
//! - *program order*: the earlier events of its task are scheduled (for thread code: the earlier
//!   events of its piece, and the loop point before each piece). So a schedule is a prefix of every
//!   task;
//! - *one at a time*: a handler begins a task or a piece of thread code only when all events of the
//!   previous one are scheduled;
//! - *causes*: `post`, the loop point and the enabling come before `get`; `attach` before posts by
//!   others; a `fork` before the later events of the forked handler in the trace; all earlier
//!   events of a handler in the trace before a `join` of it; the signal before its `wake`; barrier
//!   events of one barrier in the order of the trace;
//! - *mailboxes*: unless the mailbox is a bag, a task begins only when the fifo rule puts no
//!   pending task first. A pending task is first if it was posted earlier in the schedule, the
//!   other task was not posted to the front, and its delay is absent or no greater. Ignored are
//!   pending tasks that were cancelled, that the trace never ran, or that the recorded run itself
//!   overtook in spite of this rule;
//! - *ends*: a task does not begin after it was cancelled, nor an input trigger after it was
//!   disabled, nor a task or piece of a handler after its exit (`ends`); a `cancel` comes after the
//!   post of its task;
//! - *locks*: an exclusive holder excludes other handlers, shared ones exclude exclusive ones, and
//!   a handler releases what it holds. A release of what it does not hold in the trace, either,
//!   whose acquire the recording missed, has no effect in any order; if it holds the lock in the
//!   other mode there, it gives back that mode.
//!
//! Not checked: that reads return the same values (another order may change what the program does
//! next), the relative order of several tasks posted to the front, virtual time, and, unless a
//! witness is checked with [`Lanes::Components`](crate::Lanes::Components), the rules of Android
//! components.

use crate::android::BroadcastOrder;
use crate::edges;
use crate::ends::EndsRun;
use crate::index::{TraceIndex, Unit};
use crate::lists::{Lists, Pointers};
use crate::pending::{Pending, Waiting};
use crate::schedule_text::ClaimedSchedule;
use crate::strays::Stray;
use crate::view::View;
use anyorder_system::{Cancel, StopReason, Stopped};
use anyorder_trace::{
    Action, Event, EventId, HandlerId, LockId, Mailbox, Position, TaskId, TaskKind, Trace,
};
use std::collections::HashMap;

/// A schedule that the program cannot run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("place {place}, event {}: {reason}", event.0)]
pub struct ScheduleError {
    /// The position in the schedule, from 0.
    pub place: usize,
    /// The event there.
    pub event: EventId,
    /// Why it cannot come there.
    pub reason: ScheduleReason,
}

/// Why an event cannot come at its position. Events are given by their position in the trace, from
/// 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ScheduleReason {
    /// The event is not in the trace, or its task has no handler.
    #[error("no such event, or no handler")]
    Unknown,
    /// The event was scheduled before.
    #[error("scheduled twice")]
    Twice,
    /// An event that must come first is missing or comes later.
    #[error("event {} must come first ({rule})", first.0)]
    TooEarly {
        /// The event.
        first: EventId,
        /// The name of the rule.
        rule: &'static str,
    },
    /// The handler has not finished another task or piece.
    #[error("the handler is in the middle of something else")]
    Busy,
    /// Another task must be taken from the mailbox first.
    #[error("task {} must be taken first", first.0)]
    Overtakes {
        /// The task.
        first: TaskId,
    },
    /// An event has ended what this one needs: it cancelled the task, disabled the input, or is the
    /// exit of the handler.
    #[error("event {} has ended what it needs", by.0)]
    Ended {
        /// The event.
        by: EventId,
    },
    /// The lock is held by another handler.
    #[error("the lock is held")]
    Held,
    /// The handler does not hold the lock that it releases.
    #[error("the lock is not held")]
    NotHeld,
    /// One of the two events is missing.
    #[error("not in the schedule")]
    Missing,
    /// The two events are one.
    #[error("cannot stand beside itself")]
    Itself,
    /// This event separates the two.
    #[error("stands between the two events")]
    Between,
    /// The check was stopped.
    #[error("{0}")]
    Stopped(StopReason),
}

impl From<Stopped> for ScheduleReason {
    fn from(Stopped(reason): Stopped) -> ScheduleReason {
        ScheduleReason::Stopped(reason)
    }
}

/// Checks that the program can run in this order; the module lists the conditions.
///
/// O(events), times a logarithm of the waiting tasks for each `get`; a `get` that comes in another
/// order than in the trace may look at all of them.
///
/// # Errors
///
/// Names the first event that cannot come at its position.
pub fn check_schedule(trace: &Trace, order: &[EventId]) -> Result<(), ScheduleError> {
    check_with_index(trace, &TraceIndex::new(trace), order.iter().copied(), &Cancel::new())
}

/// Checks what the text of a schedule claims, until the check is stopped.
///
/// # Errors
///
/// As [`check_schedule`] and, if it claims a pair, [`check_adjacent`]; the reason is
/// [`ScheduleReason::Stopped`] if the check was stopped.
pub fn check_claimed_schedule(
    trace: &Trace,
    claimed: &ClaimedSchedule,
    cancel: &Cancel,
) -> Result<(), ScheduleError> {
    let order = &claimed.order;
    check_with_index(trace, &TraceIndex::new(trace), order.iter().copied(), cancel)?;
    claimed.adjacent.map_or(Ok(()), |(a, b)| check_neighbours(trace, order, a, b))
}

/// The same, for one of several schedules of a trace.
pub(crate) fn check_with_index(
    trace: &Trace,
    index: &TraceIndex,
    order: impl Iterator<Item = EventId>,
    cancel: &Cancel,
) -> Result<(), ScheduleError> {
    let mut run = Run {
        view: View { trace },
        index,
        done: vec![false; trace.len()],
        executed: HashMap::new(),
        running: HashMap::new(),
        pending: HashMap::new(),
        holders: HashMap::new(),
        broadcast_order: BroadcastOrder::default(),
        waiting: <[Pointers; 3]>::default(),
        ends: EndsRun::default(),
    };
    for (place, event) in order.enumerate() {
        let checked = cancel.check().map_err(ScheduleReason::from);
        checked.and_then(|()| run.step(event)).map_err(|reason| ScheduleError {
            place,
            event,
            reason,
        })?;
    }
    Ok(())
}

/// Checks that the program can run in this order, and that `a` and `b` are neighbours in it, in
/// either order: between them are only events of other handlers; if both are of one handler, also
/// events of their own two tasks.
///
/// # Errors
///
/// As [`check_schedule`]; and names an event between the two, or a missing one of them (with the
/// length of the schedule as its position).
pub fn check_adjacent(
    trace: &Trace,
    order: &[EventId],
    a: EventId,
    b: EventId,
) -> Result<(), ScheduleError> {
    check_schedule(trace, order)?;
    check_neighbours(trace, order, a, b)
}

/// Checks that two events of an order are neighbours in it.
fn check_neighbours(
    trace: &Trace,
    order: &[EventId],
    a: EventId,
    b: EventId,
) -> Result<(), ScheduleError> {
    let place_of = |event: EventId| {
        let missing = ScheduleReason::Missing;
        let error = ScheduleError { place: order.len(), event, reason: missing };
        order.iter().position(|&other| other == event).ok_or(error)
    };
    let (place_a, place_b) = (place_of(a)?, place_of(b)?);
    if a == b {
        let reason = ScheduleReason::Itself;
        return Err(ScheduleError { place: order.len(), event: a, reason });
    }
    let (first, last) = (place_a.min(place_b), place_a.max(place_b));
    let view = View { trace };
    let handlers = [view.handler_of(a), view.handler_of(b)];
    let tasks = [view.task_of(a), view.task_of(b)];
    for (place, &event) in order.iter().enumerate().take(last).skip(first + 1) {
        let elsewhere = !handlers.contains(&view.handler_of(event));
        let own = handlers[0] == handlers[1] && tasks.contains(&view.task_of(event));
        if !elsewhere && !own {
            return Err(ScheduleError { place, event, reason: ScheduleReason::Between });
        }
    }
    Ok(())
}

/// A run of the program along a schedule.
struct Run<'t> {
    view: View<'t>,
    index: &'t TraceIndex,
    /// By event of the trace.
    done: Vec<bool>,
    /// By unit: the number of its executed events.
    executed: HashMap<Unit, u32>,
    /// By handler: the unit it began last.
    running: HashMap<HandlerId, Unit>,
    /// By handler: posted and not taken.
    pending: HashMap<HandlerId, Pending>,
    holders: HashMap<LockId, Vec<Holder>>,
    broadcast_order: BroadcastOrder,
    /// By handler, its events, its forks; by barrier, its events: how many happened.
    waiting: [Pointers; 3],
    ends: EndsRun,
}

#[derive(Clone, Copy, Debug)]
struct Holder {
    handler: HandlerId,
    shared: bool,
    times: u32,
}

impl Run<'_> {
    fn step(&mut self, id: EventId) -> Result<(), ScheduleReason> {
        let Some(done) = self.done.get(id.index()) else { return Err(ScheduleReason::Unknown) };
        if *done {
            return Err(ScheduleReason::Twice);
        }
        let handler = self.view.handler_of(id).ok_or(ScheduleReason::Unknown)?;
        let event = self.view.event(id);
        self.after(self.index.facts[id.index()].previous, "po")?;
        self.turn(handler, id)?;
        self.causes(event)?;
        self.mailboxes(event)?;
        self.ends.step(&self.index.ends, 0, id).map_err(|by| ScheduleReason::Ended { by })?;
        self.locks(event, handler)?;
        self.components(id)?;
        self.done[id.index()] = true;
        *self.executed.entry(self.index.facts[id.index()].unit).or_insert(0) += 1;
        Ok(())
    }

    fn after(&self, first: Option<EventId>, rule: &'static str) -> Result<(), ScheduleReason> {
        match first {
            Some(first) if !self.done[first.index()] => {
                Err(ScheduleReason::TooEarly { first, rule })
            }
            _ => Ok(()),
        }
    }

    /// One task or piece at a time. Untracked handlers may interleave bursts.
    fn turn(&mut self, handler: HandlerId, id: EventId) -> Result<(), ScheduleReason> {
        if self.view.kind_of(id) == Some(TaskKind::Burst) {
            return Ok(());
        }
        let unit = self.index.facts[id.index()].unit;
        if let Some(other) = self.running.insert(handler, unit).filter(|&other| other != unit)
            && self.executed.get(&other) != self.index.sizes.get(&other)
        {
            return Err(ScheduleReason::Busy);
        }
        Ok(())
    }

    fn causes(&mut self, event: Event) -> Result<(), ScheduleReason> {
        let view = self.view;
        let id = event.id;
        let handler = view.handler(event.task);
        match event.action() {
            Action::Post(task) => {
                if let Some(to) = view.handler(task).filter(|&to| handler != Some(to)) {
                    let attach = self.index.attaches.get(&to).copied();
                    self.after(attach.filter(|&attach| attach < id), "attach")?;
                }
                self.after(self.enabled_by(task, id), "enable")?;
            }
            Action::Get(_) if view.get(event.task) == Some(id) => {
                self.after(view.post(event.task).filter(|&post| post < id), "post")?;
                let point =
                    handler.and_then(|handler| self.index.loop_points.get(&handler).copied());
                self.after(point.filter(|&point| point < id), "loop")?;
                self.after(self.enabled_by(event.task, id), "enable")?;
            }
            Action::Cancel(task) => {
                self.after(view.post(task).filter(|&post| post < id), "cancel")?;
            }
            Action::Trigger(_) => {
                let enable = edges::enable_of(view, (self.index, self.index.rules()), event);
                self.after(enable, "enable")?;
            }
            Action::Wake(_) => {
                self.after(self.index.wakes.get(&id).map(|found| found.signal), "wake")?;
            }
            Action::Join(joined) => {
                let lists = [&self.index.of_handler, &self.index.forks];
                let [events, forks, _] = &mut self.waiting;
                let open = lists.into_iter().zip([events, forks]).filter_map(|(list, pointers)| {
                    first_open(list, joined.0, pointers, &self.done).filter(|open| *open < id)
                });
                let open = open.min();
                self.after(open, "join")?;
            }
            Action::Barrier(of) => {
                let [.., pointers] = &mut self.waiting;
                let open = first_open(&self.index.barriers, of.0, pointers, &self.done);
                self.after(open.filter(|open| *open < id), "barrier")?;
            }
            _ => {}
        }
        let Some(handler) = handler else { return Ok(()) };
        let open = first_open(&self.index.forks, handler.0, &mut self.waiting[1], &self.done);
        self.after(open.filter(|open| *open < id), "fork")
    }

    /// The event that enabled the input event of a posted task, if it precedes `event`.
    fn enabled_by(&self, task: TaskId, event: EventId) -> Option<EventId> {
        let view = self.view;
        view.get(task)?;
        let triggers = self.index.triggers.get(&task).into_iter().flatten();
        let enables =
            triggers.filter_map(|&t| edges::enable_of(view, (self.index, self.index.rules()), t));
        let others = |enable: &EventId| view.task_of(*enable) != task && *enable < event;
        enables.filter(others).find(|enable| !self.done[enable.index()])
    }

    /// Checks the component rules, if requested.
    fn components(&mut self, id: EventId) -> Result<(), ScheduleReason> {
        let Some(orders) = &self.index.components else { return Ok(()) };
        for before in orders.before(id) {
            self.after(Some(before), "component")?;
        }
        let late = |first| ScheduleReason::TooEarly { first, rule: "component" };
        self.broadcast_order.take(orders, id).map_err(late)
    }

    fn mailboxes(&mut self, event: Event) -> Result<(), ScheduleReason> {
        let view = self.view;
        match event.action() {
            Action::Post(task) if view.post(task) == Some(event.id) => {
                if let (Some(to), Some(one)) = (view.handler(task), waiting(view, task)) {
                    self.pending.entry(to).or_default().push(one);
                }
            }
            Action::Cancel(task) => {
                let to = view.handler(task);
                if let Some(pending) = to.and_then(|to| self.pending.get_mut(&to)) {
                    pending.remove(task);
                }
            }
            Action::Get(_) if view.get(event.task) == Some(event.id) => {
                let handler = view.handler(event.task);
                let pending = handler.and_then(|handler| self.pending.get_mut(&handler));
                let (Some(handler), Some(pending)) = (handler, pending) else { return Ok(()) };
                let is_fifo = view.mailbox(handler) != Some(Mailbox::Bag)
                    && view.def(event.task).is_some_and(|task| task.position == Position::Back);
                if let Some(second) = waiting(view, event.task).filter(|_| is_fifo)
                    && let Some(first) = pending.first_before(second)
                {
                    return Err(ScheduleReason::Overtakes { first });
                }
                pending.remove(event.task);
            }
            _ => {}
        }
        Ok(())
    }

    fn locks(&mut self, event: Event, handler: HandlerId) -> Result<(), ScheduleReason> {
        match event.action() {
            Action::Acquire(lock, mode) => {
                let holders = self.holders.entry(lock).or_default();
                let shared = mode.is_shared();
                if holders.iter().any(|h| h.handler != handler && !(h.shared && shared)) {
                    return Err(ScheduleReason::Held);
                }
                match holders.iter_mut().find(|h| h.handler == handler && h.shared == shared) {
                    Some(holder) => holder.times += 1,
                    None => holders.push(Holder { handler, shared, times: 1 }),
                }
            }
            Action::Release(lock, mode) => {
                let mut shared = mode.is_shared();
                match self.index.strays.get(&event.id) {
                    Some(Stray::OtherMode) => shared = !shared,
                    Some(Stray::NotHeld) => return Ok(()),
                    None => {}
                }
                let holders = self.holders.entry(lock).or_default();
                let is_own = |h: &Holder| h.handler == handler && h.shared == shared;
                let Some(at) = holders.iter().position(is_own) else {
                    return Err(ScheduleReason::NotHeld);
                };
                holders[at].times -= 1;
                if holders[at].times == 0 {
                    holders.remove(at);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The first event of a list that is not done.
fn first_open(
    list: &Lists,
    number: u32,
    pointers: &mut Pointers,
    done: &[bool],
) -> Option<EventId> {
    list.first_open(number, pointers, 0, |event| done[event as usize]).map(EventId)
}

/// A task as its mailbox sees it; `None` if it is not taken in the trace.
fn waiting(view: View<'_>, task: TaskId) -> Option<Waiting> {
    let (def, get) = (view.def(task)?, view.get(task)?);
    Some(Waiting { task, delay: def.delay, post: view.post(task), get })
}
