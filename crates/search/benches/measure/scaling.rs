//! The speed-up of further threads, next to the upper bound: as many searches with one thread each,
//! at the same time, that share nothing but the memory and the clock of the machine.
#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

use super::{print_load, threads, timed};
use anyorder_search::{SearchOptions, Storage};
use anyorder_system::StateSystem;
use std::thread;

const THREADS_MAX: usize = 4;

/// Runs of each row, in turn, so that other load affects all rows alike.
const ROUNDS: usize = 5;

/// Prints one line for each number of threads: seconds, speed-up and efficiency, and the same for
/// independent copies.
pub fn scaling<S: StateSystem>(name: &str, system: &S, storage: Storage) {
    let with = |number: usize| SearchOptions { storage, ..threads(number) };
    let mut shared = [f64::INFINITY; THREADS_MAX];
    let mut copies = [f64::INFINITY; THREADS_MAX];
    for _ in 0..ROUNDS {
        for number in 1..=THREADS_MAX {
            let place = number - 1;
            shared[place] = shared[place].min(timed(system, &with(number)).0);
            copies[place] = copies[place].min(alone_together(system, &with(1), number));
        }
    }
    for number in 1..=THREADS_MAX {
        let (ours, each) = (shared[number - 1], copies[number - 1]);
        let speedup = shared[0] / ours;
        let possible = number as f64 * copies[0] / each;
        println!(
            "{name:<10} {number} threads: {ours:>7.3} s, {speedup:>4.2} times as fast, efficiency {:>4.2}; {number} copies: {each:>7.3} s \
             each, {possible:>4.2} times, efficiency {:>4.2}; ours of what the machine gives: {:>4.2}",
            speedup / number as f64,
            possible / number as f64,
            speedup / possible,
        );
    }
    print_load();
}

/// The mean time of a search with one thread when `number` of them run.
fn alone_together<S: StateSystem>(system: &S, options: &SearchOptions, number: usize) -> f64 {
    let seconds: f64 = thread::scope(|scope| {
        let copies: Vec<_> =
            (0..number).map(|_| scope.spawn(|| timed(system, options).0)).collect();
        copies.into_iter().map(|copy| copy.join().unwrap_or(f64::INFINITY)).sum()
    });
    seconds / number as f64
}
