//! `#[anyorder::test]`: its body runs in all executions, whatever kind of function it is.

use anyorder::sync::Mutex;
use anyorder::{future, thread};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often the bodies below ran.
static RUNS: [AtomicUsize; 5] = [const { AtomicUsize::new(0) }; 5];

fn note(test: usize) {
    RUNS[test].fetch_add(1, Ordering::Relaxed);
}

#[anyorder::test]
fn a_function() {
    note(0);
    let count = Mutex::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *count.lock().unwrap() += 1);
        scope.spawn(|| *count.lock().unwrap() += 1);
    });
    assert_eq!(count.into_inner().unwrap(), 2);
}

#[anyorder::test(
    executions = 100_000,
    steps = 1_000,
    time = "60s",
    stack_size = 1_048_576,
    cores = 2,
    leaks_allowed,
    panics_are_results
)]
async fn an_async_function_with_all_options() {
    note(1);
    let thread = thread::spawn(|| assert_eq!(anyorder::choose(2), 0));
    let _ = thread.join();
    std::mem::forget(anyorder::sync::Arc::new(0));
    assert_eq!(future::spawn(async { 1 }).await.unwrap(), 1);
}

#[anyorder::test(time = "500ms")]
pub(crate) fn a_function_with_a_result() -> Result<(), std::num::ParseIntError> {
    note(2);
    let number: u32 = "2".parse()?;
    assert!(anyorder::choose(number) < 2);
    Ok(())
}

#[anyorder::test(replay = "1:aI1aX")]
async fn one_execution_alone() -> Result<(), String> {
    note(3);
    match anyorder::choose(3) {
        1 => Ok(()),
        other => Err(format!("chose {other}")),
    }
}

/// With a preemption, an update would be lost.
#[anyorder::test(preemptions = 0)]
fn a_bound() {
    note(4);
    let count = anyorder::sync::atomic::AtomicU32::new(0);
    let add = || {
        let before = count.load(Ordering::SeqCst);
        count.store(before + 1, Ordering::SeqCst);
    };
    thread::scope(|scope| {
        scope.spawn(add);
        scope.spawn(add);
    });
    assert_eq!(count.into_inner(), 2);
}

/// Without the option the check is not complete.
#[anyorder::test(turns = 40)]
fn a_loop_that_gives_up_late() {
    let flag = std::sync::Arc::new(anyorder::sync::atomic::AtomicU32::new(0));
    let theirs = std::sync::Arc::clone(&flag);
    thread::spawn(move || theirs.store(1, Ordering::SeqCst));
    for _ in 0..40 {
        if flag.load(Ordering::SeqCst) == 1 {
            break;
        }
        thread::yield_now();
    }
}

/// One execution for each trace.
#[anyorder::test(engine = "optimal")]
fn another_engine() {
    let count = anyorder::sync::atomic::AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| count.fetch_add(1, Ordering::SeqCst));
        scope.spawn(|| count.fetch_add(1, Ordering::SeqCst));
    });
    assert_eq!(count.into_inner(), 2);
}

#[test]
fn all_bodies_run_in_all_executions() {
    a_function();
    an_async_function_with_all_options();
    a_function_with_a_result();
    one_execution_alone();
    a_bound();
    let runs = RUNS.each_ref().map(|runs| runs.load(Ordering::Relaxed));
    assert!(runs[0] > 1 && runs[1] > 1 && runs[2] > 1, "{runs:?}");
    assert!(runs[3] >= 1 && runs[4] >= 1, "{runs:?}");
}
