//! Random executions: what they find is there, and what is there they find in time.

use crate::tests::script::Script;
use anyorder_testkit::concurrent::{everything, racy_cells, random_program, random_racy_program};
use anyorder_testkit::effort::seeds;
use anyorder_threads::{Fault, LearnOptions, Sampling, sample};
use std::collections::{BTreeMap, BTreeSet};

const ALL: [Sampling; 5] = [
    Sampling::Walk,
    Sampling::Priorities { depth: 1 },
    Sampling::Priorities { depth: 3 },
    Sampling::PartialOrder,
    Sampling::ReadsFrom,
];

#[test]
fn samples_are_executions_and_find_most() {
    let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for seed in seeds(150) {
        let program = random_program(seed, 4 + (seed % 6) as usize);
        let Some(all) = everything(&program, 20_000, 3) else { continue };
        for sampling in ALL {
            let mut script = Script::new(program.clone());
            let options =
                LearnOptions { executions_max: 200, spins_max: 3, ..LearnOptions::default() };
            let sampled = sample(&mut script, sampling, seed, &options);
            assert!(script.seen.is_subset(&all.seen), "seed {seed}: {program:#?}");
            let stuck = sampled.faults.iter().filter_map(|found| match &found.fault {
                Fault::Deadlock(blocked) | Fault::Livelock(blocked) => {
                    Some(blocked.iter().map(|blocked| blocked.thread.index()).collect())
                }
                _ => None,
            });
            let stuck: BTreeSet<BTreeSet<usize>> = stuck.collect();
            let really: BTreeSet<BTreeSet<usize>> =
                all.ends.iter().map(|end| end.1.clone()).filter(|end| !end.is_empty()).collect();
            assert!(stuck.is_subset(&really), "seed {seed}: {program:#?}");
            let entry = counts.entry(format!("{sampling:?}")).or_default();
            *entry = (entry.0 + script.seen.len() as u64, entry.1 + all.seen.len() as u64);
        }
    }
    println!("{counts:#?}");
    for (name, (seen, all)) in counts {
        // With few changes of priorities, a thread mostly runs until it waits.
        let percent = match name.contains("depth") {
            true if name.contains("depth: 1") => 60,
            true => 75,
            false => 88,
        };
        assert!(seen * 100 > all * percent, "{name}: {seen} of {all}");
    }
}

#[test]
fn samples_find_races_where_there_are_some() {
    let (mut found, mut racy) = (0, 0);
    for seed in seeds(200) {
        let program = random_racy_program(seed);
        let Some(cells) = racy_cells(&program, 2_000) else { continue };
        let mut script = Script::new(program.clone());
        let options = LearnOptions { executions_max: 100, ..LearnOptions::default() };
        let sampled = sample(&mut script, Sampling::Walk, seed, &options);
        let cell = |found: &anyorder_threads::Found| match &found.fault {
            Fault::Race(race) => Some(race.object.index()),
            _ => None,
        };
        let sampled: BTreeSet<usize> = sampled.faults.iter().filter_map(cell).collect();
        assert!(sampled.is_subset(&cells), "seed {seed}: {program:#?}");
        (found, racy) = (found + sampled.len(), racy + cells.len());
    }
    assert!(racy > 20 && found * 10 > racy * 9, "{found} of {racy}");
}
