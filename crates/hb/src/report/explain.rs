//! Explains in words why two accesses race, and names the nearest existing orders.

use crate::races::category::CapturedClocks;
use crate::relation::engine::Engine;
use crate::report::describe;
use anyorder_finding::ExplanationStep;
use anyorder_trace::{EventId, Mailbox, TaskId, TaskKind, Trace};

/// The most posts that the chains of two tasks are followed back.
const POSTS_MAX: usize = 24;

/// Collects the events whose clocks [`steps`] needs for a race.
pub(crate) fn needs(engine: &Engine<'_>, a: EventId, b: EventId, out: &mut Vec<EventId>) {
    out.extend([a, b]);
    for event in [a, b] {
        let mut task = engine.trace.event(event).task;
        for _ in 0..POSTS_MAX {
            let Some(post) = engine.trace.span(task).post.some() else { break };
            out.push(post);
            task = engine.trace.event(post).task;
        }
    }
}

/// Explains a race between `a` and `b`, where `a` comes first.
pub(crate) fn steps(
    engine: &Engine<'_>,
    captured: &CapturedClocks,
    a: EventId,
    b: EventId,
) -> Vec<ExplanationStep> {
    let mut steps = why_unordered(engine, captured, a, b);
    steps.extend(nearest(engine, captured, a, b));
    steps.extend(nearest(engine, captured, b, a));
    steps
}

/// Returns whether a task is all of a thread to which nothing is posted.
fn is_thread(trace: &Trace, task: TaskId) -> bool {
    let tables = trace.tables();
    let handler = trace.span(task).handler.some();
    let plain = handler.is_some_and(|at| tables.handlers[at.index()].mailbox == Mailbox::None);
    plain && tables.tasks[task.index()].kind == TaskKind::Initial
}

/// Names the missing order. Follows the two chains of posts back while they are parallel.
fn why_unordered(
    engine: &Engine<'_>,
    captured: &CapturedClocks,
    a: EventId,
    b: EventId,
) -> Vec<ExplanationStep> {
    let trace = engine.trace;
    let task_of = |event: EventId| trace.event(event).task;
    let (mut x, mut y) = (task_of(a), task_of(b));
    if !comparable(engine, x, y) {
        let [x_on, y_on] = [x, y].map(|task| trace.span(task).handler);
        let names = [x, y].map(|task| describe::task(trace, task));
        let [x_name, y_name] = &names;
        let runners = match x_on == y_on {
            true if x_name == y_name => format!("both run in {x_name}"),
            true => format!("{x_name} and {y_name} run on one handler, which does not order them"),
            false if [x, y].iter().all(|task| is_thread(trace, *task)) => {
                format!("{x_name} and {y_name} are different threads")
            }
            false => format!("{x_name} and {y_name} run on different handlers"),
        };
        let text = format!(
            "{runners}, and no chain of posts, locks, signals or forks leads \
             from the one access to the other"
        );
        return vec![step(engine, text, None, &[a, b])];
    }
    let mut steps = Vec::new();
    for _ in 0..POSTS_MAX {
        let handler = trace.handler_name(trace.span(x).handler);
        let (p, q) = (trace.span(x).post, trace.span(y).post);
        if p.is_none() || q.is_none() {
            break;
        }
        let (first, second) = if p < q { (x, y) } else { (y, x) };
        let (p, q) = (p.min(q), p.max(q));
        if captured.happens_before(engine, p, q) {
            let (text, rule) = posted_in_order(engine, first, second, handler);
            steps.push(step(engine, text, Some(rule), &[p, q]));
            break;
        }
        let text = format!(
            "`{}` and `{}` run on `{handler}` in the order of their posts, and nothing orders those: {}; {}",
            trace.task_name(x),
            trace.task_name(y),
            describe::event(trace, p),
            describe::event(trace, q)
        );
        steps.push(step(engine, text, Some("fifo"), &[p, q]));
        (x, y) = (task_of(p), task_of(q));
        if !comparable(engine, x, y) || x == y {
            break;
        }
    }
    steps
}

/// Explains why the order of two posts does not order the tasks.
fn posted_in_order(
    engine: &Engine<'_>,
    first: TaskId,
    second: TaskId,
    handler: &str,
) -> (String, &'static str) {
    let trace = engine.trace;
    let (one, two) = (trace.task_name(first), trace.task_name(second));
    if engine.is_bag(trace.span(first).handler) {
        let text =
            format!("`{handler}` takes pending tasks in any order: `{one}` or `{two}` first");
        return (text, "bag");
    }
    if engine.task_is_front(second) {
        return (format!("`{two}` is posted to the front of the mailbox, past `{one}`"), "front");
    }
    let (d1, d2) = (engine.delay(first), engine.delay(second));
    let text = format!(
        "`{one}` is posted before `{two}`, but with delay {d1}, against {d2}: it can become due later"
    );
    (text, "delay")
}

fn comparable(engine: &Engine<'_>, x: TaskId, y: TaskId) -> bool {
    let posted = |task: TaskId| {
        engine.rules.reorders_tasks()
            && engine.trace.tables().tasks[task.index()].kind == TaskKind::Posted
    };
    posted(x) && posted(y) && engine.trace.span(x).handler == engine.trace.span(y).handler
}

/// Names the last event on `of`'s side that happens before `than`.
fn nearest(
    engine: &Engine<'_>,
    captured: &CapturedClocks,
    of: EventId,
    than: EventId,
) -> Option<ExplanationStep> {
    let clock = captured.clock(than)?;
    let (side, strand) = (engine.strand_of(of), engine.strand_of(than));
    let bound = engine.bound(strand, than.0, engine.chains.of(side), |chain| clock.get(chain));
    let trace = engine.trace;
    let side_task = trace.task_name(engine.strands.get(side).task);
    let other = describe::event(trace, than);
    if bound == 0 {
        let text = format!("nothing on the way of `{side_task}` happens before the {other}");
        return Some(step(engine, text, Some("nearest order"), &[than]));
    }
    let last = *engine.strands.get(*engine.begun_on(engine.chains.of(side), bound).last()?);
    let at = EventId(bound - 1).min(last.last);
    let text = if last.first <= of && of <= last.last {
        format!("nearest order: the {} happens before the {other}", describe::event(trace, at))
    } else {
        format!(
            "nearest order: {} runs before `{side_task}`, and happens before the {other}",
            describe::task(trace, last.task)
        )
    };
    Some(step(engine, text, Some("nearest order"), &[at, than]))
}

fn step(
    engine: &Engine<'_>,
    text: String,
    rule: Option<&str>,
    events: &[EventId],
) -> ExplanationStep {
    ExplanationStep {
        text,
        rule: rule.map(str::to_owned),
        events: events.iter().map(|event| engine.trace.event_name(*event)).collect(),
    }
}
