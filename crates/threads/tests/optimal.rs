//! One execution for each Mazurkiewicz trace, against all interleavings.

use crate::optimal::{DporExplored, DporOptions, Sabotage, explore_with_fault};
use crate::tests::script::Script;
use crate::tests::traces::{Trace, trace_of};
use anyorder_common::random::{Random, SplitMix64};
use anyorder_testkit::concurrent::{
    Concurrent, Do, Hold, Stmt, Thing, Waits, random_program, random_racy_program,
    random_spinning_program, random_waiting_program,
};
use anyorder_testkit::effort::sampled;
use anyorder_threads::{Act, Ending, Fault, Race, every_execution, races_of};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// What all interleavings show.
#[derive(Default)]
pub(crate) struct All {
    pub(crate) traces: BTreeSet<Trace>,
    pub(crate) failures: BTreeSet<u32>,
    pub(crate) races: Vec<Race>,
    executions: u64,
    ops: BTreeSet<String>,
}

const SPINS: u32 = 3;

/// All interleavings, unless there are too many.
pub(crate) fn all_of(program: &Concurrent, most: u64, spins: u32) -> Option<All> {
    let mut script = Script::new(program.clone());
    let mut left = most;
    let plain = every_execution(&mut script, (1_000, spins), |_, _, _| {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if !plain.complete {
        return None;
    }
    let mut all = All { executions: plain.executions, ..All::default() };
    every_execution(&mut script, (1_000, spins), |_, events, ending| {
        all.traces.insert(trace_of(events, ending));
        for event in events {
            if let Act::Fail(number) = event.op.act {
                all.failures.insert(number);
            }
        }
        for race in races_of(events).into_iter().map(Race::normal) {
            if !all.races.contains(&race) {
                all.races.push(race);
            }
        }
        ControlFlow::Continue(())
    });
    all.ops = script.ops;
    Some(all)
}

/// What the exploration sees, and which traces it runs again.
fn explore(
    program: &Concurrent,
    sabotage: Sabotage,
) -> (DporExplored, BTreeSet<Trace>, Vec<Trace>) {
    explore_up_to(program, (10_000, SPINS), sabotage)
}

pub(crate) fn explore_up_to(
    program: &Concurrent,
    (executions_max, spins_max): (u64, u32),
    sabotage: Sabotage,
) -> (DporExplored, BTreeSet<Trace>, Vec<Trace>) {
    let mut script = Script::new(program.clone());
    let (mut traces, mut again) = (BTreeSet::new(), Vec::new());
    let options = DporOptions { spins_max, executions_max, ..DporOptions::default() };
    let mut visit = |events: &[anyorder_threads::Event], ending: Ending| {
        let trace = trace_of(events, ending);
        if !traces.insert(trace.clone()) {
            again.push(trace);
        }
    };
    let explored = explore_with_fault(&mut script, &options, &mut visit, sabotage);
    (explored, traces, again)
}

pub(crate) fn failures(explored: &DporExplored) -> BTreeSet<u32> {
    let failures = explored.faults.iter().filter_map(|found| match found.fault {
        Fault::Failure(number) => Some(number),
        _ => None,
    });
    failures.collect()
}

pub(crate) fn races(explored: &DporExplored) -> Vec<Race> {
    let races = explored.faults.iter().filter_map(|found| match found.fault {
        Fault::Race(race) => Some(race.normal()),
        _ => None,
    });
    races.collect()
}

/// What differs, if something does.
fn difference(program: &Concurrent, all: &All, spins: u32) -> Option<String> {
    let (explored, traces, again) = explore_up_to(program, (10_000, spins), Sabotage::None);
    let more: Vec<_> = traces.difference(&all.traces).collect();
    let fewer: Vec<_> = all.traces.difference(&traces).collect();
    let (found, expected) = (races(&explored), &all.races);
    let same_races = found.len() == expected.len() && found.iter().all(|r| expected.contains(r));
    let is_same = more.is_empty()
        && fewer.is_empty()
        && again.is_empty()
        && explored.blocked == 0
        && explored.incomplete.is_none()
        && explored.executions == traces.len() as u64
        && failures(&explored) == all.failures
        && same_races;
    (!is_same).then(|| {
        format!(
            "more {more:#?}\nfewer {fewer:#?}\nagain {again:#?}\nraces {found:?}\n{expected:?}\n\
            {explored:?}"
        )
    })
}

pub(crate) fn program_of(seed: u64) -> Concurrent {
    match seed % 8 {
        0 => random_racy_program(seed),
        _ => random_program(seed, 3 + (seed % 4) as usize),
    }
}

#[test]
fn each_trace_is_run_once() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut ops = BTreeSet::new();
    for seed in sampled(400, 8_000) {
        let mut count = |name, by| *counts.entry(name).or_default() += by;
        let program = program_of(seed);
        let Some(mut all) = all_of(&program, 2_000, SPINS) else {
            count("too large", 1);
            continue;
        };
        if let Some(difference) = difference(&program, &all, SPINS) {
            panic!("seed {seed}: {program:#?}\n{difference}");
        }
        count("programs", 1);
        count("interleavings", all.executions);
        count("traces", all.traces.len() as u64);
        count("failures", all.failures.len() as u64);
        count("races", all.races.len() as u64);
        let endings: BTreeSet<Ending> = all.traces.iter().map(|trace| trace.1).collect();
        count("deadlocks", u64::from(endings.contains(&Ending::Deadlock)));
        count("livelocks", u64::from(endings.contains(&Ending::Livelock)));
        ops.append(&mut all.ops);
    }
    let names: BTreeSet<&str> =
        ops.iter().map(|op| op.split([' ', '(', '{']).next().unwrap_or_default()).collect();
    println!("{counts:#?}\n{names:?}");
    assert!(names.len() >= 32, "{names:?}");
    for name in ["failures", "races", "deadlocks", "livelocks"] {
        assert!(counts[name] > 3, "{name}: {counts:?}");
    }
    assert!(counts["interleavings"] > 10 * counts["traces"], "{counts:?}");
}

/// A program of short threads that only read and write a few numbers, spawned by the main thread.
pub(crate) fn random_accesses(seed: u64) -> Concurrent {
    let mut rng = SplitMix64(seed);
    let (threads, numbers) = (3 + rng.index(4), 1 + rng.index(3));
    let mut op = || {
        let number = rng.index(numbers);
        Stmt::Do(match rng.below(6) {
            0 | 1 => Do::Load(number),
            2 | 3 => Do::Store(number, 1 + rng.below(2)),
            4 => Do::Swap(number, rng.below(2), 1),
            _ => Do::Add(number, 1),
        })
    };
    let mut body = |at: usize| (0..1 + (seed as usize + at) % 2).map(|_| op()).collect();
    let bodies: Vec<Vec<Stmt>> = (1..=threads).map(&mut body).collect();
    let main = (1..=threads).map(|child| Stmt::Do(Do::Spawn(child))).collect();
    let threads = std::iter::once(main).chain(bodies).collect();
    Concurrent { things: vec![Thing::Number(0); numbers], threads }
}

/// Two take a lock together, and a third one takes it alone; nobody gives it back.
fn takers() -> Concurrent {
    let take = |hold| vec![Stmt::Do(Do::Lock(0, hold, Waits::Ever))];
    let main = (1..=3).map(|child| Stmt::Do(Do::Spawn(child))).collect();
    let threads = vec![main, take(Hold::Read), take(Hold::Read), take(Hold::Write)];
    Concurrent { things: vec![Thing::Lock], threads }
}

/// Whether some program shows that something is missing, or there twice or in vain.
fn is_noticed(sabotage: Sabotage) -> bool {
    let random = (1..3_000).map(|seed| match seed % 2 {
        0 => random_accesses(seed),
        _ => program_of(seed),
    });
    let few = [takers(), crate::tests::programs::owners(3)];
    few.into_iter().chain(random).any(|program| {
        let (right, traces, _) = explore_up_to(&program, (200, SPINS), Sabotage::None);
        if right.incomplete.is_some() {
            return false;
        }
        let wrong = std::panic::catch_unwind(|| explore_up_to(&program, (400, SPINS), sabotage));
        wrong.map_or(true, |(wrong, other, again)| {
            other != traces || !again.is_empty() || wrong.blocked > 0
        })
    })
}

#[test]
fn dropped_rules_are_noticed() {
    use Sabotage::*;
    let all = [
        WritesCommute,
        ReadsCommute,
        ReadsConflict,
        SleepersSleepOn,
        NobodySleeps,
        SleepersNotAsked,
        BeginnersWithin,
        BeginnersAnywhere,
        OwnBranch,
        BranchesAreLeaves,
        WaitingForgotten,
        LastConflictOnly,
        NobodyLeftOut,
        FirstWayOnly,
        TouchesStay,
        LastOwnersCommute,
    ];
    let missed: Vec<Sabotage> = all
        .into_iter()
        .filter(|fault| {
            let begun = std::time::Instant::now();
            let is_noticed = is_noticed(*fault);
            println!("{fault:?} {is_noticed} {:?}", begun.elapsed());
            !is_noticed
        })
        .collect();
    assert_eq!(missed, []);
}

/// Programs whose numbers of traces are known: from the literature, or by counting.
#[test]
fn the_traces_of_known_programs_are_counted() {
    use crate::tests::programs as known;
    let factorial = |n: u64| (1..=n).product::<u64>();
    let choose = |n: u64, k: u64| factorial(n) / factorial(k) / factorial(n - k);
    for n in 2..=5_u64 {
        let size = n as usize;
        let expected = [
            ("counter", known::counter(size, 1), factorial(n)),
            ("readers", known::readers(size), 1 << n),
            ("locked readers", known::locked_readers(size), factorial(n + 1)),
            ("same writes", known::same_writes(size), factorial(n + 1)),
            ("shared readers", known::shared_readers(size), 1),
            ("lastzero", known::lastzero(size), [5, 12, 28, 64][size - 2]),
            ("fkp", known::checker_and_adders(size), factorial(n + 1)),
            ("demo", known::counter(2, size), choose(2 * n, n)),
            ("owners", known::owners(size), n),
        ];
        for (name, program, count) in expected {
            let (explored, traces, again) = explore(&program, Sabotage::None);
            println!("{name} {n}: {} of {}", explored.executions, explored.steps);
            assert_eq!(explored.incomplete, None, "{name} {n}");
            assert_eq!(explored.executions, count, "{name} {n}");
            assert_eq!((explored.blocked, again.len()), (0, 0), "{name} {n}");
            assert_eq!(traces.len() as u64, count, "{name} {n}");
        }
    }
}

/// Loops that give up are explored turn by turn, and those that wait for a change wait.
#[test]
fn loops_that_give_up_are_run_turn_by_turn() {
    let (mut compared, mut count) = (0, 0);
    for seed in sampled(60, 4_000) {
        let program = match seed % 4 {
            0 => random_waiting_program(seed),
            _ => random_spinning_program(seed, false),
        };
        let Some(all) = all_of(&program, 1_000, 200) else { continue };
        if let Some(difference) = difference(&program, &all, 200) {
            panic!("seed {seed}: {program:#?}\n{difference}");
        }
        compared += 1;
        count += all.traces.len();
    }
    println!("{compared} programs, {count} traces");
    assert!(compared > 4 && count > 15, "{compared} {count}");
}
