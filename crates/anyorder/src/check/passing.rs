//! The other run: one that does not fail, and differs from a failing one by one reversal.

use super::Limits;
use super::run::{Driver, Run};
use super::source::Sources;
use super::trace::Trace;
use crate::runtime::Program;
use anyorder_threads::{Act, Op, Step, ThreadId};
use std::time::{Duration, Instant};

/// The most executions that are tried for one failure.
const TRIES_MAX: usize = 48;

/// The most executions for the reports of one check, but for one that confirms each failure.
const EXECUTIONS_MAX: u64 = 500;

/// The most operations of an execution for which others are tried.
const OPERATIONS_MAX: usize = 5_000;

/// What may be spent on reports.
pub(super) struct Budget {
    /// The executions so far.
    pub(super) executions: u64,
    executions_max: u64,
    until: Option<Instant>,
    pub(super) steps_max: usize,
}

impl Budget {
    /// As many executions as the check itself may run, within the same time.
    pub(super) fn new(limits: Limits) -> Budget {
        Budget {
            executions: 0,
            executions_max: limits.executions_max.unwrap_or(u64::MAX).min(EXECUTIONS_MAX),
            until: limits.time_max.map(|time| Instant::now() + time),
            steps_max: limits.steps_max,
        }
    }

    /// What is left of the time, if that is limited.
    pub(super) fn time_left(&self) -> Option<Duration> {
        self.until.map(|until| until.saturating_duration_since(Instant::now()))
    }

    pub(super) fn is_spent(&self) -> bool {
        let is_late = self.until.is_some_and(|until| Instant::now() >= until);
        self.executions >= self.executions_max || is_late
    }
}

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

/// Tries the reversals of neighbours in conflict, from the end.
pub(super) fn find(
    program: &mut Program,
    failing: &Run,
    sources: &mut Sources,
    budget: &mut Budget,
) -> Option<Passing> {
    if failing.events.len() > OPERATIONS_MAX {
        return None;
    }
    for (first, second) in candidates(failing).into_iter().take(TRIES_MAX) {
        if budget.is_spent() {
            return None;
        }
        budget.executions += 1;
        if let Some((run, here)) = reverse(program, failing, (first, second), budget.steps_max) {
            let trace = Trace::new(program, &run, sources);
            return Some(Passing { reversed: (first, second), trace, here });
        }
    }
    None
}

/// Pairs of operations of two threads on one object, one of which changes it, with no other such
/// one on that object between them. The last ones first.
///
/// Of two sections of one lock it is the takings of the lock; of two accesses of locked data, the
/// first one begins where its lock is taken.
fn candidates(run: &Run) -> Vec<(usize, Reversed)> {
    let mut pairs = Vec::new();
    let mut before = |end: usize, thread: ThreadId, op: &Op, second: Reversed| {
        let mut objects = Vec::new();
        op.objects(|object| objects.push(object));
        let takes = matches!(op.act, Act::Lock(..));
        let touches = |at: &usize| {
            let event = &run.events[*at];
            let mut is_shared = false;
            event.op.objects(|object| is_shared |= objects.contains(&object));
            let changes = event.op.act.changes(event.result) || op.act.changes(1);
            let fits = !takes || matches!(event.op.act, Act::Lock(..));
            is_shared && event.step.thread != thread && changes && fits
        };
        if let Some(first) = (0..end).rev().find(touches) {
            pairs.push((section_of(run, first), second));
        }
    };
    for (thread, next) in &run.pending {
        before(run.events.len(), *thread, &next.op, Reversed::Pending(*thread));
    }
    for (at, event) in run.events.iter().enumerate().rev() {
        let is_own =
            matches!(event.op.act, Act::Spawn(_) | Act::Exit(_) | Act::Join | Act::Fail(_));
        // What readers do not see, and what follows from others.
        let tells_nothing = matches!(
            event.op.act,
            Act::Retain
                | Act::Drop
                | Act::Senders(_)
                | Act::Receivers(true)
                | Act::Await(_)
                | Act::Yield
                | Act::Unlock(_)
        );
        if !is_own && !tells_nothing {
            before(at, event.step.thread, &event.op, Reversed::Event(at));
        }
    }
    pairs
}

/// For an access of locked data, where the lock was taken.
fn section_of(run: &Run, at: usize) -> usize {
    let event = &run.events[at];
    if !matches!(event.op.act, Act::Use | Act::Alter(_)) {
        return at;
    }
    let own = (0..at).rev().filter(|other| run.events[*other].step.thread == event.step.thread);
    let mut own = own.map(|other| (other, &run.events[other].op.act));
    match own.find(|(_, act)| matches!(act, Act::Lock(..) | Act::Unlock(_))) {
        Some((lock, Act::Lock(..))) => lock,
        _ => at,
    }
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
    if !steps[..first].iter().all(|step| driver.go(*step)) {
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
    delayed.extend_from_slice(steps.get(end + 1..).unwrap_or_default());
    in_order(&mut driver, delayed);
    driver.run_on(None, steps_max);
    let run = driver.finish();
    let after = run.events.iter().enumerate().skip(second_here);
    let first_here = after.into_iter().find(|(_, event)| {
        event.step.thread == held.step.thread && event.op.object == held.op.object
    });
    let first_here = first_here.map(|(at, _)| at);
    let is_left = !program.take_leaks().is_empty();
    let is_misused = !program.take_misuses().0.is_empty();
    (run.is_right() && !is_left && !is_misused).then_some((run, (first_here, second_here)))
}

/// Performs steps in their order, but for those that have to wait for later ones.
fn in_order(driver: &mut Driver<'_>, mut steps: Vec<Step>) {
    loop {
        let (mut left, mut waiting) = (Vec::new(), Vec::new());
        let before = steps.len();
        for step in steps {
            if waiting.contains(&step.thread) || !driver.step(step) {
                waiting.push(step.thread);
                left.push(step);
            }
        }
        if left.len() == before || left.is_empty() {
            return;
        }
        steps = left;
    }
}
