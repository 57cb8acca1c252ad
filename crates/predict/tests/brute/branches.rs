//! Traces that record branches: reads on which nothing depends may observe anything.

use crate::brute::confirmed::{Tally, check_trace};
use crate::brute::generate::{Flavour, RandomSource, trace, value_chain, with_branches};
use crate::brute::types::{TraceCalls, Types};
use crate::brute::{STATES_MAX, all_pairs};
use anyorder_testkit::Reorderings;
use anyorder_trace::{EventKind, NameId, Trace};

/// Returns the trace with events without effect in the place of its branches.
fn without_branches(t: &Trace) -> Trace {
    let mut columns = t.columns().clone();
    for at in 0..columns.len() {
        if columns.ops[at].kind() == EventKind::Other {
            columns.operands[at] = NameId::EMPTY.0;
        }
    }
    Trace::new(t.tables().clone(), columns)
}

#[test]
fn the_search_finds_what_brute_force_finds_with_branches() {
    let (types, mut tally) = (Types::new(), Tally::default());
    let (mut freed, mut kept) = (0, 0);
    for seed in anyorder_testkit::effort::sampled(250, 2_000) {
        let mut rng = RandomSource::new(seed);
        // Everywhere but in these, something nearly always depends on a read.
        let free = [Flavour::Plain, Flavour::Locks, Flavour::Guarded, Flavour::Forks];
        let flavour = if rng.chance(60) { free[rng.below(4)] } else { Flavour::of(seed) };
        let t = trace(&mut rng, flavour, 10);
        for t in [with_branches(&mut rng, &t), value_chain(&mut rng)] {
            check_trace(&t, &format!("seed {seed}, {flavour:?}"), &types, &mut tally);
            let pairs = |t: &Trace| {
                let observes = TraceCalls::new(&types, t);
                let brute = Reorderings::new(t, &observes);
                brute.best(&observes, &all_pairs(t), STATES_MAX).expect("a small trace")
            };
            let (with, without) = (pairs(&t), pairs(&without_branches(&t)));
            assert!(without.keys().all(|pair| with.contains_key(pair)), "seed {seed}");
            freed += with.len() - without.len();
            kept += without.len();
        }
    }
    println!("{freed} pairs more than {kept}; {tally:#?}");
    assert!(freed > 60 && tally.confirmed.len() == 3 && tally.impossible > 0, "{freed} {tally:?}");
}
