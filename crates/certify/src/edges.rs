//! Section 1 of `docs/happens-before.md`: the base edges, each checked from the definition.

use crate::check::Checker;
use crate::index::TraceIndex;
use crate::proof::{Rule, RuleSet};
use crate::reason::Reason;
use crate::view::View;
use anyorder_trace::{
    Action, Event, EventId, EventKind, InputFamily, LockId, Mode, TaskId, TaskKind,
};

/// Checks one base edge. The caller has checked that it goes forward and needs no premises.
pub(crate) fn check(
    checker: Checker<'_>,
    rule: &Rule,
    from: EventId,
    to: EventId,
) -> Result<(), Reason> {
    let Checker { view, rules, index, .. } = checker;
    match rule {
        Rule::Po if rules == RuleSet::Threads => po_of_threads(view, from, to),
        Rule::Po => po(checker, from, to),
        Rule::LoopPoint => loop_point(checker, from, to),
        Rule::Attach => attach(checker, from, to),
        Rule::Post => post(view, from, to),
        Rule::Cancel => cancel(view, from, to),
        Rule::Fork => fork(view, index, from, to),
        Rule::Join => join(view, from, to),
        Rule::Lock => lock(view, from, to),
        Rule::Wake => wake(view, index, from, to),
        Rule::Barrier => barrier(view, from, to),
        Rule::Atomic => atomic(view, index, from, to),
        Rule::Enable => enable(view, (index, rules), from, to),
        _ => Err(Reason::Kind("not a rule of section 1")),
    }
}

pub(crate) fn require(holds: bool, otherwise: Reason) -> Result<(), Reason> {
    if holds { Ok(()) } else { Err(otherwise) }
}

pub(crate) fn condition(holds: bool, otherwise: &'static str) -> Result<(), Reason> {
    require(holds, Reason::Condition(otherwise))
}

/// Whether program order leads from one event to a later one, in rule sets with task orders.
fn po(Checker { view, index, .. }: Checker<'_>, from: EventId, to: EventId) -> Result<(), Reason> {
    let initial = |event| view.kind_of(event) == Some(TaskKind::Initial);
    if !(initial(from) && initial(to)) {
        return condition(view.task_of(from) == view.task_of(to), "events of different tasks");
    }
    let Some(handler) = view.handler_of(from) else {
        return Err(Reason::Unknown("handler"));
    };
    condition(view.handler_of(to) == Some(handler), "thread code of different handlers")?;
    // Up to the loop point all thread code is in sequence, and the loop point is before every
    // piece.
    if index.loop_points.get(&handler).is_some_and(|point| from <= *point) {
        return Ok(());
    }
    let unit = |event: EventId| index.facts[event.index()].unit;
    condition(unit(from) == unit(to), "pieces of thread code with a task between them")
}

fn po_of_threads(view: View<'_>, from: EventId, to: EventId) -> Result<(), Reason> {
    let burst = |event| view.kind_of(event) == Some(TaskKind::Burst);
    if burst(from) || burst(to) {
        return condition(view.task_of(from) == view.task_of(to), "events of different bursts");
    }
    let handler = view.handler_of(from);
    let same = handler.is_some() && handler == view.handler_of(to);
    condition(same || view.task_of(from) == view.task_of(to), "events of different handlers")
}

fn loop_point(
    Checker { view, index, .. }: Checker<'_>,
    from: EventId,
    to: EventId,
) -> Result<(), Reason> {
    let handler = get_of(view, to).and_then(|task| view.handler(task));
    let Some(handler) = handler else {
        return Err(Reason::Kind("target is not the `get` of a posted task"));
    };
    let point = index.loop_points.get(&handler);
    condition(point == Some(&from), "source is not the handler's loop point")
}

fn attach(
    Checker { view, index, .. }: Checker<'_>,
    from: EventId,
    to: EventId,
) -> Result<(), Reason> {
    let Action::Attach(handler) = view.event(from).action() else {
        return Err(Reason::Kind("source is not an `attach`"));
    };
    let Action::Post(task) = view.event(to).action() else {
        return Err(Reason::Kind("target is not a `post`"));
    };
    let first = index.attaches.get(&handler);
    condition(first == Some(&from), "not the first `attach` of the handler")?;
    condition(view.handler(task) == Some(handler), "posts to another handler")?;
    condition(view.handler_of(to) != Some(handler), "posted by the handler itself")
}

fn cancel(view: View<'_>, from: EventId, to: EventId) -> Result<(), Reason> {
    let Action::Cancel(task) = view.event(to).action() else {
        return Err(Reason::Kind("target is no `cancel`"));
    };
    condition(view.post(task) == Some(from), "not the post of the task")
}

fn post(view: View<'_>, from: EventId, to: EventId) -> Result<(), Reason> {
    let Some(task) = get_of(view, to) else {
        return Err(Reason::Kind("target is not the `get` of a posted task"));
    };
    condition(view.post(task) == Some(from), "source is not the `post` of the task that begins")
}

fn fork(view: View<'_>, index: &TraceIndex, from: EventId, to: EventId) -> Result<(), Reason> {
    let is_fork = view.event(from).kind() == EventKind::Fork;
    require(is_fork, Reason::Kind("source is not a `fork`"))?;
    condition(
        index.first_after_fork.get(&from) == Some(&to),
        "target is not the handler's first event behind it",
    )
}

fn join(view: View<'_>, from: EventId, to: EventId) -> Result<(), Reason> {
    let Action::Join(handler) = view.event(to).action() else {
        return Err(Reason::Kind("target is not a `join`"));
    };
    let is_fork = view.event(from).action() == Action::Fork(handler);
    condition(
        is_fork || view.handler_of(from) == Some(handler),
        "source is not of the joined handler",
    )
}

fn lock(view: View<'_>, from: EventId, to: EventId) -> Result<(), Reason> {
    let released = held(view.event(from), EventKind::Release);
    let (lock, release) = released.ok_or(Reason::Kind("source is not a `release`"))?;
    let taken = held(view.event(to), EventKind::Acquire);
    let (other, acquire) = taken.ok_or(Reason::Kind("target is not an `acquire`"))?;
    condition(lock == other, "different locks")?;
    condition(view.handler_of(from) != view.handler_of(to), "tasks of one handler")?;
    condition(!(release.is_shared() && acquire.is_shared()), "both are shared")
}

fn held(event: Event, kind: EventKind) -> Option<(LockId, Mode)> {
    match event.action() {
        Action::Acquire(lock, mode) | Action::Release(lock, mode) if event.kind() == kind => {
            Some((lock, mode))
        }
        _ => None,
    }
}

fn wake(view: View<'_>, index: &TraceIndex, from: EventId, to: EventId) -> Result<(), Reason> {
    require(view.event(to).kind() == EventKind::Wake, Reason::Kind("target is not a `wake`"))?;
    let signal = index.wakes.get(&to).map(|found| found.signal);
    condition(signal == Some(from), "source is not what the `wake` answers")
}

fn barrier(view: View<'_>, from: EventId, to: EventId) -> Result<(), Reason> {
    let (x, y) = (view.event(from), view.event(to));
    let are_barriers = [x, y].iter().all(|event| event.kind() == EventKind::Barrier);
    require(are_barriers, Reason::Kind("not two `barrier` events"))?;
    condition(x.operand == y.operand, "different barriers")?;
    condition(x.task != y.task, "events of one task")
}

fn atomic(view: View<'_>, index: &TraceIndex, from: EventId, to: EventId) -> Result<(), Reason> {
    let read = view.event(to);
    let acquires = read.kind().reads() && read.mode().acquires();
    require(acquires, Reason::Kind("target is not an acquiring atomic read"))?;
    let write = view.event(from);
    let releases = write.kind().writes() && write.mode().releases();
    require(releases, Reason::Kind("source is not a releasing atomic write"))?;
    condition(write.operand == read.operand, "different locations")?;
    condition(
        from < to && index.sequence.get(&to).is_some_and(|first| *first <= from),
        "between them is a write of the location that is no atomic rmw",
    )
}

fn enable(
    view: View<'_>,
    (index, rules): (&TraceIndex, RuleSet),
    from: EventId,
    to: EventId,
) -> Result<(), Reason> {
    let is_enable = view.event(from).kind() == EventKind::Enable;
    require(is_enable, Reason::Kind("source is not an `enable`"))?;
    let enabled = |trigger: Event| enable_of(view, (index, rules), trigger) == Some(from);
    let target = view.event(to);
    let is_trigger = target.kind() == EventKind::Trigger && enabled(target);
    // The task that the target begins, or posts.
    let posted = match target.action() {
        Action::Post(task) if view.get(task).is_some() && view.post(task) == Some(to) => Some(task),
        _ => get_of(view, to),
    };
    let other = posted.filter(|&task| task != view.task_of(from));
    let triggers = other.and_then(|task| index.triggers.get(&task)).into_iter().flatten();
    let found = is_trigger || triggers.copied().any(enabled);
    condition(found, "no trigger that the `enable` made possible, or task of one, is the target")
}

/// The enable of a trigger, for the families that section 1 covers.
pub(crate) fn enable_of(
    view: View<'_>,
    (index, rules): (&TraceIndex, RuleSet),
    trigger: Event,
) -> Option<EventId> {
    let family = view.input_of(trigger)?.family;
    let plain = matches!(family, InputFamily::Plain | InputFamily::Ui | InputFamily::Focus);
    if !(plain || rules == RuleSet::Mailbox) {
        return None;
    }
    index.enables.get(&trigger.id).copied()
}

/// The posted task that begins with an event.
fn get_of(view: View<'_>, event: EventId) -> Option<TaskId> {
    let task = view.task_of(event);
    (view.get(task) == Some(event)).then_some(task)
}
