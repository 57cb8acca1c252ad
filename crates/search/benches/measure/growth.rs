//! How states, time and memory grow with the model, by storage and under a limit of memory.
#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

use super::{best, threads, timed};
use anyorder_search::{SearchOptions, Storage, search};
use anyorder_system::{Control, Limits, StateSystem};
use std::time::Instant;

/// Prints one line for each storage.
pub fn storages<S: StateSystem>(name: &str, system: &S, bitstate_bytes: u64) {
    for (storage, label) in [
        (Storage::Fingerprints, "fingerprints"),
        (Storage::Exact, "exact"),
        (Storage::Bitstate { bytes: bitstate_bytes }, "bitstate"),
    ] {
        let options = SearchOptions { storage, ..threads(1) };
        let (seconds, stats) = best(|| timed(system, &options));
        println!(
            "{name:<10} {label:<12} {:>10} states {:>11} transitions depth {:>3} frontier {:>9} {:>4} B/state {seconds:>8.3} s \
             {:>5.2} M states/s {:>6.2} M transitions/s",
            stats.states,
            stats.transitions,
            stats.max_depth,
            stats.frontier_peak,
            stats.bytes_per_state,
            stats.states as f64 / seconds / 1e6,
            stats.transitions as f64 / seconds / 1e6,
        );
    }
}

/// Prints how far a search gets with so many bytes.
pub fn limited<S: StateSystem>(name: &str, system: &S, storage: Storage, bytes: u64) {
    let options = SearchOptions { storage, ..threads(1) };
    let limits = Limits { memory_bytes: Some(bytes), ..Limits::default() };
    let control = Control { limits, ..Control::default() };
    let start = Instant::now();
    let Ok(outcome) = search(system, &options, &control) else { return };
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{name:<10} {storage:?} in {:>5} MiB: {:>10} states, complete: {}, ended by {:?}, {seconds:.3} s",
        bytes >> 20,
        outcome.stats.states,
        outcome.complete,
        outcome.limits,
    );
}
