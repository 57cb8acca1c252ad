//! Pairs of like runs that are only counted: all counts and groups are those of a check that keeps
//! every pair.

use anyorder_common::random::{Random, Rng};
use anyorder_hb::{Checked, CoverageLevel, GroupBy, RaceOptions, RuleSet, check};
use anyorder_system::Control;
use anyorder_testkit::effort::sampled;
use anyorder_testkit::{Shape, random_trace};
use anyorder_trace::{
    EventKind, HandlerId, Location, Mailbox, Mode, Op, TaskId, Trace, TraceBuilder,
};
use std::collections::{BTreeMap, BTreeSet};

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
                // Races of a variable that is only numbered are grouped by source position.
                let name = ["x", "V2"][rng.index(2)];
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

/// Many threads or tasks that access few places, and learn little of each other.
fn crowded(seed: u64) -> Trace {
    let rng = &mut Rng::new(7_200_000 + seed);
    let mut b = TraceBuilder::new();
    let main = b.handler("main", Mailbox::None).expect("few");
    let main = b.initial(main);
    let mailboxes = [Mailbox::None, Mailbox::Bag, Mailbox::Fifo, Mailbox::Delayed];
    let handlers: Vec<_> = (0..2 + rng.index(5))
        .map(|i| {
            let mailbox = mailboxes[if seed.is_multiple_of(3) { 0 } else { rng.index(4) }];
            (b.handler(&format!("h{i}"), mailbox).expect("few"), mailbox)
        })
        .collect();
    let mut running: Vec<TaskId> = vec![main];
    let mut pending: Vec<TaskId> = Vec::new();
    for (handler, mailbox) in &handlers {
        b.on_handler(main, EventKind::Fork, *handler);
        if *mailbox == Mailbox::None {
            running.push(b.initial(*handler));
        }
    }
    let loops: Vec<_> = handlers.iter().filter(|(_, mailbox)| *mailbox != Mailbox::None).collect();
    // The task that each loop runs.
    let mut current: BTreeMap<HandlerId, TaskId> = BTreeMap::new();
    for i in 0..20 + rng.index(80) {
        let task = running[rng.index(running.len())];
        match rng.index(24) {
            0..3 if !loops.is_empty() => {
                let (handler, mailbox) = *loops[rng.index(loops.len())];
                let delay = if mailbox == Mailbox::Delayed { rng.index(2) as u64 } else { 0 };
                let posted = b.delayed_task(&format!("t{i}"), handler, delay).expect("few");
                b.post(task, posted).expect("few");
                pending.push(posted);
            }
            3..8 if !pending.is_empty() => {
                // The first one: each mailbox may deliver it, unless a later one has no delay.
                let next = pending.remove(0);
                let handler = b.interner.tables.tasks[next.index()].handler;
                if let Some(old) = current.insert(handler, next) {
                    b.end(old).expect("few");
                    running.retain(|running| *running != old);
                }
                b.get(next).expect("few");
                running.push(next);
            }
            8 | 9 => {
                b.acquire(task, "m", Mode::EXCLUSIVE).expect("few");
                b.release(task, "m", Mode::EXCLUSIVE).expect("few");
            }
            n => {
                b.at("a.c", 1 + rng.index(2) as u32).expect("few");
                let location = b.variable(["x", "x", "y"][rng.index(3)]).expect("few");
                let modes = [Mode::PLAIN, Mode::PLAIN, Mode::RELAXED, Mode::RELEASE, Mode::ACQUIRE];
                let mode = modes[if seed.is_multiple_of(2) { 0 } else { rng.index(5) }];
                let kind = [EventKind::Read, EventKind::Write, EventKind::Rmw][n % 3];
                b.push(task, Op::new(kind, mode), location.0);
            }
        }
    }
    b.finish()
}

/// Returns how many pairs were left out, and how often some were counted together.
fn assert_equal(trace: &Trace, options: &RaceOptions, place: &str) -> [u64; 2] {
    let with = |like_pairs_max| RaceOptions { like_pairs_max, max_pairs: 100_000, ..*options };
    let checked = |options: &RaceOptions| check(trace, options, &Control::default());
    let all = checked(&with(usize::MAX));
    let mut left_out = [0; 2];
    for kept in [0, 1, 5] {
        let some = checked(&with(kept));
        let without_steps = |of: &Checked<'_>| {
            let mut statistics = of.statistics.clone();
            (statistics.steps, statistics.counted) = (0, 0);
            statistics
        };
        left_out[1] += some.statistics.counted;
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
            left_out[0] += one.pairs_total - one.pairs.len() as u64;
        }
    }
    left_out
}

#[test]
fn counts_are_those_of_a_check_that_keeps_every_pair() {
    let (mut left_out, mut crowds) = ([[0; 2]; 2], [[0; 2]; 3]);
    let add = |all: &mut [u64; 2], some: [u64; 2]| {
        all.iter_mut().zip(some).for_each(|(all, some)| *all += some);
    };
    for seed in sampled(SEEDS / 2, SEEDS) {
        for by in [GroupBy::Field, GroupBy::Sites] {
            let coverage = [CoverageLevel::Access, CoverageLevel::Task][(seed % 2) as usize];
            let of = |rules| RaceOptions { group_by: by, coverage, ..RaceOptions::new(rules) };
            let trace = polled(seed);
            let place = format!("polled {seed}");
            add(&mut left_out[0], assert_equal(&trace, &of(RuleSet::Threads), &place));
            for (i, rules) in RuleSet::ALL.into_iter().enumerate() {
                for seed in [3 * seed, 3 * seed + 1, 3 * seed + 2] {
                    let place = format!("crowded {seed} {}", rules.word());
                    add(&mut crowds[i], assert_equal(&crowded(seed), &of(rules), &place));
                }
            }
            for shape in Shape::all() {
                let trace = random_trace(seed, &shape.1);
                let rules = [RuleSet::Mailbox, RuleSet::Threads][(seed % 2) as usize];
                let place = format!("{} {seed}", shape.0);
                add(&mut left_out[1], assert_equal(&trace, &of(rules), &place));
            }
        }
    }
    println!("{left_out:?} {crowds:?} pairs left out and counted together");
    assert!(left_out[0][0] > 5_000 && left_out[1][0] > 20, "{left_out:?}");
    assert!(crowds.iter().flatten().all(|count| *count > 1_000), "{crowds:?}");
}
