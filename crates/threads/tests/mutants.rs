//! The tests of the exploration, tested: with one rule dropped they fail.

use crate::learn::{Sabotage, explore_with_fault};
use crate::tests::script::Script;
use anyorder_testkit::concurrent::{
    Concurrent, Do, Order, Stmt, Thing, everything, racy_cells, random_program,
    random_racy_program, random_specified_program,
};
use anyorder_threads::{Fault, LearnOptions};
use std::collections::BTreeSet;

/// Seeds of programs that show a fault of the search each, and of those that show one of races.
const SHOWING: [u64; 12] = [2, 17, 24, 29, 52, 64, 77, 101, 116, 130, 250, 1];
const SHOWING_CALLS: [u64; 8] = [8, 9, 11, 12, 43, 102, 732, 1_529];
const SHOWING_RACES: [u64; 7] = [37, 87, 122, 270, 406, 469, 2_932];

fn options(classes: bool) -> LearnOptions {
    let executions_max = 5_000;
    LearnOptions { classes, spins_max: 3, executions_max, ..LearnOptions::default() }
}

/// The seeds of programs, with those that show a fault, as the generator is now, before all others.
fn tried(showing: &[u64]) -> impl Iterator<Item = u64> {
    showing.iter().copied().chain(1..6_000)
}

/// Whether some random program shows that something is missing.
fn is_noticed(sabotage: Sabotage) -> bool {
    let by_seed = tried(&SHOWING).find(|seed| {
        let seed = *seed;
        let program = random_program(seed, 4 + (seed % 9) as usize);
        let Some(all) = everything(&program, 5_000, 3) else { return false };
        [false, true].into_iter().any(|classes| {
            let mut script = Script::new(program.clone());
            let learnt = explore_with_fault(&mut script, &options(classes), sabotage);
            let stuck = |found: &&anyorder_threads::Found| {
                matches!(found.fault, Fault::Deadlock(_) | Fault::Livelock(_))
            };
            let is_stuck = learnt.faults.iter().any(|found| stuck(&found));
            script.seen != all.seen
                || is_stuck != all.ends.iter().any(|end| !end.1.is_empty())
                || (classes && learnt.classes as usize != all.ends.len())
        })
    });
    println!("{sabotage:?}: noticed by seed {by_seed:?}");
    by_seed.is_some()
}

/// Whether some random program about objects with specifications shows something else.
fn is_noticed_by_calls(sabotage: Sabotage) -> bool {
    let by_seed = tried(&SHOWING_CALLS).find(|seed| {
        let seed = *seed;
        let program = random_specified_program(seed, 3 + (seed % 7) as usize, false);
        let Some(all) = everything(&program, 5_000, 3) else { return false };
        let mut script = Script::new(program.clone());
        let learnt = explore_with_fault(&mut script, &options(false), sabotage);
        script.seen != all.seen || learnt.incomplete.is_some()
    });
    println!("{sabotage:?}: noticed by seed {by_seed:?}");
    by_seed.is_some()
}

fn is_noticed_by_races_of_calls(sabotage: Sabotage) -> bool {
    let shows = |seed: &u64| shows(&random_specified_program(*seed, 4, true), 600, sabotage);
    let by_seed = tried(&SHOWING_CALLS).find(shows);
    println!("{sabotage:?}: noticed by seed {by_seed:?}");
    by_seed.is_some()
}

fn is_noticed_by_races(sabotage: Sabotage) -> bool {
    let shows = |seed: &u64| shows(&random_racy_program(*seed), 600, sabotage);
    let by_seed = tried(&SHOWING_RACES).find(shows);
    println!("{sabotage:?}: noticed by seed {by_seed:?}");
    by_seed.is_some()
}

/// Whether the races of a program are others with a fault.
fn shows(program: &Concurrent, most: usize, sabotage: Sabotage) -> bool {
    let Some(racy) = racy_cells(program, most) else { return false };
    let mut script = Script::new(program.clone());
    let learnt = explore_with_fault(&mut script, &options(false), sabotage);
    let cell = |found: &anyorder_threads::Found| match &found.fault {
        Fault::Race(race) => Some(race.object.index()),
        _ => None,
    };
    let cells: BTreeSet<usize> = learnt.faults.iter().filter_map(cell).collect();
    cells != racy
}

/// The reader may read the flag before it is written, and sees the same value.
#[test]
fn forgotten_views_are_noticed() {
    let body = |ops: &[Do]| ops.iter().copied().map(Stmt::Do).collect();
    let flag = |value| Do::StoreAs(1, value, Order::Relaxed);
    let program = Concurrent {
        things: vec![Thing::Number(1), Thing::Number(0), Thing::Content(0)],
        threads: vec![
            body(&[Do::Spawn(1), Do::Spawn(2), Do::Spawn(3)]),
            body(&[Do::Poke(2), Do::StoreAs(0, 1, Order::Release)]),
            body(&[flag(1)]),
            body(&[Do::LoadAs(0, Order::Acquire), flag(2), Do::Peek(2)]),
        ],
    };
    assert!(!shows(&program, 1_000_000, Sabotage::None));
    assert!(shows(&program, 1_000_000, Sabotage::ViewsForgotten));
}

#[test]
fn dropped_rules_of_the_search_are_noticed() {
    use Sabotage::*;
    let all = [
        ReadsCommute,
        AdditionsCommute,
        AttemptsCommute,
        WaitingNeedsNobody,
        OneSearch,
        ObjectsForgotten,
        ContentsForgotten,
        SpawnsForgotten,
        FuturesForgotten,
        AnyJoinWaits,
        NobodyIsLast,
    ];
    let missed: Vec<Sabotage> = all.into_iter().filter(|fault| !is_noticed(*fault)).collect();
    assert_eq!(missed, []);
}

#[test]
fn dropped_rules_of_races_are_noticed() {
    use Sabotage::*;
    let all = [
        ReadsAcquire,
        WritesRelease,
        SequencesGoOn,
        SequencesEnd,
        NoFences,
        ReadersLearn,
        WritesInherit,
    ];
    let missed: Vec<Sabotage> =
        all.into_iter().filter(|fault| !is_noticed_by_races(*fault)).collect();
    assert_eq!(missed, []);
}

#[test]
fn dropped_rules_of_calls_are_noticed() {
    use Sabotage::*;
    let all =
        [CallsCommute, OwnersForgotten, BodiesForgotten, ValuesForgotten, InvocationsInterrupted];
    let missed: Vec<Sabotage> =
        all.into_iter().filter(|fault| !is_noticed_by_calls(*fault)).collect();
    assert_eq!(missed, []);
    let missed: Vec<Sabotage> = [CallsSynchronise, CallsDoNotSynchronise, SidesSynchronise]
        .into_iter()
        .filter(|fault| !is_noticed_by_races_of_calls(*fault))
        .collect();
    assert_eq!(missed, []);
}
