//! States a second on models with known numbers of states. `cargo bench -p anyorder-search -- MODEL THREADS KIND`, each
//! optional.
#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

mod models;

use anyorder_search::{Options, Order, Storage, search};
use anyorder_system::{Control, StateSystem};
use models::two_phase::TwoPhase;
use std::num::NonZeroUsize;
use std::time::Instant;

fn measure<S: StateSystem>(name: &str, system: &S) {
    let filter: Vec<String> =
        std::env::args().skip(1).filter(|one| !one.starts_with('-')).collect();
    if filter.first().is_some_and(|wanted| !name.contains(wanted.as_str())) {
        return;
    }
    let chosen = filter.get(1).and_then(|threads| threads.parse::<usize>().ok());
    let threads = chosen.map_or(vec![1, 2, 4], |one| vec![one]);
    for (order, storage, label) in [
        (Order::Breadth, Storage::Fingerprints, "breadth fingerprints"),
        (Order::Depth, Storage::Fingerprints, "depth   fingerprints"),
        (Order::Breadth, Storage::Exact, "breadth exact       "),
    ] {
        if filter.get(2).is_some_and(|wanted| !label.contains(wanted.as_str())) {
            continue;
        }
        for threads in &threads {
            let threads = NonZeroUsize::new(*threads).unwrap_or(NonZeroUsize::MIN);
            let options = Options { order, storage, threads, ..Options::default() };
            let start = Instant::now();
            let outcome = search(system, &options, &Control::default());
            let seconds = start.elapsed().as_secs_f64();
            let Ok(outcome) = outcome else { continue };
            let stats = outcome.stats;
            println!(
                "{name:<14} {label} {threads} threads: {:>9} states {:>10} transitions depth {:>3} {:>3} B/state \
                 {seconds:>7.3} s {:>6.2} M states/s {:>6.2} M transitions/s",
                stats.states,
                stats.transitions,
                stats.max_depth,
                stats.bytes_per_state,
                stats.states as f64 / seconds / 1e6,
                stats.transitions as f64 / seconds / 1e6,
            );
        }
    }
}

fn main() {
    for participants in [6, 7, 8] {
        measure(&format!("2pc-{participants}"), &TwoPhase { participants });
    }
    measure("paxos-2", &models::paxos(2));
    measure("paxos-3", &models::paxos(3));
    measure("abd-2-2", &models::abd(2, 2));
    measure("single-3", &models::single_copy(1, 3));
}
