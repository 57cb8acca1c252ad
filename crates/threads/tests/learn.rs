//! Exploration by learning against the naive search.

use crate::tests::script::Script;
use anyorder_testkit::concurrent::{Outcome, everything, random_program};
use anyorder_testkit::effort::seeds;
use anyorder_threads::{Fault, LearnOptions, Learnt, ThreadId, explore_by_learning};
use std::collections::{BTreeMap, BTreeSet};

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
    for seed in seeds(4_000) {
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
    let _ = ThreadId::MAIN;
}
