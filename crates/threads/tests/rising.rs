//! Bounds of preemptions against the naive search of all interleavings within them.

use crate::learn::{Sabotage, explore_with_fault};
use crate::tests::script::Script;
use anyorder_testkit::concurrent::{
    Concurrent, Outcome, everything, everything_within, racy_cells, racy_cells_within,
    random_program, random_racy_program, random_specified_program, random_spinning_program,
};
use anyorder_testkit::effort::sampled;
use anyorder_threads::{Fault, Found, Incomplete, LearnOptions, Learnt, explore_by_learning};
use std::collections::{BTreeMap, BTreeSet};

/// Seeds of programs that show a dropped rule each, as the generators are now.
const SHOWING: [u64; 5] = [1, 12, 26, 1_031, 3_335];

fn within(most: u32, classes: bool) -> LearnOptions {
    let preemptions_max = Some(most);
    LearnOptions { preemptions_max, classes, spins_max: 30, ..LearnOptions::default() }
}

/// The failures, and the sets of threads that get stuck.
fn faults(learnt: &Learnt) -> (BTreeSet<u32>, BTreeSet<BTreeSet<usize>>) {
    let failure = |found: &Found| match found.fault {
        Fault::Failure(number) => Some(number),
        _ => None,
    };
    let stuck = |found: &Found| match &found.fault {
        Fault::Deadlock(blocked) | Fault::Livelock(blocked) => {
            Some(blocked.iter().map(|blocked| blocked.thread.index()).collect())
        }
        _ => None,
    };
    (
        learnt.faults.iter().filter_map(failure).collect(),
        learnt.faults.iter().filter_map(stuck).collect(),
    )
}

fn stuck(all: &Outcome) -> BTreeSet<BTreeSet<usize>> {
    all.ends.iter().map(|end| end.1.clone()).filter(|stuck| !stuck.is_empty()).collect()
}

/// The generators, in turns.
fn program_of(seed: u64) -> Concurrent {
    match seed % 5 {
        4 => random_spinning_program(seed, false),
        0 => random_specified_program(seed, 3 + (seed % 7) as usize, false),
        _ => random_program(seed, 4 + (seed % 8) as usize),
    }
}

/// What differs from the naive search, if something does.
fn difference(
    program: &Concurrent,
    all: &Outcome,
    options: &LearnOptions,
    sabotage: Sabotage,
) -> Option<(&'static str, Learnt)> {
    let mut script = Script::new(program.clone());
    let learnt = explore_with_fault(&mut script, options, sabotage);
    let (failures, found) = faults(&learnt);
    let has_stuck = found.is_empty() != stuck(all).is_empty() || !found.is_subset(&stuck(all));
    let checks = [
        ("incomplete", learnt.incomplete.is_some()),
        ("missing", !all.seen.is_subset(&script.seen)),
        ("beyond the bound", !script.seen.is_subset(&all.seen)),
        ("failures", failures != all.failures),
        ("stuck", has_stuck),
        ("stuck, in classes", options.classes && found != stuck(all)),
        ("classes", options.classes && learnt.classes as usize != all.ends.len()),
    ];
    checks.into_iter().find(|check| check.1).map(|check| (check.0, learnt))
}

#[test]
fn bounds_keep_what_is_within_them() {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut count = |name: String, by: u64| *counts.entry(name).or_default() += by;
    for seed in sampled(260, 4_000) {
        let program = program_of(seed);
        let Some(whole) = everything(&program, 8_000, 30) else { continue };
        let mut script = Script::new(program.clone());
        let options = LearnOptions { spins_max: 30, ..LearnOptions::default() };
        let unbounded = explore_by_learning(&mut script, &options).executions;
        for most in 0..4 {
            let Some(all) = everything_within(&program, most, 20_000, 30) else { continue };
            let is_specified = seed % 5 == 0;
            for classes in [false, true].into_iter().filter(|classes| !(*classes && is_specified)) {
                let found = difference(&program, &all, &within(most, classes), Sabotage::None);
                assert_eq!(found, None, "seed {seed}, {most}, classes {classes}: {program:#?}");
            }
            let learnt =
                explore_by_learning(&mut Script::new(program.clone()), &within(most, false));
            // A search that says that it is everything has seen everything.
            let is_whole = all.seen == whole.seen && all.failures == whole.failures;
            assert!(is_whole || learnt.preemptions == Some(most), "seed {seed}, {most}");
            // The ends of programs with specifications do not tell the insides of calls.
            let has_more = learnt.executions > all.ends.len() as u64;
            assert!(is_specified || !has_more, "seed {seed}, {most}: {program:#?}");
            count(format!("{most}: programs"), 1);
            count(format!("{most}: less than everything"), u64::from(!is_whole));
            count(format!("{most}: everything, and said"), u64::from(learnt.preemptions.is_none()));
            count(format!("{most}: failures"), all.failures.len() as u64);
            count(format!("{most}: stuck"), stuck(&all).len() as u64);
            count(format!("{most}: states"), learnt.states);
            count(format!("{most}: naive states"), all.states as u64);
            count(format!("{most}: executions"), learnt.executions);
            count(format!("{most}: executions without a bound"), unbounded);
            count(
                format!("{most}: more executions than without"),
                u64::from(learnt.executions > unbounded),
            );
        }
    }
    println!("{counts:#?}");
    for most in 0..3 {
        for name in ["less than everything", "failures", "stuck"] {
            assert!(counts[&format!("{most}: {name}")] > 4, "{name}: {counts:#?}");
        }
    }
    assert!(counts["3: everything, and said"] > 20, "{counts:#?}");
}

#[test]
fn races_within_a_bound_are_those_of_the_executions_within_it() {
    let (mut counts, mut noticed) = ([[0_u64; 3]; 3], 0);
    let cells = |learnt: &Learnt| -> BTreeSet<usize> {
        let cell = |found: &Found| match &found.fault {
            Fault::Race(race) => Some(race.object.index()),
            _ => None,
        };
        learnt.faults.iter().filter_map(cell).collect()
    };
    for seed in sampled(200, 2_000) {
        let program = random_racy_program(seed);
        let Some(all) = racy_cells(&program, 1_000) else { continue };
        for most in 0..3 {
            let Some(racy) = racy_cells_within(&program, most, 1_000) else { continue };
            let explore = |sabotage| {
                let mut script = Script::new(program.clone());
                cells(&explore_with_fault(&mut script, &within(most, false), sabotage))
            };
            assert_eq!(explore(Sabotage::None), racy, "seed {seed}, {most}: {program:#?}");
            noticed += u64::from(explore(Sabotage::AllIsLocal) != racy);
            let count = &mut counts[most as usize];
            count[0] += 1;
            count[1] += u64::from(!racy.is_empty());
            count[2] += u64::from(racy != all);
        }
    }
    println!("programs, racy, with more races beyond: {counts:?}; noticed {noticed}");
    for [programs, racy, _] in counts {
        assert!(programs > 30 && racy > 10, "{counts:?}");
    }
    assert!(counts[0][2] > 0 && noticed > 0, "{counts:?}, {noticed}");
}

/// An exploration that is cut goes on by rising preemptions, and what it says to have tried it has.
#[test]
fn what_is_cut_says_how_far_it_came() {
    let (mut said, mut whole, mut none) = ([0; 8], 0, 0);
    for seed in sampled(110, 2_000) {
        let program = program_of(seed);
        let Some(all) = everything(&program, 5_000, 30) else { continue };
        let unlimited = LearnOptions { spins_max: 30, ..LearnOptions::default() };
        let enough = explore_by_learning(&mut Script::new(program.clone()), &unlimited).executions;
        for executions_max in [enough / 2, enough.saturating_sub(1), enough + 1] {
            let mut script = Script::new(program.clone());
            let options = LearnOptions { executions_max, ..unlimited.clone() };
            let learnt = explore_by_learning(&mut script, &options);
            assert!(learnt.executions <= executions_max, "seed {seed}");
            if learnt.incomplete.is_none() {
                assert_eq!(script.seen, all.seen, "seed {seed}: {program:#?}");
                assert_eq!(learnt.preemptions, None, "seed {seed}");
                whole += 1;
                continue;
            }
            assert_eq!(learnt.incomplete, Some(Incomplete::Executions), "seed {seed}");
            let Some(most) = learnt.preemptions else {
                none += 1;
                continue;
            };
            let Some(all) = everything_within(&program, most, 20_000, 30) else { continue };
            assert!(all.seen.is_subset(&script.seen), "seed {seed}, {most}: {program:#?}");
            let (failures, found) = faults(&learnt);
            assert!(all.failures.is_subset(&failures), "seed {seed}, {most}: {program:#?}");
            assert!(stuck(&all).is_empty() || !found.is_empty(), "seed {seed}, {most}");
            said[most as usize] += 1;
        }
    }
    println!("said {said:?}, whole {whole}, none {none}");
    let is_varied = said[0] > 10 && said[1..].iter().sum::<u64>() > 0;
    assert!(is_varied && whole > 20 && none > 5, "{said:?} {whole} {none}");
}

#[test]
fn dropped_rules_of_bounds_are_noticed() {
    use Sabotage::*;
    let all = [
        LastForgotten,
        ExecutionsPreempt,
        TimedWaitsGoOn,
        GivingWayGoesOn,
        GivingIsLocal,
        AllIsLocal,
    ];
    let is_noticed = |sabotage: &Sabotage| {
        let by_seed = SHOWING.into_iter().chain(1..6_000).find(|seed| {
            let program = program_of(*seed);
            (0..3).any(|most| {
                everything_within(&program, most, 5_000, 30).is_some_and(|all| {
                    difference(&program, &all, &within(most, false), *sabotage).is_some()
                })
            })
        });
        println!("{sabotage:?}: noticed by seed {by_seed:?}");
        by_seed.is_some()
    };
    let missed: Vec<Sabotage> = all.into_iter().filter(|fault| !is_noticed(fault)).collect();
    assert_eq!(missed, []);
}
