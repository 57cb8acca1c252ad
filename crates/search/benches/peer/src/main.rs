//! Our search and `stateright` on the same models in one run: `cargo run --release [MODEL [THREADS]]`.
//!
//! The peer gets each successor ready-made, so that what is compared is hashing, the table of seen states and scheduling. It
//! keeps 64 bits a state, we 128.
#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

#[path = "../../models/mod.rs"]
mod models;

use anyorder_search::{Options, search};
use anyorder_system::{Control, StateSystem};
use stateright::{Checker, Model, Property};
use std::fmt::Debug;
use std::hash::Hash;
use std::num::NonZeroUsize;
use std::time::Instant;

struct Wrapped<S>(S);

impl<S> Model for Wrapped<S>
where
    S: StateSystem + Send + 'static,
    S::State: Hash + Debug + PartialEq,
{
    type State = S::State;
    type Action = S::State;

    fn init_states(&self) -> Vec<S::State> {
        self.0.initial()
    }

    fn actions(&self, state: &S::State, actions: &mut Vec<S::State>) {
        let mut successors = Vec::new();
        self.0.successors(state, &mut successors);
        actions.extend(successors.into_iter().map(|successor| successor.state));
    }

    fn next_state(&self, _state: &S::State, action: S::State) -> Option<S::State> {
        Some(action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        // A property that is never discovered keeps the peer from stopping early.
        vec![Property::always("invariant", |model: &Wrapped<S>, state| model.0.holds(0, state))]
    }
}

fn compare<S>(name: &str, make: impl Fn() -> S)
where
    S: StateSystem + Send + 'static,
    S::State: Hash + Debug + PartialEq,
{
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|wanted| !name.contains(wanted.as_str())) {
        return;
    }
    let chosen = arguments.get(1).and_then(|threads| threads.parse().ok());
    for threads in chosen.map_or(vec![1, 4], |one: usize| vec![one]) {
        let number = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
        let system = make();
        let start = Instant::now();
        let outcome = search(
            &system,
            &Options { threads: number, ..Options::default() },
            &Control::default(),
        );
        let ours = start.elapsed().as_secs_f64();
        let states = outcome.map_or(0, |outcome| outcome.stats.states);
        let start = Instant::now();
        let peer = Wrapped(make()).checker().threads(threads).spawn_bfs().join();
        let theirs = start.elapsed().as_secs_f64();
        assert_eq!(states, peer.unique_state_count() as u64, "{name}: both count alike");
        let rate = |seconds: f64| states as f64 / seconds / 1e6;
        println!(
            "{name:<9} {threads} threads {states:>8} states: ours {ours:>7.3} s {:>6.2} M states/s, stateright {theirs:>7.3} s {:>6.2} M \
             states/s, {:>5.2} times",
            rate(ours),
            rate(theirs),
            theirs / ours,
        );
    }
}

fn main() {
    for participants in 3..=8 {
        compare(&format!("2pc-{participants}"), || models::two_phase::TwoPhase { participants });
    }
    compare("paxos-2", || models::paxos(2));
    compare("paxos-3", || models::paxos(3));
    compare("abd-2-2", || models::abd(2, 2));
    compare("single-3", || models::single_copy(1, 3));
}
