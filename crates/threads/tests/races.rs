//! Races on plain data against the definition.

use crate::tests::script::Script;
use anyorder_testkit::concurrent::{racy_cells, random_racy_program};
use anyorder_testkit::effort::sampled;
use anyorder_threads::{Fault, LearnOptions, explore_by_learning};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn races_are_those_of_the_definition() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = |name, by| *counts.entry(name).or_default() += by;
    for seed in sampled(250, 800) {
        let program = random_racy_program(seed);
        let Some(racy) = racy_cells(&program, 4_000) else {
            count("too large", 1);
            continue;
        };
        for classes in [false, true] {
            let mut script = Script::new(program.clone());
            let options = LearnOptions { classes, ..LearnOptions::default() };
            let learnt = explore_by_learning(&mut script, &options);
            let cell = |found: &anyorder_threads::Found| match &found.fault {
                Fault::Race(race) => Some(race.object.index()),
                _ => None,
            };
            let cells: BTreeSet<usize> = learnt.faults.iter().filter_map(cell).collect();
            assert_eq!(cells, racy, "seed {seed}: {program:#?}\n{learnt:#?}");
            count("executions", learnt.executions);
        }
        count("programs", 1);
        count("racy", u64::from(!racy.is_empty()));
        count("both racy", u64::from(racy.len() == 2));
    }
    println!("{counts:#?}");
    let (programs, racy) = (counts["programs"], counts["racy"]);
    assert!(programs > counts["too large"] && racy * 4 > programs, "{counts:?}");
    assert!((programs - racy) * 4 > programs, "{counts:?}");
}
