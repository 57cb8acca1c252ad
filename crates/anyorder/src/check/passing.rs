//! The other run: one that does not fail, and differs from a failing one by one reversal.

use super::Limits;
use super::run::{Driver, Run};
use super::source::Sources;
use super::trace::Trace;
use crate::runtime::Program;
use anyorder_threads::{Act, Op, Step, ThreadId};

/// The most executions that are tried for one failure.
const TRIES_MAX: usize = 48;

/// The most operations of an execution for which others are tried.
const OPERATIONS_MAX: usize = 5_000;

/// An execution that does not fail, in which two operations come in the other order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Passing {
    /// The two operations in the failing execution: the second one may be what a thread waits to do
    /// at its end.
    pub reversed: (usize, Reversed),
    /// The execution.
    pub trace: Trace,
    /// The two in this execution, in the same order as above: the second one comes first.
    pub here: (Option<usize>, usize),
}

/// The later one of two operations of a failing execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reversed {
    /// An operation of the execution, by number.
    Event(usize),
    /// What a thread waits to do at its end.
    Pending(ThreadId),
}

/// Tries the reversals of neighbours in conflict, from the end. Counts executions in `tried`.
pub(super) fn find(
    program: &mut Program,
    failing: &Run,
    sources: &mut Sources,
    limits: Limits,
    tried: &mut u64,
) -> Option<Passing> {
    if failing.events.len() > OPERATIONS_MAX {
        return None;
    }
    for (first, second) in candidates(failing).into_iter().take(TRIES_MAX) {
        if limits.reports_left(*tried) == 0 {
            return None;
        }
        *tried += 1;
        if let Some((run, here)) = reverse(program, failing, (first, second), limits.steps_max) {
            let trace = Trace::new(program, &run, sources);
            return Some(Passing { reversed: (first, second), trace, here });
        }
    }
    None
}

/// Pairs of operations of two threads on one object, one of which changes it, with no other one on
/// that object between them. The last ones first.
fn candidates(run: &Run) -> Vec<(usize, Reversed)> {
    let mut pairs = Vec::new();
    let mut before = |end: usize, thread: ThreadId, op: &Op, second: Reversed| {
        let mut objects = Vec::new();
        op.objects(|object| objects.push(object));
        let touches = |at: &usize| {
            let event = &run.events[*at];
            let mut is_shared = false;
            event.op.objects(|object| is_shared |= objects.contains(&object));
            let changes = event.op.act.changes(event.result) || op.act.changes(1);
            is_shared && event.step.thread != thread && changes
        };
        if let Some(first) = (0..end).rev().find(touches) {
            pairs.push((first, second));
        }
    };
    for (thread, next) in &run.pending {
        before(run.events.len(), *thread, &next.op, Reversed::Pending(*thread));
    }
    for (at, event) in run.events.iter().enumerate().rev() {
        let is_own =
            matches!(event.op.act, Act::Spawn(_) | Act::Exit(_) | Act::Join | Act::Fail(_));
        // What readers do not see.
        let counts = matches!(
            event.op.act,
            Act::Retain | Act::Drop | Act::Senders(true) | Act::Receivers(true) | Act::Await(_)
        );
        if !is_own && !counts {
            before(at, event.step.thread, &event.op, Reversed::Event(at));
        }
    }
    pairs
}

/// Runs the program with the first one held back until the second one was performed. `None` if that
/// is impossible, or the execution is not right.
fn reverse(
    program: &mut Program,
    failing: &Run,
    (first, second): (usize, Reversed),
    steps_max: usize,
) -> Option<(Run, (Option<usize>, usize))> {
    let mut driver = Driver::new(program);
    let steps: Vec<Step> = failing.events.iter().map(|event| event.step).collect();
    if !steps[..first].iter().all(|step| driver.step(*step)) {
        return None;
    }
    let held = &failing.events[first];
    let mut delayed = Vec::new();
    let end = match second {
        Reversed::Event(at) => at,
        Reversed::Pending(_) => steps.len(),
    };
    for step in &steps[first..end] {
        match step.thread == held.step.thread {
            true => delayed.push(*step),
            false => {
                driver.step(*step);
            }
        }
    }
    let second_step = match second {
        Reversed::Event(at) => steps[at],
        Reversed::Pending(thread) => Step { thread, alternative: 0 },
    };
    let expected = match second {
        Reversed::Event(at) => &failing.events[at].op,
        Reversed::Pending(thread) => &failing.pending.iter().find(|one| one.0 == thread)?.1.op,
    };
    let is_it = driver.next(second_step.thread).is_some_and(|next| next.op == *expected);
    if !is_it || !driver.step(second_step) {
        return None;
    }
    let second_here = driver.events().len() - 1;
    for step in delayed.iter().chain(steps.get(end + 1..).unwrap_or_default()) {
        driver.step(*step);
    }
    driver.run_on(steps_max);
    let run = driver.finish();
    let after = run.events.iter().enumerate().skip(second_here);
    let first_here = after.into_iter().find(|(_, event)| {
        event.step.thread == held.step.thread && event.op.object == held.op.object
    });
    let first_here = first_here.map(|(at, _)| at);
    (run.is_right() && program.take_leaks().is_empty()).then_some((run, (first_here, second_here)))
}
