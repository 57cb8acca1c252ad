//! The links of cycles, each checked from its definition.

use super::ends::ended_by;
use super::mailbox::Due;
use super::model::{Model, Role, Source};
use super::proof::{Fact, Link, Why};
use anyorder_trace::{EventId, TaskId};

/// Checks one link.
///
/// # Errors
///
/// Fails with the missing condition.
pub(super) fn check(model: &Model<'_>, dues: &[Due], link: &Link) -> Result<(), &'static str> {
    let Link { from, to, why } = *link;
    if !model.has(from) || !model.has(to) {
        return Err("no such event");
    }
    match why {
        Why::Program => program(model, from, to),
        Why::ReadsFrom => {
            require(model.source(to) == Source::Write(from), "the second does not read from it")
        }
        Why::Coherence => coherence(model, from, to),
        Why::FromReads => from_reads(model, from, to),
        Why::PostedBy => posted_by(model, from, to),
        Why::Fork => fork(model, from, to),
        Why::Join => join(model, from, to),
        Why::Cancel => {
            let post = model.cancelled_post(model.event(to));
            require(post == Some(from), "the first does not post what the second cancels")
        }
        Why::Enable => {
            let enable = model.enabled_by(model.event(to));
            require(enable == Some(from), "the first does not enable the second")
        }
        Why::Ended => ended(model, from, to),
        Why::Decided(fact) => decided(model, dues, fact, from, to),
    }
}

/// Checks that a fact is about two messages of one handler, or about two events.
///
/// # Errors
///
/// Fails with the mistake.
pub(super) fn check_fact(model: &Model<'_>, fact: Fact) -> Result<(), &'static str> {
    match fact {
        Fact::Runs { first, second } => {
            let handler = model.handler(first).ok_or("the first is no message of a handler")?;
            require(model.handler(second) == Some(handler), "not two messages of one handler")?;
            require(first != second, "a message and itself")
        }
        Fact::Before { first, second } => {
            require(model.has(first) && model.has(second), "no such event")?;
            require(first != second, "an event and itself")
        }
    }
}

pub(super) fn require(holds: bool, otherwise: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(otherwise) }
}

fn program(model: &Model<'_>, from: EventId, to: EventId) -> Result<(), &'static str> {
    let (first, second) = (model.event(from).task, model.event(to).task);
    if first == second {
        return require(from < to, "not earlier in the task");
    }
    let initial = model.role(first) == Role::Initial && model.role(second) == Role::Posted;
    require(initial, "not of one task, nor an initial and a posted one")?;
    require(model.handler(first) == model.handler(second), "tasks of different handlers")
}

fn coherence(model: &Model<'_>, from: EventId, to: EventId) -> Result<(), &'static str> {
    let (first, second) = (model.event(from), model.event(to));
    require(first.kind().writes() && second.kind().writes(), "not two writes")?;
    require(first.operand == second.operand, "different locations")?;
    in_coherence(model, from, to)
}

fn in_coherence(model: &Model<'_>, from: EventId, to: EventId) -> Result<(), &'static str> {
    match (model.place(from), model.place(to)) {
        (Some(first), Some(second)) => require(first < second, "not in coherence order"),
        _ => Err("coherence is open"),
    }
}

fn from_reads(model: &Model<'_>, from: EventId, to: EventId) -> Result<(), &'static str> {
    let (read, write) = (model.event(from), model.event(to));
    require(read.kind().reads() && write.kind().writes(), "not a read and a write")?;
    require(read.operand == write.operand, "different locations")?;
    // An rmw does not come before itself.
    require(from != to, "an event and itself")?;
    match model.source(from) {
        Source::Initial => Ok(()),
        Source::Write(source) => in_coherence(model, source, to),
        Source::Any | Source::Wrong => Err("nobody knows what it reads from"),
    }
}

fn posted_by(model: &Model<'_>, from: EventId, to: EventId) -> Result<(), &'static str> {
    let task = model.event(to).task;
    require(model.role(task) == Role::Posted, "the second is not of a posted task")?;
    require(model.span(task).first == to, "the second is no `get`")?;
    require(model.post(task) == Some(from), "the first does not post the second's task")
}

fn fork(model: &Model<'_>, from: EventId, to: EventId) -> Result<(), &'static str> {
    let forked = model.forks(model.event(from)).ok_or("the first is no fork of another handler")?;
    require(model.trace.handler_of(to) == forked, "not of the handler that is forked")?;
    require(model.starts(from, to), "stands before the fork")
}

fn join(model: &Model<'_>, from: EventId, to: EventId) -> Result<(), &'static str> {
    let joined = model.joins(model.event(to)).ok_or("the second is no join of another handler")?;
    require(model.trace.handler_of(from) == joined, "not of the handler that is joined")?;
    require(model.ends(from, to), "stands behind the join")
}

/// Checks that an event begins before what ends it.
fn ended(model: &Model<'_>, from: EventId, to: EventId) -> Result<(), &'static str> {
    let handler = model.trace.handler_of(from);
    if model.ends.exit(handler.index()) == Some(to) {
        return require(from != to, "an event and itself");
    }
    let opened = opened(model, from, to)?;
    let Some(opened) = opened else { return Ok(()) };
    let (first, second) = (model.event(opened), model.event(to));
    let posted = model.cancelled_post(second) == Some(opened);
    let earlier = first.task == second.task && opened < to;
    require(posted || earlier, "the end may come before what opened it")
}

/// Returns what opened a beginning that an event ends.
pub(super) fn opened(
    model: &Model<'_>,
    begins: EventId,
    end: EventId,
) -> Result<Option<EventId>, &'static str> {
    require(model.has(begins) && model.has(end), "no such event")?;
    let of = ended_by(model.event(end).action()).ok_or("the second ends nothing")?;
    let mut found = model.ends.beginnings(begins).iter().filter(|one| one.of == of);
    let one = found.next().ok_or("the second does not end what the first begins")?;
    require(model.ends.binds(*one, begins, end), "the trace has the end in between")?;
    Ok(one.opened)
}

fn decided(
    model: &Model<'_>,
    dues: &[Due],
    fact: Fact,
    from: EventId,
    to: EventId,
) -> Result<(), &'static str> {
    check_fact(model, fact)?;
    match fact {
        Fact::Runs { first, second } => {
            let tasks = (model.event(from).task, model.event(to).task);
            if tasks == (first, second) {
                return Ok(());
            }
            let posts = (model.post(first), model.post(second)) == (Some(from), Some(to));
            require(posts, "neither events of the two messages nor their posts")?;
            // If the second were posted first, it would have to run first.
            let due = |task: TaskId| dues[task.index()];
            let kept = due(second).keeps_order(due(first));
            require(kept, "the mailbox does not keep their order, so the posts may come in any")
        }
        Fact::Before { first, second } => {
            require((from, to) == (first, second), "not the events of the fact")
        }
    }
}
