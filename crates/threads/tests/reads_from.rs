//! One execution for each reads-from class, against all interleavings.

use crate::tests::optimal::random_accesses;
use crate::tests::script::Script;
use crate::tests::traces::{Class, class_of};
use crate::weak::{Sabotage, explore_classes};
use anyorder_testkit::concurrent::{Concurrent, Stmt, random_program, random_racy_program};
use anyorder_testkit::effort::sampled;
use anyorder_threads::{
    Act, DporExplored, DporOptions, Ending, Event, Fault, Incomplete, ThreadProgram as _,
    every_execution, races_of,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// What all interleavings show.
#[derive(Default)]
struct All {
    classes: BTreeSet<Class>,
    failures: BTreeSet<u32>,
    racy: BTreeSet<usize>,
    executions: u64,
    ops: BTreeSet<String>,
}

/// All interleavings, unless there are too many.
fn all_of(program: &Concurrent, most: u64) -> Option<All> {
    let mut script = Script::new(program.clone());
    let mut left = most;
    let plain = every_execution(&mut script, (1_000, 3), |_, _, _| {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if !plain.complete {
        return None;
    }
    let mut all = All { executions: plain.executions, ..All::default() };
    every_execution(&mut script, (1_000, 3), |script, events, ending| {
        all.classes.insert(class_of(events, ending, &|object| script.initial(object)));
        all.failures.extend(events.iter().filter_map(|event| match event.op.act {
            Act::Fail(number) => Some(number),
            _ => None,
        }));
        all.racy.extend(races_of(events).iter().map(|race| race.object.index()));
        ControlFlow::Continue(())
    });
    all.ops = script.ops;
    Some(all)
}

/// What the exploration sees, and how many classes it sees again.
fn explore(
    program: &Concurrent,
    executions_max: u64,
    sabotage: Sabotage,
) -> (DporExplored, BTreeSet<Class>, u64) {
    let mut script = Script::new(program.clone());
    let initial = Script::new(program.clone());
    let (mut classes, mut again) = (BTreeSet::new(), 0);
    let options = DporOptions { executions_max, ..DporOptions::default() };
    let mut visit = |events: &[Event], ending: Ending| {
        let class = class_of(events, ending, &|object| initial.initial(object));
        again += u64::from(!classes.insert(class));
    };
    let explored = explore_classes(&mut script, &options, &mut visit, sabotage);
    (explored, classes, again)
}

/// What differs, if something does.
fn difference(program: &Concurrent, all: &All, sabotage: Sabotage) -> Option<String> {
    let (explored, classes, again) = explore(program, 10_000, sabotage);
    let more: Vec<_> = classes.difference(&all.classes).collect();
    let fewer: Vec<_> = all.classes.difference(&classes).collect();
    let (mut failures, mut racy) = (BTreeSet::new(), BTreeSet::new());
    for found in &explored.faults {
        match &found.fault {
            Fault::Failure(number) => drop(failures.insert(*number)),
            Fault::Race(race) => drop(racy.insert(race.object.index())),
            _ => {}
        }
    }
    let is_same = more.is_empty()
        && fewer.is_empty()
        && again == 0
        && explored.incomplete.is_none()
        && explored.executions == classes.len() as u64
        && failures == all.failures
        && racy == all.racy;
    (!is_same).then(|| {
        format!("more {more:#?}\nfewer {fewer:#?}\nagain {again}\nracy {racy:?}\n{explored:?}")
    })
}

fn has_spins(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::SpinUntil(..) => true,
        Stmt::If(_, then, otherwise) => has_spins(then) || has_spins(otherwise),
        _ => false,
    })
}

fn program_of(seed: u64) -> Option<Concurrent> {
    let program = match seed % 8 {
        0 => random_racy_program(seed),
        1 | 2 => random_accesses(seed),
        _ => random_program(seed, 3 + (seed % 4) as usize),
    };
    (!program.threads.iter().any(|body| has_spins(body))).then_some(program)
}

#[test]
fn each_class_is_run_once() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut ops = BTreeSet::new();
    for seed in sampled(400, 8_000) {
        let mut count = |name, by| *counts.entry(name).or_default() += by;
        let Some(program) = program_of(seed) else { continue };
        let Some(mut all) = all_of(&program, 2_000) else {
            count("too large", 1);
            continue;
        };
        if let Some(difference) = difference(&program, &all, Sabotage::None) {
            panic!("seed {seed}: {program:#?}\n{difference}");
        }
        count("programs", 1);
        count("interleavings", all.executions);
        count("classes", all.classes.len() as u64);
        count("failures", all.failures.len() as u64);
        count("races", all.racy.len() as u64);
        let endings: BTreeSet<Ending> = all.classes.iter().map(|class| class.1).collect();
        count("deadlocks", u64::from(endings.contains(&Ending::Deadlock)));
        ops.append(&mut all.ops);
    }
    let names: BTreeSet<&str> =
        ops.iter().map(|op| op.split([' ', '(', '{']).next().unwrap_or_default()).collect();
    println!("{counts:#?}\n{names:?}");
    assert!(names.len() >= 32, "{names:?}");
    for name in ["failures", "races", "deadlocks"] {
        assert!(counts[name] > 3, "{name}: {counts:?}");
    }
}

/// Programs whose numbers of classes are known: from the literature, or by counting.
#[test]
fn the_classes_of_known_programs_are_counted() {
    use crate::tests::programs as known;
    let factorial = |n: u64| (1..=n).product::<u64>();
    let choose = |n: u64, k: u64| factorial(n) / factorial(k) / factorial(n - k);
    for n in 2..=5_u64 {
        let size = n as usize;
        let expected = [
            ("counter", known::counter(size, 1), factorial(n)),
            ("readers", known::readers(size), 1 << n),
            ("same writes", known::same_writes(size), n + 1),
            ("lastzero", known::lastzero(size), [5, 12, 28, 64][size - 2]),
            ("demo", known::counter(2, size), choose(2 * n, n)),
        ];
        for (name, program, count) in expected {
            let (explored, classes, again) = explore(&program, 10_000, Sabotage::None);
            println!("{name} {n}: {} and {}", explored.executions, explored.blocked);
            assert_eq!(explored.incomplete, None, "{name} {n}");
            assert_eq!((explored.executions, again), (count, 0), "{name} {n}");
            assert_eq!(classes.len() as u64, count, "{name} {n}");
        }
    }
}

/// Whether some program shows that something is missing, or there twice, or cannot happen.
fn is_noticed(sabotage: Sabotage) -> bool {
    (1..3_000).filter_map(program_of).any(|program| {
        let (right, classes, _) = explore(&program, 200, Sabotage::None);
        if right.incomplete.is_some() {
            return false;
        }
        // What cannot happen has no order, so its events are not those of an interleaving.
        let wrong = std::panic::catch_unwind(|| explore(&program, 400, sabotage));
        wrong.map_or(true, |(wrong, other, again)| {
            other != classes || again > 0 || wrong.executions != right.executions
        })
    })
}

#[test]
fn dropped_rules_are_noticed() {
    use Sabotage::*;
    let all = [
        OrderForgotten,
        RevisitsOfThePrefix,
        DeletionsForgotten,
        DeletionsOfReads,
        DeletionsOfRevisitors,
        DeletionsOfChoices,
        DeletionsOfLastOnly,
        StaleWaits,
        StepsApart,
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

/// A thread that waits in a loop for a change is not supported, and that is said.
#[test]
fn threads_that_wait_for_a_change_are_in_doubt() {
    let mut spinning = 0;
    for seed in 1..400 {
        let program = random_program(seed, 4);
        if program.threads.iter().any(|body| has_spins(body)) {
            let (explored, ..) = explore(&program, 10_000, Sabotage::None);
            let is_unsupported = matches!(explored.incomplete, Some(Incomplete::Unsupported(_)));
            // A thread need not come to its loop, or may leave it at once.
            let all = explored.incomplete.is_none();
            assert!(is_unsupported || all, "{program:#?}\n{explored:?}");
            spinning += u64::from(is_unsupported);
        }
    }
    assert!(spinning > 9, "{spinning}");
}
