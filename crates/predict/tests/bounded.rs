//! Bounded tracking of critical sections against the definition, and against unbounded tracking.

mod common;

use anyorder_predict::{Analysis, BoundedAnalysis, Options, Stamp, Step, ViolationKind};
use anyorder_trace::Trace;
use common::generate::{Shape, trace};
use common::naive::{Naive, Order};
use common::{Rng, show};
use std::collections::BTreeSet;

#[derive(Default, Debug)]
struct Tally {
    exact: u64,
    with_losses: u64,
    ordered: u64,
    order_lost: u64,
    seconds: u64,
    seconds_extra: u64,
    seconds_missed: u64,
}

fn check(t: &Trace, depth: usize, tally: &mut Tally) {
    let naive = Naive::new(t, Order::Edc, false);
    let mut bounded = BoundedAnalysis::new(Options::default(), depth);
    bounded.grow(t.tables()).expect("small");
    let mut stamps: Vec<Stamp> = Vec::new();
    let mut lost = 0;
    for event in t.events() {
        let step = Step::of_event(t, event.id);
        bounded.step(t.tables(), step).expect("the trace is right");
        stamps.push(bounded.stamp().expect("there is an event"));
        let at = event.id.index();
        for (i, stamp) in stamps.iter().enumerate() {
            let (found, expected) = (bounded.knows(*stamp), naive.before[at][i]);
            assert!(!found || expected, "{i} before {at} in\n{}", show(t));
            tally.ordered += u64::from(expected);
            lost += u64::from(expected && !found);
        }
    }
    let report = bounded.finish();
    let racy = report.violations.iter().filter(|v| v.kind == ViolationKind::Racy);
    let found: BTreeSet<usize> = racy.map(|v| v.second.event as usize).collect();
    let expected: BTreeSet<usize> = naive.races().iter().map(|pair| pair.1).collect();
    tally.order_lost += lost;
    tally.seconds += expected.len() as u64;
    tally.seconds_extra += found.difference(&expected).count() as u64;
    tally.seconds_missed += expected.difference(&found).count() as u64;
    if report.counts.sections_lost == 0 {
        assert_eq!(lost, 0, "nothing was forgotten in\n{}", show(t));
        assert_eq!(found, expected, "second events of\n{}", show(t));
        tally.exact += 1;
    } else {
        tally.with_losses += 1;
    }
}

#[test]
fn what_is_not_forgotten_is_exact() {
    let mut tally = Tally::default();
    for seed in 1..=6_000 {
        let mut rng = Rng::new(7_000_000 + seed);
        let shape = Shape {
            events: 10 + rng.below(70),
            threads: 2 + rng.below(4),
            locks: 1 + rng.below(4),
            variables: 1 + rng.below(4),
            locking: 30 + rng.below(30),
            other: [0, 5, 15][rng.below(3)],
            atomic: [0, 0, 30][rng.below(3)],
            shared: [0, 0, 50][rng.below(3)],
            ranges: rng.chance(25),
            guarded: rng.chance(50),
        };
        let depth = [1, 2, 8, 64][rng.below(4)];
        check(&trace(&mut rng, shape), depth, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.exact > 100 && tally.with_losses > 100, "{tally:?}");
    assert!(tally.order_lost > 0 && tally.seconds > 0, "{tally:?}");
}
