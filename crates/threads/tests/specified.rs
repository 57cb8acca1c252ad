//! Objects with specifications: with invocations that commute tried in one order only, threads see
//! what they see with all orders.

use crate::tests::script::Script;
use anyorder_testkit::concurrent::{everything, racy_cells, random_specified_program};
use anyorder_testkit::effort::{sampled, seeds};
use anyorder_threads::{Fault, LearnOptions, explore_by_learning};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn threads_see_what_they_see_with_all_orders() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = |name, by| *counts.entry(name).or_default() += by;
    for seed in sampled(400, 900) {
        let program = random_specified_program(seed, 3 + (seed % 7) as usize, false);
        let Some(all) = everything(&program, 20_000, 3) else {
            count("too large", 1);
            continue;
        };
        let mut script = Script::new(program.clone());
        let options = LearnOptions { spins_max: 3, ..LearnOptions::default() };
        let learnt = explore_by_learning(&mut script, &options);
        let context = || format!("seed {seed}: {program:?}");
        assert_eq!(learnt.incomplete, None, "{}", context());
        let missing: Vec<_> = all.seen.difference(&script.seen).collect();
        assert!(missing.is_empty(), "{missing:?}\n{}", context());
        assert_eq!(script.seen, all.seen, "{}", context());
        let found = learnt.faults.iter().any(|found| matches!(found.fault, Fault::Deadlock(_)));
        let is_stuck = all.ends.iter().any(|end| !end.1.is_empty());
        assert_eq!(found, is_stuck, "{}", context());
        count("programs", 1);
        count("stuck", u64::from(is_stuck));
        count("executions", learnt.executions);
        count("ends", all.ends.len() as u64);
        count("states", learnt.states);
        count("naive states", all.states as u64);
    }
    println!("{counts:#?}");
    assert!(counts["stuck"] > 20 && counts["programs"] > 3 * counts["too large"], "{counts:?}");
    assert!(counts["states"] * 10 < counts["naive states"], "{counts:?}");
}

#[test]
fn races_are_those_between_calls_that_do_not_commute() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = |name, by| *counts.entry(name).or_default() += by;
    for seed in seeds(400) {
        let program = random_specified_program(seed, 3 + (seed % 4) as usize, true);
        let Some(racy) = racy_cells(&program, 2_000) else {
            count("too large", 1);
            continue;
        };
        let mut script = Script::new(program.clone());
        let learnt = explore_by_learning(&mut script, &LearnOptions::default());
        let cell = |found: &anyorder_threads::Found| match &found.fault {
            Fault::Race(race) => Some(race.object.index()),
            _ => None,
        };
        let cells: BTreeSet<usize> = learnt.faults.iter().filter_map(cell).collect();
        assert_eq!(cells, racy, "seed {seed}: {program:?}");
        count("programs", 1);
        count("racy", u64::from(!racy.is_empty()));
    }
    println!("{counts:#?}");
    assert!(counts["programs"] > counts["too large"] && counts["racy"] > 25, "{counts:?}");
    assert!(counts["programs"] - counts["racy"] > 25, "{counts:?}");
}
