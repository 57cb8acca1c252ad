//! Mazurkiewicz traces by definition: which interleavings are equivalent.

use anyorder_threads::{Act, Ending, Event, LockMode, ObjectId};

/// A trace, by its interleaving in which the first thread that can go on always does: thread,
/// alternative and result of each event.
pub(crate) type Trace = (Vec<(u32, u32, u64)>, Ending);

/// Whether an event left all objects as they were.
fn only_reads(event: &Event) -> bool {
    match event.op.act {
        Act::Access { write } => !write,
        _ => !event.op.act.changes(event.result),
    }
}

/// What an event did to an object if it commutes with others that did the same.
fn commuting(event: &Event, object: ObjectId) -> Option<&'static str> {
    match &event.op.act {
        Act::Lock(LockMode::Shared, _) if event.result & 1 == 1 => Some("share"),
        Act::Unlock(LockMode::Shared) => Some("share"),
        Act::Wait { lock, mode: LockMode::Shared } if *lock == object => Some("share"),
        Act::Unpark | Act::Release(_) | Act::Retain => Some("add"),
        Act::Drop if event.result == 0 => Some("remove"),
        Act::Senders(true) => Some("senders"),
        Act::Senders(false) => Some("no sender"),
        Act::Receivers(true) => Some("receivers"),
        Act::Receivers(false) => Some("no receiver"),
        _ => None,
    }
}

fn objects(event: &Event) -> Vec<ObjectId> {
    let mut objects = Vec::new();
    if !matches!(event.op.act, Act::Spawn(_) | Act::Fail(_) | Act::Choose(_) | Act::Fence(_)) {
        event.op.objects(|object| objects.push(object));
    }
    objects
}

fn are_dependent(a: &Event, b: &Event) -> bool {
    if only_reads(a) && only_reads(b) {
        return false;
    }
    let others = objects(b);
    objects(a).into_iter().filter(|object| others.contains(object)).any(|object| {
        let (first, second) = (commuting(a, object), commuting(b, object));
        first.is_none() || first != second
    })
}

/// The trace of an interleaving.
pub(crate) fn trace_of(events: &[Event], ending: Ending) -> Trace {
    let comes_after = |first: &Event, second: &Event| {
        let spawned = matches!(first.op.act, Act::Spawn(child) if child == second.step.thread);
        first.step.thread == second.step.thread || spawned || are_dependent(first, second)
    };
    let mut left: Vec<&Event> = events.iter().collect();
    let mut form = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_first = |at: &usize| !left[..*at].iter().any(|first| comes_after(first, left[*at]));
        let firsts = (0..left.len()).filter(is_first);
        let least = firsts.min_by_key(|at| left[*at].step.thread).expect("there is a first one");
        let event = left.remove(least);
        form.push((event.step.thread.0, event.step.alternative, event.result));
    }
    (form, ending)
}
