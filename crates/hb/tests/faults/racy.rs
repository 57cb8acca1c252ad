//! The locations that race at all are those with a racing pair, for threads; each rule is noticed.

use crate::races::racy::Racy;
use crate::relation::conflicts::Conflicts;
use crate::relation::engine::{Engine, Mode};
use crate::relation::sabotage::Sabotage;
use anyorder_common::random::{Random, Rng};
use anyorder_hb::RuleSet;
use anyorder_system::Cancel;
use anyorder_testkit::effort::sampled;
use anyorder_testkit::{Naive, Rules};
use anyorder_trace::{EventId, EventKind, Mailbox, Mode as LockMode, Op, Trace, TraceBuilder};
use std::collections::BTreeSet;

/// Threads that read and write a few variables, mostly under the lock of the variable.
fn threads(seed: u64) -> Trace {
    let rng = &mut Rng::new(7_300_000 + seed);
    let mut b = TraceBuilder::new();
    let handlers = ["S", "T", "U", "V"].map(|name| b.handler(name, Mailbox::None).expect("few"));
    let tasks = handlers.map(|handler| b.initial(handler));
    for _ in 0..6 + rng.index(30) {
        let task = tasks[rng.index(4)];
        let at = rng.index(3);
        let (name, lock) = (["x", "y", "z"][at], ["l", "m", "n"][at]);
        let is_locked = rng.percent(85);
        if is_locked {
            b.acquire(task, lock, LockMode::EXCLUSIVE).expect("few");
        }
        match rng.index(12) {
            0 => {
                let location = b.variable(name).expect("few");
                let kind = if rng.percent(50) { EventKind::Write } else { EventKind::Read };
                b.push(task, Op::new(kind, LockMode::RELAXED), location.0);
            }
            1..8 => drop(b.read(task, name).expect("few")),
            _ => drop(b.write(task, name).expect("few")),
        }
        if is_locked {
            b.release(task, lock, LockMode::EXCLUSIVE).expect("few");
        }
    }
    b.finish()
}

/// Returns whether the locations that race are wrong: some are missing, or there are more than
/// those with an atomic access besides.
fn is_wrong(trace: &Trace, racing: &BTreeSet<u32>, sabotage: Sabotage) -> bool {
    let (mode, cancel) = (Mode { sabotage, ..Mode::default() }, Cancel::new());
    let mut engine = Engine::new(trace, RuleSet::Mailbox, mode, &cancel).expect("small traces fit");
    let conflicts = Conflicts::new(trace, |event| engine.strand_of(event), &cancel, None)
        .expect("small traces fit");
    let mut racy = Racy::new(trace, &conflicts);
    engine.visit(&mut racy, &cancel, &mut |_| {}).expect("small traces fit");
    let found = racy.locations();
    let is_atomic =
        |at: u32| trace.events().any(|event| event.operand == at && event.op.mode().is_atomic());
    (0..found.len() as u32).any(|at| {
        let expected = racing.contains(&at);
        found[at as usize] != expected && (expected || !is_atomic(at))
    })
}

#[test]
fn the_locations_that_race_are_those_with_a_racing_pair() {
    let faults = [Sabotage::RacyWithoutReads, Sabotage::RacyOneRead];
    let (mut noticed, mut seen) = ([0_u64; 2], [0_u64; 3]);
    for seed in sampled(600, 6_000) {
        let trace = threads(seed);
        let rules = Rules { set: anyorder_testkit::RuleSet::Mailbox, disabled: &[] };
        let races = Naive::new(&trace, rules).races();
        let operand = |event: EventId| trace.event(event).operand;
        let racing: BTreeSet<u32> = races.iter().map(|(first, _)| operand(*first)).collect();
        seen[racing.len().min(2)] += 1;
        let shown = || anyorder_testkit::show(&trace);
        assert!(!is_wrong(&trace, &racing, Sabotage::None), "seed {seed}\n{}", shown());
        for (fault, count) in faults.iter().zip(&mut noticed) {
            *count += u64::from(is_wrong(&trace, &racing, *fault));
        }
    }
    println!(
        "{seen:?} traces with no, one, more racing locations; {faults:?} noticed by {noticed:?}"
    );
    assert!(noticed.iter().chain(&seen).all(|count| *count > 0), "{seen:?} {noticed:?}");
}
