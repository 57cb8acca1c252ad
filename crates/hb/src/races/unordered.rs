//! Why nothing orders two accesses, and the nearest orders that exist.

use crate::races::category::CapturedClocks;
use crate::relation::engine::Engine;
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

/// Why nothing orders two events, or the nearest order that exists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The tasks of the events run where no rule compares them, and no chain of posts, locks,
    /// signals or forks leads from the one event to the other.
    Apart {
        /// The tasks.
        tasks: [TaskId; 2],
        /// The events, in trace order.
        events: [EventId; 2],
        /// Whether each task is all of a thread.
        threads: bool,
    },
    /// Two tasks run on one handler in the order of their posts, and nothing orders the posts.
    PostsUnordered {
        /// The tasks.
        tasks: [TaskId; 2],
        /// The posts, in trace order.
        posts: [EventId; 2],
    },
    /// The posts of two tasks are ordered, and their handler does not keep the order.
    PostsOrdered {
        /// The tasks, in the order of their posts.
        tasks: [TaskId; 2],
        /// The posts.
        posts: [EventId; 2],
        /// Why the order does not hold.
        lost: LostOrder,
    },
    /// Nothing of one side happens before the event of the other.
    NothingBefore {
        /// The task of the side.
        task: TaskId,
        /// The event of the other side.
        event: EventId,
    },
    /// The last event on the way of one side that happens before the event of the other.
    Nearest {
        /// The event.
        last: EventId,
        /// The task that the event ends, where it is another one than that of the side.
        earlier: Option<TaskId>,
        /// The task of the side.
        task: TaskId,
        /// The event of the other side.
        event: EventId,
    },
}

/// Why a handler does not take two tasks in the order of their posts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LostOrder {
    /// It takes pending tasks in any order.
    Bag,
    /// The second is posted to the front.
    Front,
    /// The first has a longer delay.
    Delays([u64; 2]),
}

/// Explains why nothing orders `a` and `b`, where `a` comes first.
pub(crate) fn reasons(
    engine: &Engine<'_>,
    captured: &CapturedClocks,
    a: EventId,
    b: EventId,
) -> Vec<Reason> {
    let mut reasons = why_unordered(engine, captured, a, b);
    reasons.extend(nearest(engine, captured, a, b));
    reasons.extend(nearest(engine, captured, b, a));
    reasons
}

/// Returns whether a task is all of a thread to which nothing is posted.
fn is_thread(trace: &Trace, task: TaskId) -> bool {
    let tables = trace.tables();
    let handler = trace.span(task).handler.some();
    let plain = handler.is_some_and(|at| tables.handlers[at.index()].mailbox == Mailbox::None);
    plain && tables.tasks[task.index()].kind == TaskKind::Initial
}

/// Finds the missing order. Follows the two chains of posts back while they are parallel.
fn why_unordered(
    engine: &Engine<'_>,
    captured: &CapturedClocks,
    a: EventId,
    b: EventId,
) -> Vec<Reason> {
    let trace = engine.trace;
    let task_of = |event: EventId| trace.event(event).task;
    let (mut x, mut y) = (task_of(a), task_of(b));
    if !comparable(engine, x, y) {
        let tasks = [x, y];
        let threads = tasks.iter().all(|task| is_thread(trace, *task));
        return vec![Reason::Apart { tasks, events: [a, b], threads }];
    }
    let mut reasons = Vec::new();
    for _ in 0..POSTS_MAX {
        let (p, q) = (trace.span(x).post, trace.span(y).post);
        if p.is_none() || q.is_none() {
            break;
        }
        let tasks = if p < q { [x, y] } else { [y, x] };
        let posts = [p.min(q), p.max(q)];
        let [p, q] = posts;
        if captured.happens_before(engine, p, q) {
            let lost = lost_order(engine, tasks);
            reasons.push(Reason::PostsOrdered { tasks, posts, lost });
            break;
        }
        reasons.push(Reason::PostsUnordered { tasks: [x, y], posts });
        (x, y) = (task_of(p), task_of(q));
        if !comparable(engine, x, y) || x == y {
            break;
        }
    }
    reasons
}

/// Returns why the order of two posts does not order the tasks.
fn lost_order(engine: &Engine<'_>, [first, second]: [TaskId; 2]) -> LostOrder {
    if engine.is_bag(engine.trace.span(first).handler) {
        LostOrder::Bag
    } else if engine.task_is_front(second) {
        LostOrder::Front
    } else {
        LostOrder::Delays([first, second].map(|task| engine.delay(task)))
    }
}

fn comparable(engine: &Engine<'_>, x: TaskId, y: TaskId) -> bool {
    let posted = |task: TaskId| {
        engine.rules.reorders_tasks()
            && engine.trace.tables().tasks[task.index()].kind == TaskKind::Posted
    };
    posted(x) && posted(y) && engine.trace.span(x).handler == engine.trace.span(y).handler
}

/// Finds the last event on `of`'s side that happens before `than`.
fn nearest(
    engine: &Engine<'_>,
    captured: &CapturedClocks,
    of: EventId,
    than: EventId,
) -> Option<Reason> {
    let clock = captured.clock(than)?;
    let (side, strand) = (engine.strand_of(of), engine.strand_of(than));
    let bound = engine.bound(strand, than.0, engine.chains.of(side), |chain| clock.get(chain));
    let task = engine.strands.get(side).task;
    if bound == 0 {
        return Some(Reason::NothingBefore { task, event: than });
    }
    let last = *engine.strands.get(*engine.begun_on(engine.chains.of(side), bound).last()?);
    let is_same = last.first <= of && of <= last.last;
    let earlier = (!is_same).then_some(last.task);
    Some(Reason::Nearest { last: EventId(bound - 1).min(last.last), earlier, task, event: than })
}
