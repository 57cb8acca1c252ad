//! Exploration by learning against the naive search.

use crate::tests::script::Script;
use anyorder_testkit::concurrent::{Outcome, everything, random_program};
use anyorder_testkit::effort::{sampled, seeds};
use anyorder_threads::{
    Act, Ending, Execution, Fault, LearnOptions, Learnt, Step, every_execution, explore_by_learning,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// The failures, and the sets of threads that get stuck, with whether one spins.
fn faults(learnt: &Learnt) -> (BTreeSet<u32>, BTreeSet<(BTreeSet<usize>, bool)>) {
    let (mut failures, mut stuck) = (BTreeSet::new(), BTreeSet::new());
    for found in &learnt.faults {
        let threads = |blocked: &[anyorder_threads::Blocked]| {
            blocked.iter().map(|blocked| blocked.thread.index()).collect()
        };
        match &found.fault {
            Fault::Failure(number) => drop(failures.insert(*number)),
            Fault::Deadlock(blocked) => drop(stuck.insert((threads(blocked), false))),
            Fault::Livelock(blocked) => drop(stuck.insert((threads(blocked), true))),
            Fault::Race(_) | Fault::StepLimit => panic!("no accesses, no limit"),
        }
    }
    (failures, stuck)
}

fn stuck(all: &Outcome) -> BTreeSet<(BTreeSet<usize>, bool)> {
    let ends = all.ends.iter().filter(|end| !end.1.is_empty());
    ends.map(|end| (end.1.clone(), end.2)).collect()
}

#[test]
fn learning_sees_everything() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut ops = BTreeSet::new();
    for seed in sampled(500, 4_000) {
        let program = random_program(seed, 4 + (seed % 9) as usize);
        let Some(all) = everything(&program, 60_000, 3) else {
            *counts.entry("too large").or_default() += 1;
            continue;
        };
        for classes in [false, true] {
            let mut script = Script::new(program.clone());
            let options = LearnOptions { classes, spins_max: 3, ..LearnOptions::default() };
            let learnt = explore_by_learning(&mut script, &options);
            let context = || format!("seed {seed}, classes {classes}: {program:#?}\n{learnt:?}");
            assert_eq!(learnt.incomplete, None, "{}", context());
            let missing: Vec<_> = all.seen.difference(&script.seen).collect();
            assert!(missing.is_empty(), "{missing:?}\n{}", context());
            assert_eq!(script.seen, all.seen, "{}", context());
            let (failures, found) = faults(&learnt);
            assert_eq!(failures, all.failures, "{}", context());
            if classes {
                assert_eq!(found, stuck(&all), "{}", context());
                assert_eq!(learnt.classes as usize, all.ends.len(), "{}", context());
            } else {
                assert!(found.is_subset(&stuck(&all)), "{}", context());
                assert_eq!(found.is_empty(), stuck(&all).is_empty(), "{}", context());
            }
            assert!(learnt.executions as usize <= all.ends.len(), "{}", context());
            let mut count = |name, by| *counts.entry(name).or_default() += by;
            count(if classes { "states of classes" } else { "states" }, learnt.states);
            if classes {
                count("programs", 1);
                count("naive states", all.states as u64);
                count("classes", learnt.classes);
                count("failures", failures.len() as u64);
                count("stuck", found.len() as u64);
                count("spinning", found.iter().filter(|found| found.1).count() as u64);
                ops.append(&mut script.ops);
            } else {
                count("executions", learnt.executions);
                count("searches", learnt.searches);
                count("stuck, merged", found.len() as u64);
            }
        }
    }
    println!("{counts:#?}");
    let names: BTreeSet<&str> =
        ops.iter().map(|op| op.split([' ', '(', '{']).next().unwrap_or_default()).collect();
    println!("{names:?}");
    assert!(names.len() >= 30, "{names:?}");
    for name in ["programs", "failures", "stuck", "spinning"] {
        assert!(counts[name] > 20, "{name}: {counts:?}");
    }
    assert!(counts["programs"] > counts["too large"] * 5, "{counts:?}");
}

/// The ways to the faults are ways: an execution along them shows the fault. And no execution shows
/// it with fewer switches.
#[test]
fn the_ways_to_faults_are_the_shortest() {
    let (mut checked, mut switched) = (0, 0);
    for seed in seeds(900) {
        let program = random_program(seed, 4);
        let mut script = Script::new(program.clone());
        let options = LearnOptions { spins_max: 3, ..LearnOptions::default() };
        let learnt = explore_by_learning(&mut script, &options);
        let mut least: BTreeMap<String, usize> = BTreeMap::new();
        let mut executions = 0;
        let plain = every_execution(&mut script, (1_000, 3), |_, events, ending| {
            executions += 1;
            let steps: Vec<Step> = events.iter().map(|event| event.step).collect();
            let mut note = |fault: String, steps: &[Step]| {
                let entry = least.entry(fault).or_insert(usize::MAX);
                *entry = (*entry).min(switches(steps));
            };
            for (at, event) in events.iter().enumerate() {
                if let Act::Fail(number) = event.op.act {
                    note(format!("failure {number}"), &steps[..=at]);
                }
            }
            if ending != Ending::Completed {
                let ended = |event: &anyorder_threads::Event| matches!(event.op.act, Act::Exit(_));
                let mut running: BTreeSet<u32> = [0].into();
                for event in events {
                    if let Act::Spawn(child) = event.op.act {
                        running.insert(child.0);
                    }
                    if ended(event) {
                        running.remove(&event.step.thread.0);
                    }
                }
                note(format!("{ending:?} {running:?}"), &steps);
            }
            if executions > 3_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if !plain.complete {
            continue;
        }
        let mut found: BTreeMap<String, usize> = BTreeMap::new();
        for fault in &learnt.faults {
            assert!(fault.is_shortest, "seed {seed}: {program:#?}");
            let ids = |blocked: &[anyorder_threads::Blocked]| -> BTreeSet<u32> {
                blocked.iter().map(|blocked| blocked.thread.0).collect()
            };
            let name = match &fault.fault {
                Fault::Failure(number) => format!("failure {number}"),
                Fault::Deadlock(blocked) => format!("Deadlock {:?}", ids(blocked)),
                Fault::Livelock(blocked) => format!("Livelock {:?}", ids(blocked)),
                fault => panic!("{fault:?}"),
            };
            let count = switches(&fault.steps);
            let entry = found.entry(name).or_insert(usize::MAX);
            *entry = (*entry).min(count);
            let mut execution = Execution::new(&mut script);
            execution.set_spins_max(3);
            execution.restart();
            for step in &fault.steps {
                assert!(execution.step(*step).is_some(), "seed {seed}: {program:#?}");
            }
            checked += 1;
            switched += usize::from(count > 0);
        }
        for (fault, count) in found {
            assert_eq!(least.get(&fault), Some(&count), "seed {seed}: {fault} {program:#?}");
        }
    }
    println!("{checked} faults, {switched} with switches");
    assert!(checked > 100 && switched > 50);
}

fn switches(steps: &[Step]) -> usize {
    steps.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count()
}
