//! Converts a witness into a run for reports: a column for each thread, next to the recorded order
//! of the events.

use crate::words::{Cycle, position};
use anyorder_finding::run::{Comparison, Mark, Run, RunPlace, RunStep};
use anyorder_predict::{DeadlockRequest, Form, Witness};
use anyorder_trace::{
    EventId, EventKind, HandlerId, InputId, InvocationId, LockId, NameId, OperandKind, TaskId,
    Trace,
};
use std::collections::BTreeSet;

/// The number of last steps of a witness to show.
const LAST_MAX: usize = 24;

/// The maximum number of relevant earlier steps to show: steps on locks that are held at the two
/// actions, and forks and joins of their threads.
const EARLIER_MAX: usize = 8;

/// Returns a witness as a run, compared with the order of the trace.
pub(crate) fn run_of(trace: &Trace, (first, second, witness): (EventId, EventId, &Witness)) -> Run {
    let shown = shown(trace, &[first, second], &witness.order);
    let mark = |event: EventId| match event {
        event if event == first => Some(Mark::First),
        event if event == second => Some(Mark::Second),
        _ => None,
    };
    let steps = |places: &[usize]| {
        let mut before = None;
        let step = |place: &usize| {
            let left_out = place - before.map_or(0, |before: usize| before + 1);
            before = Some(*place);
            let event = witness.order[*place];
            RunStep { mark: mark(event), left_out, ..step(trace, event) }
        };
        places.iter().map(step).collect::<Vec<RunStep>>()
    };
    let mut observed: Vec<EventId> = shown.iter().map(|place| witness.order[*place]).collect();
    observed.sort_unstable();
    let recorded =
        observed.iter().map(|event| RunStep { mark: mark(*event), ..step(trace, *event) });
    let before = Run { steps: recorded.collect(), by_lane: true, ..Run::default() };
    let what = |event: EventId| {
        let place = trace.tables().site_text(trace.event(event).site);
        let at = if place == "?" { String::new() } else { format!(" at {place}") };
        format!("{}{at}", step_text(trace, event))
    };
    let compared = Comparison {
        before,
        before_title: "As recorded".to_owned(),
        after_title: "Another order of these events".to_owned(),
        first: what(first),
        second: what(second),
        ..Comparison::default()
    };
    Run {
        first: witness.prefix as usize,
        steps: steps(&shown),
        end: end(trace, first, second, witness.form),
        compared: Some(Box::new(compared)),
        by_lane: true,
        ..Run::default()
    }
}

/// Returns the run to a deadlock, with a step for each request that is not granted.
pub(crate) fn run_of_deadlock(
    trace: &Trace,
    requests: &[DeadlockRequest],
    witness: &Witness,
) -> Run {
    let cycle = Cycle { trace, requests };
    let actions: Vec<EventId> = requests.iter().map(|request| request.event).collect();
    let (mut before, mut steps) = (None, Vec::new());
    for place in shown(trace, &actions, &witness.order) {
        let left_out = place - before.map_or(0, |before: usize| before + 1);
        before = Some(place);
        steps.push(RunStep { left_out, ..step(trace, witness.order[place]) });
    }
    steps.extend(requests.iter().enumerate().map(|(at, request)| {
        let step = step(trace, cycle.place(request));
        let what = cycle.no_signal(request).unwrap_or(step.what);
        RunStep { what, takes: None, failure: Some(cycle.blocked(at)), ..step }
    }));
    let (first, end) = (witness.prefix as usize, cycle.end());
    Run { first, steps, end, by_lane: true, ..Run::default() }
}

/// Describes the end of the run.
fn end(trace: &Trace, first: EventId, second: EventId, form: Form) -> String {
    let name = |event: EventId| {
        let lane = trace.handler_name(trace.handler_of(event));
        format!("{} ({lane})", step_text(trace, event))
    };
    match form {
        Form::Reversed => format!("{} comes before {}", name(second), name(first)),
        Form::Last => {
            format!("{} comes before {}, which may see something else", name(second), name(first))
        }
        Form::CoEnabled => format!("{} and {} can both come next", name(second), name(first)),
        Form::Deadlock => String::new(),
        Form::Overtakes => {
            let task = |event: EventId| trace.task_name(trace.event(event).task);
            format!("task {} is taken while {} waits", task(second), task(first))
        }
    }
}

/// Returns the indices of the steps to show, ascending.
fn shown(trace: &Trace, actions: &[EventId], order: &[EventId]) -> Vec<usize> {
    let tail = order.len().saturating_sub(LAST_MAX);
    let lanes: Vec<HandlerId> = actions.iter().map(|event| trace.handler_of(*event)).collect();
    let locks = locks_held(trace, order, actions);
    let mut places: BTreeSet<usize> = (tail..order.len()).collect();
    places.extend((0..tail).filter(|place| actions.contains(&order[*place])));
    let mut room = EARLIER_MAX;
    for place in (0..tail).rev() {
        let event = trace.event(order[place]);
        let matters = match event.kind() {
            EventKind::Fork | EventKind::Join => lanes.contains(&HandlerId(event.operand)),
            EventKind::Acquire | EventKind::Release | EventKind::Destroy => {
                locks.contains(&LockId(event.operand))
            }
            _ => false,
        };
        if matters && room > 0 && places.insert(place) {
            room -= 1;
        }
    }
    places.into_iter().collect()
}

/// Returns the locks that are held at one of the actions, in a run.
fn locks_held(trace: &Trace, order: &[EventId], actions: &[EventId]) -> BTreeSet<LockId> {
    let mut held: BTreeSet<LockId> = BTreeSet::new();
    for &action in actions {
        let lane = trace.handler_of(action);
        let mut open: Vec<LockId> = Vec::new();
        for event in order.iter().take_while(|event| **event != action) {
            let it = trace.event(*event);
            let lock = LockId(it.operand);
            match it.kind() {
                EventKind::Acquire if trace.handler_of(*event) == lane => open.push(lock),
                EventKind::Release if trace.handler_of(*event) == lane => {
                    if let Some(at) = open.iter().rposition(|known| *known == lock) {
                        open.remove(at);
                    }
                }
                _ => {}
            }
        }
        held.extend(open);
    }
    held
}

fn step(trace: &Trace, event: EventId) -> RunStep {
    let lock = |kind: EventKind| {
        let event = trace.event(event);
        let lock = trace.tables().locks.get(event.operand as usize).copied();
        lock.filter(|_| event.kind() == kind).map(|lock| trace.tables().name(lock).to_owned())
    };
    RunStep {
        lane: trace.handler_name(trace.handler_of(event)).to_owned(),
        what: step_text(trace, event),
        place: RunPlace::of(&position(trace.tables(), trace.event(event).site)),
        takes: lock(EventKind::Acquire),
        releases: lock(EventKind::Release),
        number: Some(trace.event_name(event)),
        ..RunStep::default()
    }
}

/// Describes an event in a few words: `write x`, `acquire m`, `jobs.push(3) = 1`.
pub(crate) fn step_text(trace: &Trace, event: EventId) -> String {
    let event = trace.event(event);
    let tables = trace.tables();
    let (kind, index) = (event.kind(), event.operand as usize);
    let named = |names: &[NameId]| {
        names.get(index).map_or_else(|| "?".to_owned(), |name| tables.name(*name).to_owned())
    };
    let operand = match kind.operand() {
        OperandKind::Location => event.location().map(|location| trace.location_text(location)),
        OperandKind::Task => Some(trace.task_name(TaskId(event.operand)).to_owned()),
        OperandKind::Handler if kind == EventKind::Get => {
            Some(trace.task_name(event.task).to_owned())
        }
        OperandKind::Handler => Some(trace.handler_name(HandlerId(event.operand)).to_owned()),
        OperandKind::Lock => Some(named(&tables.locks)),
        OperandKind::Condition => Some(named(&tables.conditions)),
        OperandKind::Input => Some(tables.input_text(InputId(event.operand))),
        OperandKind::Invocation => return invocation(trace, kind, InvocationId(event.operand)),
        OperandKind::Name => Some(tables.name(NameId(event.operand)).to_owned()),
        OperandKind::Number | OperandKind::Nothing => None,
    };
    match operand {
        Some(operand) if !operand.is_empty() => format!("{} {operand}", kind.word()),
        _ => kind.word().to_owned(),
    }
}

fn invocation(trace: &Trace, kind: EventKind, id: InvocationId) -> String {
    let tables = trace.tables();
    let Some(call) = tables.invocations.get(id.index()) else { return kind.word().to_owned() };
    // Values are integers or hashes. A value that is negative as a signed integer is shown as one.
    let word = |word: &u64| (*word as i64).to_string();
    let arguments: Vec<String> = call.arguments.iter().map(word).collect();
    let name = format!("{}.{}", tables.name(call.object), tables.name(call.method));
    if kind == EventKind::Return {
        return format!("return from {name}");
    }
    let result = call.result.as_ref().map(|result| format!(" = {}", word(result)));
    format!("{name}({}){}", arguments.join(", "), result.unwrap_or_default())
}
