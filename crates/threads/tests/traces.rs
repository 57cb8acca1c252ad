//! Mazurkiewicz traces and reads-from classes by definition: which interleavings are equivalent.

use anyorder_threads::{Act, Ending, Event, LockMode, Object, ObjectId, World};
use std::collections::BTreeMap;

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

/// A reads-from class: by thread, of each event its alternative, its result, and for each object
/// that it reads the event that changed it last.
pub(crate) type Class = (BTreeMap<u32, Vec<(u32, u64, Vec<Option<Name>>)>>, Ending);

/// An event by its thread and its number there.
pub(crate) type Name = (u32, usize);

/// The reads-from class of an interleaving. Writes of numbers and contents only write; all other
/// operations read, and those that change the state of an object write it, too.
pub(crate) fn class_of(
    events: &[Event],
    ending: Ending,
    initial: &dyn Fn(ObjectId) -> Object,
) -> Class {
    let (mut world, mut last) = (World::new(), BTreeMap::<ObjectId, Name>::new());
    let mut logs = BTreeMap::<u32, Vec<(u32, u64, Vec<Option<Name>>)>>::new();
    for event in events {
        let log = logs.entry(event.step.thread.0).or_default();
        let name = (event.step.thread.0, log.len());
        let touched = objects(event);
        let only_writes = matches!(event.op.act, Act::Store(..) | Act::Alter(_));
        let read = touched.iter().filter(|_| !only_writes);
        let sources = read.map(|object| last.get(object).copied()).collect();
        log.push((event.step.alternative, event.result, sources));
        world.make(&event.op, initial);
        let before: Vec<_> = touched.iter().map(|object| world.get(*object).cloned()).collect();
        let result = world.perform(event.step.thread, &event.op, event.step.alternative);
        assert_eq!(result, Some(event.result), "{events:#?}");
        let is_exchange = match event.op.act {
            Act::Update { change, .. } => change.writes(event.result),
            _ => false,
        };
        for (object, before) in touched.iter().zip(before) {
            if only_writes || is_exchange || world.get(*object) != before.as_ref() {
                last.insert(*object, name);
            }
        }
    }
    (logs, ending)
}
