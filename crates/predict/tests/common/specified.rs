//! The actions of a trace under a specification, from the definition: `Spec::commute` compares
//! pairs of events.

use super::naive::Extra;
use anyorder_commute::{AccessPoints, Exactness, Invocation, Spec};
use anyorder_predict::Types;
use anyorder_trace::{EventKind, InvocationId, NameId, TaskId, Trace};
use std::collections::HashMap;

/// Returns the specification that the name of an object encodes, as `type:name`.
pub(crate) fn spec_of<'t>(types: &'t Types, trace: &Trace, name: NameId) -> Option<&'t Spec> {
    types.spec(trace.tables().name(name).split(':').next()?)
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Object {
    Condition(u32),
    /// A lock, and how many lives it has had.
    Lock(u32, usize),
    Invoked(String),
}

enum SpecAction<'t> {
    Use,
    Destroy,
    Wait,
    Signal,
    Call(&'t Spec, Invocation),
}

/// Returns the actions that a specification adds to the definitions. `hide` tells whether returns
/// end invocations, which then hide the events inside.
pub(crate) fn extra(trace: &Trace, types: &Types, hide: bool) -> Extra {
    let hidden = if hide { hidden(trace, types) } else { vec![false; trace.len()] };
    let inside: Vec<bool> =
        (0..trace.len()).map(|at| hide && around(trace, types, at) > 0).collect();
    let mut spec_actions: Vec<Option<(Object, SpecAction<'_>)>> = Vec::new();
    for event in trace.events() {
        let at = event.id.index();
        spec_actions.push(if inside[at] {
            None
        } else {
            let o = event.operand;
            match event.kind() {
                EventKind::Wait => Some((Object::Condition(o), SpecAction::Wait)),
                EventKind::Signal | EventKind::Broadcast => {
                    Some((Object::Condition(o), SpecAction::Signal))
                }
                EventKind::Destroy => {
                    Some((Object::Lock(o, life(trace, at, &inside)), SpecAction::Destroy))
                }
                EventKind::Acquire => {
                    Some((Object::Lock(o, life(trace, at, &inside)), SpecAction::Use))
                }
                EventKind::Release if is_use(trace, at, &inside) => {
                    Some((Object::Lock(o, life(trace, at, &inside)), SpecAction::Use))
                }
                EventKind::Invoke => {
                    let call = &trace.tables().invocations[InvocationId(o).index()];
                    spec_of(types, trace, call.object).map(|spec| {
                        let method = trace.tables().name(call.method);
                        let seen = spec.invocation_of_words(method, &call.arguments, call.result);
                        (
                            Object::Invoked(trace.tables().name(call.object).to_owned()),
                            SpecAction::Call(spec, seen),
                        )
                    })
                }
                _ => None,
            }
        });
    }
    let mut extra = Extra { hidden, ..Extra::default() };
    let mut numbers = HashMap::new();
    for (j, what) in spec_actions.iter().enumerate() {
        extra.object.push(what.as_ref().map(|(object, _)| {
            let next = numbers.len();
            *numbers.entry(object.clone()).or_insert(next)
        }));
        for (i, other) in spec_actions[..j].iter().enumerate() {
            if let (Some((a, x)), Some((b, y))) = (other, what)
                && a == b
                && !commute(x, y)
            {
                extra.conflicting.insert((i, j));
            }
        }
    }
    extra
}

fn commute(a: &SpecAction<'_>, b: &SpecAction<'_>) -> bool {
    match (a, b) {
        (SpecAction::Use, SpecAction::Use)
        | (SpecAction::Wait, SpecAction::Wait)
        | (SpecAction::Signal, SpecAction::Signal) => true,
        (SpecAction::Call(spec, a), SpecAction::Call(_, b)) => !conflict(spec, a, b),
        _ => false,
    }
}

/// Returns whether two calls conflict: they do not commute, or access points cannot distinguish
/// them.
pub(crate) fn conflict(spec: &Spec, a: &Invocation, b: &Invocation) -> bool {
    !spec.commute(a, b) || (!is_exact(spec, a, b) && AccessPoints::of(spec).in_conflict(a, b))
}

/// Returns whether access points express the condition of two methods exactly.
pub(crate) fn is_exact(spec: &Spec, a: &Invocation, b: &Invocation) -> bool {
    let points = AccessPoints::of(spec);
    points.pairs().iter().all(|pair| {
        let is_it =
            [(pair.left, pair.right), (pair.right, pair.left)].contains(&(a.method, b.method));
        !is_it || pair.exactness == Exactness::Exact
    })
}

/// The life of its lock that an event belongs to: a life ends where the task that destroyed the
/// lock takes it again.
fn life(trace: &Trace, at: usize, inside: &[bool]) -> usize {
    let lock = trace.columns().operands[at];
    let mut lives = 0;
    let mut destroyer = None;
    for event in trace.events().take(at + 1) {
        if event.operand != lock || inside[event.id.index()] {
            continue;
        }
        match event.kind() {
            EventKind::Destroy => destroyer = Some(event.task),
            EventKind::Acquire if destroyer == Some(event.task) => {
                lives += 1;
                destroyer = None;
            }
            _ => {}
        }
    }
    lives
}

/// Whether a release is a use of its own.
fn is_use(trace: &Trace, at: usize, inside: &[bool]) -> bool {
    let release = trace.event(anyorder_trace::EventId(at as u32));
    let is_of_lock = |i: usize| trace.columns().operands[i] == release.operand;
    let seen = |i: &usize| !inside[*i];
    let kind = |i: usize| trace.columns().ops[i].kind();
    let mine = |i: &usize| trace.columns().tasks[*i] == release.task;
    let taken =
        (0..at).rev().filter(seen).find(|i| kind(*i) == EventKind::Acquire && is_of_lock(*i));
    let Some(taken) = taken.filter(mine) else { return true };
    let is_destroyed = (0..at).filter(seen).any(|i| {
        kind(i) == EventKind::Destroy
            && is_of_lock(i)
            && life(trace, i, inside) == life(trace, at, inside)
    });
    let mut since = (taken + 1..at).filter(mine);
    is_destroyed
        || since.any(|i| match kind(i) {
            EventKind::Acquire | EventKind::Release => !inside[i],
            EventKind::Fork
            | EventKind::Post
            | EventKind::Signal
            | EventKind::Broadcast
            | EventKind::Barrier => true,
            _ => false,
        })
}

/// The number of enclosing invocations of an event, for objects that have returns.
fn around(trace: &Trace, types: &Types, at: usize) -> usize {
    open_before(trace, types, trace.columns().tasks[at], at)
}

/// How many such invocations of a task are open before a position.
fn open_before(trace: &Trace, types: &Types, task: TaskId, at: usize) -> usize {
    let tables = trace.tables();
    let mut open: Vec<(&str, &str)> = Vec::new();
    for event in trace.events().take(at) {
        if event.task != task {
            continue;
        }
        match event.kind() {
            EventKind::Invoke | EventKind::Return => {
                let call = &tables.invocations[InvocationId(event.operand).index()];
                if spec_of(types, trace, call.object).is_none() {
                    continue;
                }
                let has_returns = trace.events().any(|e| {
                    e.kind() == EventKind::Return
                        && tables.name(tables.invocations[InvocationId(e.operand).index()].object)
                            == tables.name(call.object)
                });
                if !has_returns {
                    continue;
                }
                let key = (tables.name(call.object), tables.name(call.method));
                if event.kind() == EventKind::Invoke {
                    open.push(key);
                } else if let Some(found) = open.iter().rposition(|o| *o == key) {
                    open.truncate(found);
                }
            }
            EventKind::End | EventKind::Exit => open.clear(),
            _ => {}
        }
    }
    open.len()
}

/// Whether the lock that an inside event gives back was taken inside.
fn is_taken_inside(trace: &Trace, types: &Types, at: usize) -> bool {
    let columns = trace.columns();
    let mut taken = 0_usize;
    for i in (0..at).filter(|i| columns.tasks[*i] == columns.tasks[at]) {
        let of_lock = columns.operands[i] == columns.operands[at];
        match columns.ops[i].kind() {
            _ if around(trace, types, i) == 0 => taken = 0,
            EventKind::Acquire if of_lock => taken += 1,
            EventKind::Release if of_lock => taken = taken.saturating_sub(1),
            _ => {}
        }
    }
    taken > 0
}

/// The hidden events, from the definition.
pub(crate) fn hidden(trace: &Trace, types: &Types) -> Vec<bool> {
    let event_task = |at: usize| trace.columns().tasks[at];
    let of = |at: usize| {
        let kind = trace.columns().ops[at].kind();
        let inside = around(trace, types, at);
        match kind {
            EventKind::Acquire | EventKind::Destroy | EventKind::Invoke => inside > 0,
            EventKind::Release => inside > 0 && is_taken_inside(trace, types, at),
            // A return that ends the outermost invocation is seen.
            EventKind::Return => {
                inside > 0 && open_before(trace, types, event_task(at), at + 1) > 0
            }
            _ => kind.is_access() && inside > 0,
        }
    };
    (0..trace.len()).map(of).collect()
}
