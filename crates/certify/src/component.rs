//! Steps by rules of Android components: the conditions that the trace alone can check.
//!
//! [`Rule::Component`](crate::Rule::Component) lists the checks.

use crate::check::{CheckedPath, Checker, take};
use crate::reason::Reason;
use crate::view::View;
use anyorder_trace::{Event, EventId, EventKind, Input, InputFamily, TaskId};

pub(crate) fn check(
    checker: Checker<'_>,
    name: &str,
    from: EventId,
    to: EventId,
    premises: &[CheckedPath],
) -> Result<(), Reason> {
    let view = checker.view;
    let word = name.split(':').next().unwrap_or("").trim();
    let families =
        [InputFamily::Lifecycle, InputFamily::Idle, InputFamily::Service, InputFamily::Broadcast];
    let Some(family) = families.into_iter().find(|family| family.word() == word) else {
        return Err(Reason::Kind("name does not begin with a component family"));
    };
    let targets = triggers_at(view, family, to);
    if premises.is_empty() {
        if let Ok((a, b)) = checker.whole_tasks(from, to) {
            let pairs = pairs(view, family, triggers_in(view, family, a), b);
            if pairs.iter().any(|(p, t)| follows(view, family, p, t)) {
                return Ok(());
            }
        }
        let given = |t: &Event| match family {
            InputFamily::Idle => idle(view, from, to, t),
            InputFamily::Broadcast => broadcast(view, from, to, t),
            _ => request(view, family, from, t) || step(view, family, from, to, t),
        };
        let begins = |t: &Event| match family {
            InputFamily::Idle => false,
            InputFamily::Broadcast => is_caused(view, from, t),
            _ => request(view, family, from, t),
        };
        return fits(
            targets.iter().any(given) || triggers_from(view, family, to).iter().any(begins),
        );
    }
    let [sent] = take(premises)?;
    if family != InputFamily::Broadcast
        || !checker.is_happens_before(sent.from, sent.to, sent.by_tasks)
    {
        return Err(Reason::Condition("only broadcasts are ordered by an order of their causes"));
    }
    let receipts = triggers_at(view, family, from);
    let both_posts = view.posts(from).is_some() == view.posts(to).is_some();
    let ordered = |t1: &Event| {
        targets.iter().any(|t2| {
            ["SEND", "REGISTER"]
                .iter()
                .any(|kind| causes(view, kind, sent.from, t1) && causes(view, kind, sent.to, t2))
        })
    };
    if both_posts && receipts.iter().any(ordered) {
        Ok(())
    } else {
        Err(Reason::PremiseElsewhere(0))
    }
}

fn fits(holds: bool) -> Result<(), Reason> {
    if holds { Ok(()) } else { Err(Reason::Condition("no rule of the family fits the ends")) }
}

fn input<'t>(view: View<'t>, family: InputFamily, event: Event) -> Option<&'t Input> {
    view.input_of(event).filter(|input| input.family == family)
}

fn state<'t>(view: View<'t>, input: &Input) -> &'t str {
    view.trace.tables().name(input.state)
}

fn is_trigger(view: View<'_>, family: InputFamily, event: Event) -> bool {
    event.kind() == EventKind::Trigger && input(view, family, event).is_some()
}

fn triggers_in(view: View<'_>, family: InputFamily, task: TaskId) -> Vec<Event> {
    view.events().filter(|e| e.task == task && is_trigger(view, family, *e)).collect()
}

/// The triggers that an event stands for: itself, or those of the task it posts.
fn triggers_at(view: View<'_>, family: InputFamily, event: EventId) -> Vec<Event> {
    match view.posts(event) {
        Some(task) => triggers_in(view, family, task),
        None => {
            Some(view.event(event)).filter(|e| is_trigger(view, family, *e)).into_iter().collect()
        }
    }
}

/// The triggers of the task that begins with an event.
fn triggers_from(view: View<'_>, family: InputFamily, event: EventId) -> Vec<Event> {
    let task = view.task_of(event);
    if view.get(task) == Some(event) { triggers_in(view, family, task) } else { Vec::new() }
}

fn pairs(
    view: View<'_>,
    family: InputFamily,
    first: Vec<Event>,
    second: TaskId,
) -> Vec<(Event, Event)> {
    let second = triggers_in(view, family, second);
    first
        .into_iter()
        .flat_map(|p| second.iter().map(move |t| (p, *t)).collect::<Vec<_>>())
        .collect()
}

/// Whether callback `t` may be the next of callback `p`.
fn follows(view: View<'_>, family: InputFamily, p: &Event, t: &Event) -> bool {
    let (Some(before), Some(after)) = (input(view, family, *p), input(view, family, *t)) else {
        return false;
    };
    match family {
        InputFamily::Service => before.component == after.component,
        InputFamily::Lifecycle => matches!(
            (state(view, before), state(view, after)),
            (
                "LAUNCH-ACT" | "START-ACT" | "PAUSE-ACT" | "STOP-ACT" | "NEW_INTENT" | "RESULT-ACT",
                "RESUME-ACT"
            ) | ("STOP-ACT", "START-ACT" | "DESTROY-ACT")
                | ("RESUME-ACT", "PAUSE-ACT")
                | ("PAUSE-ACT", "STOP-ACT")
                | ("STOP-ACT" | "NEW_INTENT", "RESULT-ACT")
                | ("RESULT-ACT" | "PAUSE-ACT" | "STOP-ACT", "NEW_INTENT")
        ),
        _ => false,
    }
}

/// Lifecycle and services: `base(p, t)`, as an edge between the callbacks or between the posts.
fn step(view: View<'_>, family: InputFamily, from: EventId, to: EventId, t: &Event) -> bool {
    let both_posts = view.posts(from).is_some() == view.posts(to).is_some();
    both_posts && triggers_at(view, family, from).iter().any(|p| follows(view, family, p, t))
}

/// Lifecycle and services: `e => t` for an enable or disable `e`. Services also have `p => t`
/// between callbacks, from SERVICE_CONNECT's binding.
fn request(view: View<'_>, family: InputFamily, from: EventId, t: &Event) -> bool {
    let e = view.event(from);
    let (Some(of_e), Some(of_t)) = (input(view, family, e), input(view, family, *t)) else {
        return false;
    };
    if family == InputFamily::Lifecycle {
        e.kind() == EventKind::Enable && of_e.state == of_t.state
    } else {
        // An unbind request names its connection. The service of that connection is not checked.
        of_e.component == of_t.component || state(view, of_e) == "REQUEST_UNBIND_SERVICE"
    }
}

fn idle(view: View<'_>, from: EventId, to: EventId, t: &Event) -> bool {
    let family = InputFamily::Idle;
    let Some(of_t) = input(view, family, *t) else { return false };
    if view.posts(to).is_none() {
        return false;
    }
    let same = |e: Event| {
        let identity = |input: &Input| (input.instance, input.argument);
        input(view, family, e).is_some_and(|of_e| identity(of_e) == identity(of_t))
    };
    let adds = |e: Event| e.kind() == EventKind::Enable && same(e);
    let from_task = view.task_of(from);
    let ends = view.end(from_task) == Some(from)
        && view
            .events()
            .any(|e| e.task == from_task && (adds(e) || e.kind() == EventKind::Trigger && same(e)));
    let looped = view.handler(t.task).and_then(|handler| view.first_loop(handler)) == Some(from);
    adds(view.event(from)) || ends || looped
}

fn broadcast(view: View<'_>, from: EventId, to: EventId, t: &Event) -> bool {
    let family = InputFamily::Broadcast;
    if is_caused(view, from, t) {
        return true;
    }
    let (Some(first), Some(_)) = (view.posts(from), view.posts(to)) else { return false };
    let ticks = |e: &Event| {
        input(view, family, *e).is_some_and(|input| {
            view.trace.tables().name(input.name) == "android.intent.action.TIME_TICK"
        })
    };
    let binds = |e: Event| {
        let of_e = input(view, InputFamily::Lifecycle, e);
        e.task == first
            && e.kind() == EventKind::Enable
            && of_e.is_some_and(|input| state(view, input) == "BINDAPP-DONE")
    };
    ticks(t) && triggers_in(view, family, first).iter().any(ticks) || view.events().any(binds)
}

/// Whether an event is a send or a registration that fits a receipt.
fn is_caused(view: View<'_>, cause: EventId, t: &Event) -> bool {
    causes(view, "SEND", cause, t) || causes(view, "REGISTER", cause, t)
}

/// Whether a send or registration, as `kind` says, fits a receipt.
fn causes(view: View<'_>, kind: &str, cause: EventId, t: &Event) -> bool {
    let family = InputFamily::Broadcast;
    let e = view.event(cause);
    let (Some(of_e), Some(of_t)) = (input(view, family, e), input(view, family, *t)) else {
        return false;
    };
    let identity = match kind {
        "SEND" => of_e.argument == of_t.argument,
        _ => (of_e.instance, of_e.name) == (of_t.instance, of_t.name),
    };
    e.kind() == EventKind::Enable && state(view, of_e).starts_with(kind) && identity
}
