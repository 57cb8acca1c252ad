//! States a second on models with known numbers of states.
//!
//! | `cargo bench -p anyorder-search --bench search --` | what |
//! | --- | --- |
//! | `rates [MODEL [THREADS [KIND]]]` | orders and storages; the default |
//! | `scaling [MODEL]` | 1 to 4 threads, next to independent searches at the same time |
//! | `growth` | two-phase commit with 3 to 9 participants, Paxos with 1 to 3 clients, by storage, and under limits of memory |
#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

mod measure;
mod models;

use anyorder_search::{Order, SearchOptions, Storage};
use anyorder_system::StateSystem;
use measure::{best, growth, print_load, scaling, timed};
use models::two_phase::TwoPhase;

fn rates<S: StateSystem>(name: &str, system: &S, asked: &[String]) {
    if asked.first().is_some_and(|wanted| !name.contains(wanted.as_str())) {
        return;
    }
    let chosen = asked.get(1).and_then(|threads| threads.parse::<usize>().ok());
    let threads = chosen.map_or(vec![1, 2, 4], |one| vec![one]);
    for (order, storage, label) in [
        (Order::Breadth, Storage::Fingerprints, "breadth fingerprints"),
        (Order::Depth, Storage::Fingerprints, "depth   fingerprints"),
        (Order::Breadth, Storage::Exact, "breadth exact       "),
    ] {
        if asked.get(2).is_some_and(|wanted| !label.contains(wanted.as_str())) {
            continue;
        }
        for threads in &threads {
            let options = SearchOptions { order, storage, ..measure::threads(*threads) };
            let (seconds, stats) = best(|| timed(system, &options));
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

fn all_rates(asked: &[String]) {
    for participants in [6, 7, 8] {
        rates(&format!("2pc-{participants}"), &TwoPhase { participants }, asked);
    }
    rates("paxos-2", &models::paxos(2), asked);
    rates("paxos-3", &models::paxos(3), asked);
    rates("abd-2-2", &models::abd(2, 2), asked);
    rates("abd-2-3", &models::abd(2, 3), asked);
    rates("single-3", &models::single_copy(1, 3), asked);
}

fn all_scaling(asked: &[String]) {
    let wanted = |name: &str| asked.first().is_none_or(|wanted| name.contains(wanted.as_str()));
    for storage in [Storage::Fingerprints, Storage::Exact] {
        println!("{storage:?}");
        if wanted("2pc-8") {
            scaling::scaling("2pc-8", &TwoPhase { participants: 8 }, storage);
        }
        if wanted("paxos-3") {
            scaling::scaling("paxos-3", &models::paxos(3), storage);
        }
    }
}

fn all_growth() {
    for participants in 3..=9 {
        let system = TwoPhase { participants };
        growth::storages(&format!("2pc-{participants}"), &system, 64 << 20);
    }
    for clients in 1..=3 {
        growth::storages(&format!("paxos-{clients}"), &models::paxos(clients), 16 << 20);
    }
    let system = TwoPhase { participants: 9 };
    for storage in [Storage::Fingerprints, Storage::Exact] {
        for mebibytes in [64, 256, 1024] {
            growth::limited("2pc-9", &system, storage, mebibytes << 20);
        }
    }
    for mebibytes in [4, 16, 64, 128] {
        let bytes = mebibytes << 20;
        growth::limited("2pc-9", &system, Storage::Bitstate { bytes }, u64::MAX);
    }
    print_load();
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|one| !one.starts_with('-')).collect();
    match asked.split_first() {
        Some((mode, rest)) if mode == "rates" => all_rates(rest),
        Some((mode, rest)) if mode == "scaling" => all_scaling(rest),
        Some((mode, _)) if mode == "growth" => all_growth(),
        _ => all_rates(&asked),
    }
}
