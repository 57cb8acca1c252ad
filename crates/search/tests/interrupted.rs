//! Systems that are stopped in the middle of a call return nonsense. No search believes it: what a
//! stopped search reports is true, and a resumed one ends as if it had never been stopped.

use crate::random;

use anyorder_search::{
    Limit, Order, Outcome, Search, SearchOptions, Stats, Storage, WalkOptions, walk,
};
use anyorder_system::{Cancel, Control};
use random::{RandomSystem, Shape};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

fn system(seed: u64) -> RandomSystem {
    let shape = Shape {
        states: 300 + (seed % 5) as u32 * 90,
        branches: 4,
        failures: 400,
        ends: 100,
        broken: 400,
        triggers: 60,
        answers: 4,
        classes: (seed % 3) as usize,
        properties: 1,
        near: 100,
    };
    RandomSystem { lies: true, ..RandomSystem::new(seed, shape) }
}

/// The violations, each with the length of its path.
fn violations(outcome: &Outcome<RandomSystem>) -> BTreeSet<(String, usize)> {
    let one =
        |one: &anyorder_search::Violation<RandomSystem>| (one.name.clone(), one.path.steps.len());
    outcome.violations.iter().map(one).collect()
}

/// What does not depend on the places of the cuts: depth-first, the order does.
fn summary(outcome: &Outcome<RandomSystem>, order: Order) -> String {
    let depth = |number: u64| if order == Order::Breadth { number } else { 0 };
    let stats = Stats {
        max_depth: depth(outcome.stats.max_depth),
        frontier_peak: 0,
        bytes_per_state: 0,
        ..outcome.stats
    };
    let names: BTreeSet<String> = outcome.violations.iter().map(|one| one.name.clone()).collect();
    let lengths = (order == Order::Breadth).then(|| violations(outcome));
    format!("{stats:?} {names:?} {lengths:?} {:?} {:?}", outcome.responses, outcome.never_run)
}

#[test]
fn a_search_stopped_at_any_poll_goes_on_as_if_it_never_was() {
    let (mut cut, mut whole_at_once) = (0, 0);
    for seed in 1..=12 {
        for (order, storage) in [
            (Order::Breadth, Storage::Fingerprints),
            (Order::Breadth, Storage::Exact),
            (Order::Depth, Storage::Fingerprints),
            (Order::Depth, Storage::Exact),
        ] {
            let mut system = system(seed);
            system.weak = (storage == Storage::Exact && seed % 2 == 0).then_some(37);
            let threads = NonZeroUsize::new(1 + (seed % 3) as usize).unwrap();
            let options = SearchOptions { order, storage, threads, ..SearchOptions::default() };
            let start = || Search::new(&system, &options).unwrap();
            let whole = start().run(&Control::default()).unwrap();
            let names: BTreeSet<_> = whole.violations.iter().map(|one| &one.name).collect();
            let mut polls = seed % 7;
            while polls < 40_000 {
                let cancel = Cancel::after_polls(polls);
                let control = Control { cancel: cancel.clone(), ..Control::default() };
                let mut search = start();
                let outcome = search.run(&control).unwrap();
                let stopped = outcome.limits.contains(&Limit::Interrupt);
                assert_eq!(outcome.complete, !stopped, "{polls}");
                for one in &outcome.violations {
                    // Found before the stop, so it is there without a stop.
                    assert!(names.contains(&one.name), "{} {polls} {options:?}", one.name);
                }
                if stopped {
                    cut += 1;
                    let outcome = search.run(&Control::default()).unwrap();
                    let (a, b) = (summary(&outcome, order), summary(&whole, order));
                    assert_eq!(a, b, "seed {seed}, stopped at {polls} {options:?}");
                } else {
                    whole_at_once += 1;
                    assert_eq!(summary(&outcome, order), summary(&whole, order));
                    break;
                }
                polls = polls * 4 / 3 + 1;
            }
        }
    }
    assert!(cut > 500 && whole_at_once > 20, "{cut} {whole_at_once}");
}

#[test]
fn walks_stopped_at_any_poll_report_only_what_is_true() {
    for seed in 1..=20 {
        let system = system(seed);
        let options = WalkOptions { seed, walks: 30, steps_max: 60, deadlocks: true };
        let whole = walk(&system, &options, &Control::default()).unwrap();
        let names: BTreeSet<_> = whole.violations.iter().map(|one| &one.name).collect();
        for polls in (0..6_000).step_by(13) {
            let control = Control { cancel: Cancel::after_polls(polls), ..Control::default() };
            let outcome = walk(&system, &options, &control).unwrap();
            assert!(outcome.violations.iter().all(|one| names.contains(&one.name)), "{polls}");
            let done = outcome.stats.executions == 30;
            assert_eq!(done, outcome.limits.is_empty(), "{polls}");
        }
    }
}
