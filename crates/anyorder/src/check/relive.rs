//! Executions that were recorded by what was performed, run again.

use super::run::{Driver, Run};
use crate::runtime::{Log, Misuse, Program};
use anyorder_threads::{Act, Object, ObjectId, Op, Step, ThreadId};
use std::time::{Duration, Instant};

/// Runs the execution of a log again: threads end as soon as they can.
pub(super) fn relive(program: &mut Program, log: &Log, steps_max: usize) -> Run {
    let mut driver = Driver::new(program);
    for (at, (thread, ..)) in log.iter().enumerate() {
        if !perform(&mut driver, *thread, log, at) {
            return driver.finish();
        }
    }
    driver.run_on(None, steps_max);
    driver.finish()
}

/// Performs an operation of a log, after the ends of threads that it waits for. Returns whether it
/// could.
fn perform(driver: &mut Driver<'_>, thread: ThreadId, log: &Log, at: usize) -> bool {
    let Some(alternative) = alternative(driver, log, at) else { return false };
    let step = Step { thread, alternative };
    while !driver.go(step) {
        let ends = |step: &&Step| {
            driver.next(step.thread).is_some_and(|next| matches!(next.op.act, Act::Exit(_)))
        };
        let Some(end) = driver.ready().iter().find(ends).copied() else { return false };
        driver.step(end);
    }
    true
}

/// The way in which an operation of a log was performed.
fn alternative(driver: &Driver<'_>, log: &Log, at: usize) -> Option<u32> {
    let (_, op, result) = &log[at];
    Some(match &op.act {
        Act::Choose(_) => *result as u32,
        Act::Notify { all: false, .. } => {
            let Some(Object::Condition { waiting, .. }) = driver.world().get(op.object) else {
                return None;
            };
            woken(waiting, &log[at..], op.object).unwrap_or(0)
        }
        _ => 0,
    })
}

/// Which of the waiting threads is woken first.
fn woken(waiting: &[ThreadId], later: &[(ThreadId, Op, u64)], condition: ObjectId) -> Option<u32> {
    let wakes = |(thread, op, result): &&(ThreadId, Op, u64)| {
        let is_it = op.object == condition && matches!(op.act, Act::Wake(_));
        is_it && *result == 1 && waiting.contains(thread)
    };
    let first = later.iter().find(wakes)?.0;
    waiting.iter().position(|thread| *thread == first).map(|at| at as u32)
}

/// Returns whether threads that spin at the end of an execution stop if they are let alone for a
/// while: their loops look at a clock, or count. `None` if they did not come to spin this time.
pub(super) fn stops_spinning(
    program: &mut Program,
    steps: &[Step],
    patience: Duration,
) -> Option<bool> {
    let mut driver = Driver::patient(program);
    if !steps.iter().all(|step| driver.go(*step)) {
        return None;
    }
    let until = Instant::now() + patience;
    let is_end = |act: &Act| matches!(act, Act::Exit(_) | Act::Fail(_));
    while Instant::now() < until {
        for _ in 0..64 {
            let Some(step) = driver.ready().first().copied() else { return Some(true) };
            let ends = driver.next(step.thread).is_some_and(|next| is_end(&next.op.act));
            if ends || !driver.step(step) {
                return Some(ends);
            }
        }
    }
    Some(false)
}

/// Runs an execution in which a use of memory may come after its free: as the log up to the use,
/// then all others as far as they come, and then the user. What it shows is noted by the program.
pub(super) fn provoke(program: &mut Program, candidate: &Misuse, steps_max: usize) {
    let (user, until) = candidate.user;
    let log = &candidate.log;
    let mut driver = Driver::new(program);
    for at in 0..until.min(log.len()) {
        if !perform(&mut driver, log[at].0, log, at) {
            return drop(driver.finish());
        }
    }
    for at in until..log.len() {
        let (thread, op, _) = &log[at];
        let is_next = driver.next(*thread).is_some_and(|next| next.op == *op);
        if *thread != user && is_next {
            perform_now(&mut driver, *thread, log, at);
        }
    }
    while driver.events().len() < steps_max {
        let others = |step: &&Step| step.thread != user;
        let Some(step) = driver.ready().iter().find(others).copied() else { break };
        driver.step(step);
    }
    driver.run_on(Some(user), steps_max);
    drop(driver.finish());
}

/// Performs an operation of a log, if it is possible without others.
fn perform_now(driver: &mut Driver<'_>, thread: ThreadId, log: &Log, at: usize) {
    if let Some(alternative) = alternative(driver, log, at) {
        driver.step(Step { thread, alternative });
    }
}
