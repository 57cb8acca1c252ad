//! Calls that wait, read from the names of their methods, for the brute force.

use super::semaphores::PermitKind;
use anyorder_trace::{EventId, EventKind, Invocation, TaskId, Trace, TraceBuilder};
use std::collections::BTreeSet;

/// What a call waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Lack {
    Permit,
    /// A value in a channel, and room for one.
    Value,
    Room,
    /// The end of all work of a wait group.
    Work,
    /// The value of a future, and the end of a context.
    Set,
    Cancel,
}

/// An object, and what may lack there.
pub(super) type Source = (u32, Lack);

/// What a call does to what may lack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    Gives,
    /// Gives for good, however many take.
    Opens,
    Takes,
    /// Takes, and waits or fails where there is none.
    Needs,
}

/// A call of an object that has calls that wait.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Call {
    Permit(PermitKind),
    Send,
    Recv,
    Close,
    Add,
    Done,
    Wait,
    Set,
    Get,
    Cancel,
    Cancelled,
}

impl Call {
    /// Returns what a call waits for.
    pub(super) const fn lack(self) -> Option<Lack> {
        match self {
            Call::Permit(PermitKind::Waits) => Some(Lack::Permit),
            Call::Send => Some(Lack::Room),
            Call::Recv => Some(Lack::Value),
            Call::Wait => Some(Lack::Work),
            Call::Get => Some(Lack::Set),
            Call::Cancelled => Some(Lack::Cancel),
            _ => None,
        }
    }

    fn effect(self, lack: Lack) -> Option<Effect> {
        use Effect::{Gives, Needs, Opens, Takes};
        match (self, lack) {
            (Call::Permit(PermitKind::Gives), Lack::Permit)
            | (Call::Send, Lack::Value)
            | (Call::Recv, Lack::Room)
            | (Call::Done, Lack::Work)
            | (Call::Set, Lack::Set)
            | (Call::Cancel, Lack::Cancel) => Some(Gives),
            (Call::Close, Lack::Value | Lack::Room) => Some(Opens),
            (Call::Add, Lack::Work) => Some(Takes),
            (Call::Permit(PermitKind::Waits | PermitKind::Takes), Lack::Permit)
            | (Call::Recv, Lack::Value)
            | (Call::Send, Lack::Room) => Some(Needs),
            _ => None,
        }
    }

    /// Returns the type of its objects, its method, arguments and result.
    const fn words(self) -> (&'static str, &'static str, &'static [u64], Option<u64>) {
        match self {
            Call::Permit(PermitKind::Waits) => ("semaphore", "acquire", &[], None),
            Call::Permit(PermitKind::Takes) => ("semaphore", "try_acquire", &[], Some(1)),
            Call::Permit(PermitKind::Fails) => ("semaphore", "try_acquire", &[], Some(0)),
            Call::Permit(PermitKind::Gives) => ("semaphore", "release", &[], None),
            Call::Send => ("channel", "send", &[7], Some(1)),
            Call::Recv => ("channel", "recv", &[], Some(7)),
            Call::Close => ("channel", "close", &[], Some(1)),
            Call::Add => ("waitgroup", "add", &[], None),
            Call::Done => ("waitgroup", "done", &[], None),
            Call::Wait => ("waitgroup", "wait", &[], None),
            Call::Set => ("future", "set", &[7], Some(1)),
            Call::Get => ("future", "get", &[], Some(7)),
            Call::Cancel => ("context", "cancel", &[], None),
            Call::Cancelled => ("context", "done", &[], None),
        }
    }

    /// Adds the call of an object, with another result if one is given.
    pub(super) fn push(
        self,
        b: &mut TraceBuilder,
        task: TaskId,
        name: &str,
        other: Option<Option<u64>>,
    ) {
        let (kind, method, arguments, result) = self.words();
        let object = b.interner.name(&format!("{kind}:{name}")).expect("room");
        let method = b.interner.name(method).expect("room");
        let (arguments, result) = (arguments.to_vec(), other.unwrap_or(result));
        let call = Invocation { object, method, arguments, result };
        let call = b.interner.push_invocation(call).expect("room");
        b.push(task, EventKind::Invoke.into(), call.0);
    }
}

/// Returns the call that an event is.
pub(super) fn call(trace: &Trace, event: usize) -> Option<(u32, Call)> {
    let event = trace.event(EventId(event as u32));
    if event.kind() != EventKind::Invoke {
        return None;
    }
    let tables = trace.tables();
    let call = &tables.invocations[event.operand as usize];
    let kind = tables.name(call.object).split(':').next().expect("a part");
    let call_of = match (kind, tables.name(call.method), call.result) {
        ("semaphore", "acquire", _) => Call::Permit(PermitKind::Waits),
        ("semaphore", "release", _) => Call::Permit(PermitKind::Gives),
        ("semaphore", "try_acquire", Some(1)) => Call::Permit(PermitKind::Takes),
        ("semaphore", "try_acquire", Some(0)) => Call::Permit(PermitKind::Fails),
        ("channel", "send", _) => Call::Send,
        ("channel", "recv", _) => Call::Recv,
        ("channel", "close", _) => Call::Close,
        ("waitgroup", "add", _) => Call::Add,
        ("waitgroup", "done", _) => Call::Done,
        ("waitgroup", "wait", _) => Call::Wait,
        ("future", "set", _) => Call::Set,
        ("future", "get", _) => Call::Get,
        ("context", "cancel", _) => Call::Cancel,
        ("context", "done", _) => Call::Cancelled,
        other => panic!("an unknown call: {other:?}"),
    };
    Some((call.object.0, call_of))
}

/// Returns what an event waits for, if it is a call that waits.
pub(super) fn waits_at(trace: &Trace, event: usize) -> Option<Source> {
    let (object, call) = call(trace, event)?;
    Some((object, call.lack()?))
}

/// Returns what an event does to what may lack.
pub(super) fn effect(trace: &Trace, event: usize, (object, lack): Source) -> Option<Effect> {
    let (of, call) = call(trace, event)?;
    if of == object { call.effect(lack) } else { None }
}

/// Returns how many more of some events give than take.
fn change(trace: &Trace, events: &[usize], source: Source) -> i64 {
    let of = |event: &usize| match effect(trace, *event, source) {
        Some(Effect::Gives) => 1,
        Some(Effect::Takes | Effect::Needs) => -1,
        Some(Effect::Opens) | None => 0,
    };
    events.iter().map(of).sum()
}

fn is_open(trace: &Trace, events: &[usize], source: Source) -> bool {
    events.iter().any(|event| effect(trace, *event, source) == Some(Effect::Opens))
}

/// Returns what there is in the beginning: of permits and room, the least number with which the
/// trace is possible.
fn first(trace: &Trace, source: Source) -> i64 {
    match source.1 {
        Lack::Value | Lack::Set | Lack::Cancel => return 0,
        Lack::Work => return 1,
        Lack::Permit | Lack::Room => {}
    }
    let all: Vec<usize> = (0..trace.len()).collect();
    let needs = |at: &usize| effect(trace, *at, source) == Some(Effect::Needs);
    let lacks = |at: usize| match is_open(trace, &all[..at], source) {
        true => 0,
        false => 1 - change(trace, &all[..at], source),
    };
    all.iter().copied().filter(needs).map(lacks).max().unwrap_or(0).max(0)
}

/// Returns whether a call that waits could return after a run.
fn is_left(trace: &Trace, run: &[usize], source: Source) -> bool {
    is_open(trace, run, source) || first(trace, source) + change(trace, run, source) > 0
}

/// Returns whether, of these events of a thread, some first ones give more than they take, or one
/// gives for good.
pub(super) fn has_gift(trace: &Trace, rest: impl Iterator<Item = usize>, source: Source) -> bool {
    let rest: Vec<usize> = rest.collect();
    is_open(trace, &rest, source)
        || (1..=rest.len()).any(|length| change(trace, &rest[..length], source) > 0)
}

/// Returns all that calls of the trace wait for.
pub(super) fn sources(trace: &Trace) -> BTreeSet<Source> {
    (0..trace.len()).filter_map(|event| waits_at(trace, event)).collect()
}

/// Returns whether nothing is left after a run, and each event that would give some and has not
/// come is one of those that cannot: by `is_stuck`, or as an event before it in its lane does not
/// come: `is_excluded`, or it needs what requests wait for.
pub(super) fn nothing_comes(
    trace: &Trace,
    source: Source,
    (requests, run): (&[usize], &[usize]),
    before: &dyn Fn(usize) -> Vec<usize>,
    is_excluded: &dyn Fn(usize) -> bool,
    is_stuck: &dyn Fn(usize) -> bool,
) -> bool {
    let waits: BTreeSet<Source> =
        requests.iter().filter_map(|request| waits_at(trace, *request)).collect();
    let needs = |event: usize| {
        waits.iter().any(|source| effect(trace, event, *source) == Some(Effect::Needs))
    };
    let gives = |event: &usize| {
        let of = effect(trace, *event, source);
        matches!(of, Some(Effect::Gives | Effect::Opens)) && !run.contains(event)
    };
    // An event that takes what is waited for is kept itself.
    let is_kept = |event: usize| {
        needs(event)
            || before(event)
                .into_iter()
                .any(|other| !run.contains(&other) && (needs(other) || is_excluded(other)))
    };
    let mut later = (0..trace.len()).filter(gives);
    !is_left(trace, run, source) && later.all(|event| is_kept(event) || is_stuck(event))
}
