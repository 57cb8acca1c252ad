//! One execution for each Mazurkiewicz trace, on several cores: the traces are those of one, and
//! each is run once, in whatever order the cores go on.

use super::optimal::{All, all_of, explore_up_to, failures, program_of, races, random_accesses};
use crate::optimal::{DporExplored, DporOptions, Meetings, Sabotage, explore_in_turns};
use crate::tests::script::Script;
use crate::tests::traces::{Trace, trace_of};
use anyorder_common::cancel::{Cancel, StopReason};
use anyorder_common::random::{Random, SplitMix64};
use anyorder_testkit::concurrent::{
    Concurrent, Do, Stmt, Thing, random_spinning_program, random_waiting_program,
};
use anyorder_testkit::effort::sampled;
use anyorder_threads::{
    Ending, Event, Incomplete, Next, Object, ObjectId, ThreadId, ThreadProgram, explore_optimal,
    explore_optimal_on,
};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A program of threads that read, write and count, and do more if they find something: what one
/// of them can do in one order it cannot do in another one.
fn random_branches(seed: u64) -> Concurrent {
    let mut rng = SplitMix64(seed ^ 0x5eed);
    let (threads, numbers) = (3 + rng.index(2), 2 + rng.index(2));
    let op = |rng: &mut SplitMix64| {
        let number = rng.index(numbers);
        Stmt::Do(match rng.below(6) {
            0 | 1 => Do::Load(number),
            2 | 3 => Do::Store(number, 1 + rng.below(2)),
            _ => Do::Add(number, 1),
        })
    };
    let body = |rng: &mut SplitMix64| {
        let first = op(rng);
        match rng.below(3) {
            0 => vec![first],
            1 => vec![first, op(rng)],
            _ => vec![first, Stmt::If(rng.below(3), vec![op(rng)], Vec::new())],
        }
    };
    let bodies: Vec<Vec<Stmt>> = (0..threads).map(|_| body(&mut rng)).collect();
    let main = (1..=threads).map(|child| Stmt::Do(Do::Spawn(child))).collect();
    let threads = std::iter::once(main).chain(bodies).collect();
    Concurrent { things: vec![Thing::Number(0); numbers], threads }
}

/// The example of the module: a branch that was begun does not find all that wakes a sleeper.
fn example() -> Concurrent {
    let (x, y) = (0, 1);
    let spawn = |child| Stmt::Do(Do::Spawn(child));
    let (main, others) = ([1, 2].map(spawn).to_vec(), [3, 4, 5].map(spawn).to_vec());
    let s = vec![Stmt::Do(Do::Store(x, 1))];
    let p = vec![Stmt::Do(Do::Add(y, 1))];
    let u = vec![Stmt::Do(Do::Load(y)), Stmt::If(2, vec![], vec![Stmt::Do(Do::Store(x, 2))])];
    let q = vec![Stmt::Do(Do::Add(y, 1)), Stmt::If(0, vec![Stmt::Do(Do::Store(x, 3))], vec![])];
    Concurrent { things: vec![Thing::Number(0); 2], threads: vec![main, s, others, p, u, q] }
}

/// What several workers see, one at a time in an order by a seed: what was counted, how often each
/// trace was run, and what happened between them.
type InTurns = (DporExplored, BTreeMap<Trace, u64>, Meetings);

fn in_turns(
    program: &Concurrent,
    (workers, seed, most): (usize, u64, u64),
    sabotage: Sabotage,
) -> Result<InTurns, Incomplete> {
    let mut rng = SplitMix64(seed);
    let mut programs: Vec<Script> = (0..workers).map(|_| Script::new(program.clone())).collect();
    let traces = RefCell::new(BTreeMap::new());
    let options = DporOptions { spins_max: 3, executions_max: most, ..DporOptions::default() };
    let visit = |events: &[Event], ending: Ending| {
        *traces.borrow_mut().entry(trace_of(events, ending)).or_default() += 1;
    };
    // Some orders prefer one worker, or the branches near the start, to others.
    let bias = rng.below(4);
    let mut choose = |count: usize| match bias {
        0 => rng.index(count),
        1 => rng.index(count).min(rng.index(count)),
        2 => rng.index(count).max(rng.index(count)),
        _ => {
            if rng.below(4) == 0 {
                rng.index(count)
            } else {
                count - 1
            }
        }
    };
    let (explored, meetings) =
        explore_in_turns(&mut programs, &options, &mut choose, &visit, sabotage)?;
    Ok((explored, traces.into_inner(), meetings))
}

/// What differs from all interleavings, if something does.
fn difference(all: &All, found: &InTurns) -> Option<String> {
    let (explored, traces, _) = found;
    let more: Vec<_> = traces.keys().filter(|trace| !all.traces.contains(*trace)).collect();
    let fewer: Vec<_> = all.traces.iter().filter(|trace| !traces.contains_key(*trace)).collect();
    let again: Vec<_> = traces.iter().filter(|trace| *trace.1 > 1).collect();
    let their_races = races(explored);
    let same_races = their_races.len() == all.races.len()
        && their_races.iter().all(|race| all.races.contains(race));
    let is_same = more.is_empty()
        && fewer.is_empty()
        && again.is_empty()
        && explored.blocked == 0
        && explored.executions == all.traces.len() as u64
        && failures(explored) == all.failures
        && same_races;
    (!is_same).then(|| format!("more {more:#?}\nfewer {fewer:#?}\nagain {again:#?}\n{explored:?}"))
}

fn any_program(seed: u64) -> Concurrent {
    match seed % 3 {
        0 => random_branches(seed),
        1 => random_accesses(seed),
        _ => program_of(seed),
    }
}

#[test]
fn in_any_order_each_trace_is_run_once() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in sampled(60, 12_000) {
        let mut count = |name, by| *counts.entry(name).or_default() += by;
        let is_small = seed % 2 == 0;
        let program = match seed % 20 {
            _ if is_small => program_of(seed),
            1 => example(),
            3 => late_fault(4),
            _ => any_program(seed),
        };
        let (alone, own, _) = explore_up_to(&program, (1_000, 3), Sabotage::None);
        if alone.incomplete.is_some() {
            count("too large", 1);
            continue;
        }
        // Where there are too many interleavings: one core runs each trace once, as its tests show.
        let all = if is_small { all_of(&program, 2_000, 3) } else { None };
        for workers in 1..=4 {
            let orders = if workers == 1 { 1 } else { 3 };
            for order in 0..orders {
                let setting = (workers, 1_000 * seed + order, 1_001);
                let Ok(found) = in_turns(&program, setting, Sabotage::None) else {
                    count("for one core", 1);
                    continue;
                };
                let (explored, traces, meetings) = &found;
                let counted = (explored.executions, explored.steps, explored.blocked);
                assert_eq!(counted, (alone.executions, alone.steps, 0), "{seed}: {program:#?}");
                assert_eq!(traces.len() as u64, alone.executions, "{seed}: {program:#?}");
                assert_eq!(meetings.states_left, 1, "{seed}: {meetings:?}");
                assert!(meetings.together == 0 || workers > 1, "seed {seed}: {meetings:?}");
                assert!(own.iter().eq(traces.keys()), "seed {seed}: {program:#?}");
                count("with all interleavings", u64::from(all.is_some()));
                if let Some(all) = &all
                    && let Some(difference) = difference(all, &found)
                {
                    panic!("seed {seed}, {workers} workers: {program:#?}\n{difference}");
                }
                count("orders", 1);
                count("traces", alone.executions);
                count("begun", meetings.begun);
                count("below", meetings.below);
                count("reopened", meetings.reopened);
                count("together", meetings.together);
                count("failures", failures(explored).len() as u64);
                count("races", races(explored).len() as u64);
                let ends = |ending| traces.keys().filter(|trace| trace.1 == ending).count() as u64;
                count("deadlocks", ends(Ending::Deadlock));
            }
        }
    }
    println!("{counts:#?}");
    let all = "with all interleavings";
    for name in [all, "begun", "below", "reopened", "together", "failures", "races", "deadlocks"] {
        assert!(counts.get(name).is_some_and(|count| *count > 3), "{name}: {counts:?}");
    }
    assert!(counts["for one core"] > 0 && counts["orders"] > 100, "{counts:?}");
}

/// Whether some program, in some order, shows that something is missing, or there twice or in vain.
fn is_noticed(sabotage: Sabotage, most: u64) -> bool {
    let programs = std::iter::once(example()).chain((1..most).map(any_program));
    programs.enumerate().any(|(number, program)| {
        let (alone, ..) = explore_up_to(&program, (200, 3), Sabotage::None);
        if alone.incomplete.is_some() {
            return false;
        }
        (0..12).any(|order| {
            let setting = (2 + order % 2, (100 * number + order) as u64, 400);
            let Ok(right) = in_turns(&program, setting, Sabotage::None) else { return false };
            let wrong = std::panic::catch_unwind(|| in_turns(&program, setting, sabotage));
            let Ok(Ok(wrong)) = wrong else { return true };
            (wrong.1, wrong.0.blocked) != (right.1, 0)
        })
    })
}

#[test]
fn rules_that_several_cores_drop_are_noticed() {
    use Sabotage::*;
    for fault in [BegunIsEnough, BegunNotAsked, BegunAwake, ForgottenTooEarly] {
        let begun = std::time::Instant::now();
        let is_noticed = is_noticed(fault, 2_000);
        println!("{fault:?} {is_noticed} {:?}", begun.elapsed());
        assert!(is_noticed, "{fault:?}");
    }
    assert!(is_noticed(BegunIsEnough, 1), "the example is none");
    assert!(!is_noticed(Sabotage::None, 20));
}

fn on(cores: usize, cores_from: u64, executions_max: u64) -> DporOptions {
    DporOptions { cores, cores_from, executions_max, ..DporOptions::default() }
}

/// On threads of the system, what is found is what one core finds, in the same order.
#[test]
fn several_cores_answer_as_one_does() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in sampled(200, 6_000) {
        let mut count = |name, by: bool| *counts.entry(name).or_default() += u64::from(by);
        let program = match seed % 6 {
            0 => random_spinning_program(seed, false),
            1 => random_waiting_program(seed),
            _ => any_program(seed / 2),
        };
        let most = if seed % 5 == 0 { 40 } else { 2_000 };
        let alone = explore_optimal(&mut Script::new(program.clone()), &on(1, 0, most));
        for cores in 2..=4 {
            let from = [0, 1, alone.executions / 2][(seed as usize + cores) % 3];
            let make = || Script::new(program.clone());
            let helped = explore_optimal_on(&mut make(), &make, &on(cores, from, most));
            let is_helped = helped.runs > alone.runs;
            count("helped", is_helped);
            count("with faults", is_helped && !alone.faults.is_empty());
            count("cut", is_helped && alone.incomplete == Some(Incomplete::Executions));
            let helped = DporExplored { runs: alone.runs, ..helped };
            assert_eq!(helped, alone, "seed {seed}, {cores} cores from {from} on: {program:#?}");
        }
    }
    println!("{counts:?}");
    for name in ["helped", "with faults", "cut"] {
        assert!(counts[name] > 10, "{counts:?}");
    }
}

/// A program with many traces, whose faults stand at the end of the order of one core.
fn late_fault(count: usize) -> Concurrent {
    let add = vec![Stmt::Do(Do::Add(0, 1))];
    let last = count as u64 - 1;
    let main = (1..=count).map(|child| Stmt::Do(Do::Spawn(child)));
    let mut threads = vec![main.collect()];
    threads.resize(count + 1, add.clone());
    threads[1].push(Stmt::If(last, vec![Stmt::Fail(7)], vec![]));
    Concurrent { things: vec![Thing::Number(0)], threads }
}

#[test]
fn what_was_found_is_kept_when_several_cores_are_stopped() {
    let program = late_fault(6);
    let make = || Script::new(program.clone());
    let whole = explore_optimal_on(&mut make(), &make, &on(3, 1, u64::MAX));
    assert_eq!((whole.executions, whole.faults.len()), (720, 1));
    // It is stopped while several cores run: by the program itself, in one of its executions.
    let mut kept = 0;
    for after in [100, 300, 500, 700] {
        let cancel = Cancel::new();
        let runs = std::sync::atomic::AtomicU64::new(0);
        let (stop, count) = (cancel.clone(), &runs);
        let make = || Stopping { script: make(), stop: stop.clone(), count, after };
        let options = DporOptions { cancel, ..on(3, 1, u64::MAX) };
        let cut = explore_optimal_on(&mut make(), &make, &options);
        assert_eq!(cut.incomplete, Some(Incomplete::Stopped(StopReason::Interrupted)));
        assert!(cut.executions + 5 >= after && cut.executions < 720, "{cut:?}");
        for found in &cut.faults {
            let found = DporExplored { faults: vec![found.clone()], ..DporExplored::default() };
            assert_eq!(failures(&found).into_iter().collect::<Vec<_>>(), [7]);
            kept += 1;
        }
    }
    assert!(kept > 0);
}

/// A program that asks for a stop in one of its executions.
struct Stopping<'c> {
    script: Script,
    stop: Cancel,
    count: &'c std::sync::atomic::AtomicU64,
    after: u64,
}

impl ThreadProgram for Stopping<'_> {
    fn start(&mut self) {
        if self.count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == self.after {
            self.stop.stop(StopReason::Interrupted);
        }
        self.script.start();
    }

    fn resume(&mut self, thread: ThreadId, result: u64) -> Next {
        self.script.resume(thread, result)
    }

    fn stop(&mut self) {
        self.script.stop();
    }

    fn initial(&self, object: ObjectId) -> Object {
        self.script.initial(object)
    }
}
