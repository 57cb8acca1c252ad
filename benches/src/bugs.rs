//! Programs with a bug that few orders show, and how many random executions it takes to meet one.

use anyorder::Program;
use anyorder::sync::{Arc, Mutex, atomic::AtomicUsize};
use anyorder::thread::{JoinHandle, spawn};
use anyorder_threads::{Cancel, LearnOptions, Sampling, StopReason, sample};
use std::sync::atomic::Ordering::SeqCst;

/// Runs a program of some size. Returns whether the bug showed.
type Bug = fn(usize) -> bool;

const BUGS: &[(&str, Bug, usize)] = &[
    ("reorder", reorder, 4),
    ("reorder", reorder, 10),
    ("twostage", twostage, 10),
    ("chain", chain, 4),
    ("chain", chain, 6),
    ("stopped", stopped, 3),
    ("last", last, 8),
];

const SAMPLERS: [Sampling; 5] = [
    Sampling::Walk,
    Sampling::Priorities { depth: 3 },
    Sampling::Priorities { depth: 5 },
    Sampling::PartialOrder,
    Sampling::ReadsFrom,
];

/// The seeds of each line, and the most executions of each seed.
const SEEDS: u64 = 15;
const EXECUTIONS_MAX: u64 = 5_000;

fn count_of<const N: usize>() -> Arc<[AtomicUsize; N]> {
    Arc::new(std::array::from_fn(|_| AtomicUsize::new(0)))
}

fn any(threads: Vec<JoinHandle<bool>>) -> bool {
    threads.into_iter().map(|thread| thread.join().unwrap()).fold(false, |any, one| any | one)
}

/// n threads set two numbers one after the other; one thread sees the first without the second.
fn reorder(n: usize) -> bool {
    let shared = count_of::<2>();
    for _ in 0..n {
        let shared = Arc::clone(&shared);
        spawn(move || {
            shared[0].store(1, SeqCst);
            shared[1].store(1, SeqCst);
        });
    }
    let [first, second] = &*shared;
    first.load(SeqCst) == 1 && second.load(SeqCst) == 0
}

/// n threads set a number under one lock and then, under another one, a second number to one more;
/// a thread that sees the first expects the second.
fn twostage(n: usize) -> bool {
    let data = Arc::new((Mutex::new(0), Mutex::new(0)));
    let writers = (0..n).map(|_| {
        let data = Arc::clone(&data);
        spawn(move || {
            *data.0.lock().unwrap() = 1;
            let seen = *data.0.lock().unwrap();
            *data.1.lock().unwrap() = seen + 1;
            false
        })
    });
    let mut all: Vec<JoinHandle<bool>> = writers.collect();
    let reader = Arc::clone(&data);
    all.push(spawn(move || {
        let first = *reader.0.lock().unwrap();
        first == 1 && *reader.1.lock().unwrap() != 2
    }));
    any(all)
}

/// Thread k makes k + 1 of k, if it finds k: all in a row, started the other way round.
fn chain(n: usize) -> bool {
    let shared = count_of::<1>();
    let step = |from: usize| {
        let shared = Arc::clone(&shared);
        spawn(move || {
            if shared[0].load(SeqCst) == from {
                shared[0].store(from + 1, SeqCst);
            }
            false
        })
    };
    any((0..n).rev().map(step).collect());
    shared[0].load(SeqCst) == n
}

/// A driver is stopped while n threads use it: one of them goes on after it has stopped.
fn stopped(n: usize) -> bool {
    let shared = count_of::<3>();
    let [flag, users, done] = [0, 1, 2];
    let leave = move |shared: &[AtomicUsize; 3]| {
        if shared[users].fetch_sub(1, SeqCst) == 0 {
            shared[done].store(1, SeqCst);
        }
    };
    let use_it = |_| {
        let shared = Arc::clone(&shared);
        spawn(move || {
            if shared[flag].load(SeqCst) == 1 {
                return false;
            }
            shared[users].fetch_add(1, SeqCst);
            let is_wrong = shared[done].load(SeqCst) == 1;
            leave(&shared);
            is_wrong
        })
    };
    let mut all: Vec<JoinHandle<bool>> = (0..n).map(use_it).collect();
    let stop = Arc::clone(&shared);
    all.push(spawn(move || {
        stop[flag].store(1, SeqCst);
        leave(&stop);
        false
    }));
    any(all)
}

/// n threads add one; the thread that was started first reads n, after all of them.
fn last(n: usize) -> bool {
    let shared = count_of::<1>();
    let reader = Arc::clone(&shared);
    let reader = spawn(move || reader[0].load(SeqCst));
    for _ in 0..n {
        let shared = Arc::clone(&shared);
        spawn(move || shared[0].fetch_add(1, SeqCst));
    }
    reader.join().unwrap() == n
}

/// The executions until the bug shows, or none if it does not.
fn executions(bug: Bug, size: usize, sampling: Sampling, seed: u64) -> Option<u64> {
    let cancel = Cancel::new();
    let options = LearnOptions {
        executions_max: EXECUTIONS_MAX,
        cancel: cancel.clone(),
        ..LearnOptions::default()
    };
    let mut program = Program::new(move || {
        if bug(size) {
            cancel.stop(StopReason::Interrupted);
        }
    });
    let sampled = sample(&mut program, sampling, seed, &options);
    options.cancel.check().is_err().then_some(sampled.executions)
}

/// Prints a table: the median over seeds, and how many seeds found none.
pub fn compare() {
    println!("| bug | n | walk | PCT 3 | PCT 5 | POS | RFF |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for (name, bug, size) in BUGS {
        let cells = SAMPLERS.map(|sampling| {
            let all = (0..SEEDS).map(|seed| executions(*bug, *size, sampling, seed));
            let mut all: Vec<u64> = all.map(|one| one.unwrap_or(u64::MAX)).collect();
            all.sort_unstable();
            let none = all.iter().filter(|one| **one == u64::MAX).count();
            let median = match all[all.len() / 2] {
                u64::MAX => format!("> {EXECUTIONS_MAX}"),
                median => median.to_string(),
            };
            if none == 0 { median } else { format!("{median} ({none} none)") }
        });
        println!("| `{name}` | {size} | {} |", cells.join(" | "));
    }
}
