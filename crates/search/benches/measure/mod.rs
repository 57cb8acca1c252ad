//! Measures time: the least of several runs.

#![allow(dead_code, unreachable_pub, missing_docs, reason = "each bench uses some of it")]

pub mod growth;
pub mod scaling;

use anyorder_search::{SearchOptions, Stats, search};
use anyorder_system::{Control, StateSystem};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// The least number of runs.
const RUNS: u32 = 5;

/// The least total time.
const AT_LEAST: Duration = Duration::from_millis(200);

/// No further run starts after this time.
const AT_MOST: Duration = Duration::from_secs(20);

/// Runs a function several times that returns its seconds. Returns the least time, with its result.
pub fn best<R>(mut run: impl FnMut() -> (f64, R)) -> (f64, R) {
    let start = Instant::now();
    let mut least = run();
    let mut runs = 1;
    while (runs < RUNS || start.elapsed() < AT_LEAST) && start.elapsed() < AT_MOST {
        let next = run();
        if next.0 < least.0 {
            least = next;
        }
        runs += 1;
    }
    least
}

/// Searches once: seconds, and what was counted. A search that fails counts nothing.
pub fn timed<S: StateSystem>(system: &S, options: &SearchOptions) -> (f64, Stats) {
    let start = Instant::now();
    let outcome = search(system, options, &Control::default());
    let seconds = start.elapsed().as_secs_f64();
    (seconds, outcome.map(|outcome| outcome.stats).unwrap_or_default())
}

/// Options with so many threads.
pub fn threads(number: usize) -> SearchOptions {
    let threads = NonZeroUsize::new(number).unwrap_or(NonZeroUsize::MIN);
    SearchOptions { threads, ..SearchOptions::default() }
}

/// Prints the other load of the machine.
#[allow(clippy::print_stdout, reason = "a bench prints what it measured")]
pub fn print_load() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split(' ').take(3).collect();
    println!("load over 1, 5, 15 minutes: {}", load.join(", "));
}
