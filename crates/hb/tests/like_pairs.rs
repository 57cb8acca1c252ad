//! Pairs of like runs that are only counted: all counts and groups are those of a check that keeps
//! every pair.

use anyorder_common::random::{Random, Rng};
use anyorder_hb::{Checked, CoverageLevel, GroupBy, RaceOptions, RuleSet, check};
use anyorder_system::Control;
use anyorder_testkit::effort::sampled;
use anyorder_testkit::{Shape, random_trace};
use anyorder_trace::{EventKind, Location, Mailbox, Mode, Trace, TraceBuilder};
use std::collections::BTreeSet;

/// Seeds per shape.
const SEEDS: u64 = 300;

/// A few threads that access few places again and again, with a few locks.
fn polled(seed: u64) -> Trace {
    let rng = &mut Rng::new(7_100_000 + seed);
    let mut b = TraceBuilder::new();
    let handlers = ["S", "T", "U"].map(|name| b.handler(name, Mailbox::None).expect("few"));
    let tasks = handlers.map(|handler| b.initial(handler));
    let ranges = [(0, 8), (4, 4), (8, 4)].map(|(address, size)| {
        let range = Location::Range { address: 64 + address, size, generation: 0 };
        b.interner.location(range).expect("few")
    });
    for _ in 0..8 + rng.index(60) {
        let at = rng.index(3);
        b.at("a.c", 1 + rng.index(3) as u32).expect("few");
        match rng.index(12) {
            0 | 1 => {
                let lock = ["S", "T", "U", "m"][if rng.index(3) == 0 { 3 } else { at }];
                b.acquire(tasks[at], lock, Mode::EXCLUSIVE).expect("few");
                b.release(tasks[at], lock, Mode::EXCLUSIVE).expect("few");
            }
            2..6 => {
                let _ = b.push(tasks[at], EventKind::Write.into(), ranges[rng.index(3)].0);
            }
            n => {
                let name = ["x", "y"][rng.index(2)];
                let pushed = match n % 2 {
                    0 => b.read(tasks[at], name),
                    _ => b.write(tasks[at], name),
                };
                let _ = pushed.expect("few");
            }
        }
    }
    b.finish()
}

fn assert_equal(trace: &Trace, options: &RaceOptions, place: &str) -> u64 {
    let with = |like_pairs_max| RaceOptions { like_pairs_max, max_pairs: 100_000, ..*options };
    let checked = |options: &RaceOptions| check(trace, options, &Control::default());
    let all = checked(&with(usize::MAX));
    let mut left_out = 0;
    for kept in [0, 1, 5] {
        let some = checked(&with(kept));
        let without_steps = |of: &Checked<'_>| {
            let mut statistics = of.statistics.clone();
            statistics.steps = 0;
            statistics
        };
        assert_eq!(without_steps(&some), without_steps(&all), "{place} {kept}");
        assert_eq!(some.groups.len(), all.groups.len(), "{place}");
        for (one, other) in some.groups.iter().zip(&all.groups) {
            let key = |of: &anyorder_hb::RaceGroup| {
                (of.category, of.pairs_total, of.uncovered_pairs, of.filters.clone())
            };
            assert_eq!(key(one), key(other), "{place} {kept}");
            let pairs: BTreeSet<_> = other.pairs.iter().collect();
            assert_eq!(pairs.len() as u64, other.pairs_total, "{place}");
            assert!(one.pairs.iter().all(|pair| pairs.contains(pair)), "{place} {kept}");
            if options.coverage == CoverageLevel::Access {
                // Of other groups, the first pair may be another one.
                let uncovered = one.uncovered_pairs as usize;
                assert!(uncovered == 0 || one.location == other.location, "{place} {kept}");
                assert_eq!(one.pairs[..uncovered], other.pairs[..uncovered], "{place} {kept}");
            }
            left_out += one.pairs_total - one.pairs.len() as u64;
        }
    }
    left_out
}

#[test]
fn counts_are_those_of_a_check_that_keeps_every_pair() {
    let mut left_out = [0; 2];
    for seed in sampled(SEEDS / 2, SEEDS) {
        for by in [GroupBy::Field, GroupBy::Sites] {
            let coverage = [CoverageLevel::Access, CoverageLevel::Task][(seed % 2) as usize];
            let of = |rules| RaceOptions { group_by: by, coverage, ..RaceOptions::new(rules) };
            let trace = polled(seed);
            left_out[0] += assert_equal(&trace, &of(RuleSet::Threads), &format!("polled {seed}"));
            for shape in Shape::all() {
                let trace = random_trace(seed, &shape.1);
                let rules = [RuleSet::Mailbox, RuleSet::Threads][(seed % 2) as usize];
                left_out[1] += assert_equal(&trace, &of(rules), &format!("{} {seed}", shape.0));
            }
        }
    }
    println!("{left_out:?} pairs left out");
    assert!(left_out[0] > 5_000 && left_out[1] > 20, "{left_out:?}");
}
