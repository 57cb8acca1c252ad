//! Our search and `stateright` on the same models in one run, and our search on the same models in
//! the model language: `cargo run --release [MODEL [THREADS]]`.
//!
//! The peer runs each model in two ways. *Ready-made*: each successor is an action, so that
//! hashing, the table of seen states and scheduling are compared and nothing else. *Its own way*:
//! actions first, then the state after each, as models for it are written. The ratios are to the
//! faster of the two. All share the code of the model; the peer keeps 64 bits of a state, we 128.
#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

#[path = "../../measure/mod.rs"]
mod measure;
#[path = "../../models/mod.rs"]
mod models;

mod language;
mod wrapped;

use anyorder_system::StateSystem;
use measure::{best, print_load, threads, timed};
use models::two_phase::TwoPhase;
use stateright::{Checker, Model};
use std::time::Instant;
use wrapped::{Acts, OwnWay, ReadyMade};

/// What is measured of one model.
struct Row<'a> {
    name: &'a str,
    /// The model in the language.
    text: String,
}

/// Whether a model was asked for, and with how many threads.
fn asked(name: &str) -> Vec<usize> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|wanted| !name.contains(wanted.as_str())) {
        return Vec::new();
    }
    let chosen = arguments.get(1).and_then(|threads| threads.parse().ok());
    chosen.map_or(vec![1, 4], |one: usize| vec![one])
}

fn peer<M>(threads: usize, make: impl Fn() -> M) -> (f64, u64)
where
    M: Model + Send + Sync + 'static,
    M::Action: Clone + PartialEq + std::fmt::Debug,
    M::State: std::hash::Hash + std::fmt::Debug + Clone + Send + Sync + PartialEq,
{
    best(|| {
        let model = make();
        let start = Instant::now();
        let checker = model.checker().threads(threads).spawn_bfs().join();
        (start.elapsed().as_secs_f64(), checker.unique_state_count() as u64)
    })
}

fn compare<S>(row: &Row<'_>, make: impl Fn() -> S)
where
    S: StateSystem + Acts + Send + 'static,
    S::State: std::hash::Hash + std::fmt::Debug + PartialEq,
{
    let name = row.name;
    for number in asked(name) {
        let system = make();
        let (ours, stats) = best(|| timed(&system, &threads(number)));
        let (ready, ready_states) = peer(number, || ReadyMade(make()));
        let (own, own_states) = peer(number, || OwnWay(make()));
        assert_eq!(stats.states, ready_states, "{name}: both count alike");
        assert_eq!(stats.states, own_states, "{name}: both count alike");
        let theirs = ready.min(own);
        let rate = |count: u64, seconds: f64| count as f64 / seconds / 1e6;
        println!(
            "{name:<8} {number} threads {:>8} states: ours {ours:>8.4} s {:>5.2} M states/s; stateright {:>5.2} ready-made, {:>5.2} its own \
             way; {:>5.2} times",
            stats.states,
            rate(stats.states, ours),
            rate(stats.states, ready),
            rate(stats.states, own),
            theirs / ours,
        );
        let Some(machine) = language::machine(name, &row.text) else { continue };
        let (seconds, found) = best(|| timed(&machine, &threads(number)));
        assert_eq!(
            (stats.states, stats.transitions),
            (found.states, found.transitions),
            "{name}: the language counts alike"
        );
        println!(
            "{name:<8} {number} threads          in the language: {seconds:>8.4} s {:>5.2} M states/s {:>5.2} M transitions/s; {:>5.2} times \
             stateright",
            rate(found.states, seconds),
            rate(found.transitions, seconds),
            theirs / seconds,
        );
    }
}

fn main() {
    print_load();
    for participants in 3..=8 {
        let name = format!("2pc-{participants}");
        let row = Row { name: &name, text: language::two_phase(participants) };
        compare(&row, || TwoPhase { participants });
    }
    for clients in 2..=3 {
        let name = format!("paxos-{clients}");
        compare(&Row { name: &name, text: language::paxos(clients) }, || models::paxos(clients));
    }
    for clients in 2..=3 {
        let name = format!("abd-2-{clients}");
        compare(&Row { name: &name, text: language::abd(2, clients) }, || models::abd(2, clients));
    }
    let row = Row { name: "single-3", text: language::single_copy(1, 3) };
    compare(&row, || models::single_copy(1, 3));
    print_load();
}
