//! Exploration under weak memory against the axioms.

use crate::tests::litmus::{GraphKey, LitmusProgram, key_of, run_of};
use crate::tests::weak_classics::classics;
use crate::weak::{Sabotage, explore_with_fault};
use anyorder_testkit::effort::sampled;
use anyorder_testkit::litmus::{
    Code, Graphs, Litmus, LitmusRun, LitmusShape, Strength, Written, consistent_graphs,
    random_litmus,
};
use anyorder_threads::{Fault, WeakExplored, WeakOptions};
use std::collections::{BTreeMap, BTreeSet};

/// What all threads see in all executions, and what the exploration says; no graph comes twice.
fn explore(program: &Litmus, sabotage: Sabotage) -> (BTreeSet<LitmusRun>, WeakExplored) {
    let mut keys: BTreeSet<GraphKey> = BTreeSet::new();
    let mut came_twice = false;
    let mut outcomes = BTreeSet::new();
    let mut litmus = LitmusProgram::new(program.clone());
    let options = WeakOptions { executions_max: 20_000, ..WeakOptions::default() };
    let explored = explore_with_fault(
        &mut litmus,
        &options,
        &mut |execution| {
            outcomes.insert(run_of(execution));
            came_twice |= !keys.insert(key_of(execution));
        },
        sabotage,
    );
    assert!(!came_twice || sabotage != Sabotage::None, "{program:?}");
    (outcomes, explored)
}

/// The axioms in the order in which the oracle counts them.
const AXIOMS: [&str; 4] = ["thin air", "atomicity", "coherence", "sc"];

fn shape(seed: u64) -> LitmusShape {
    let accesses = 4 + (seed % 4) as usize;
    LitmusShape { threads: 4, accesses, locations: 1 + (seed % 3) as usize, plain: false }
}

/// The graphs of a program by the axioms, unless there are too many.
fn by_axioms(program: &Litmus) -> Option<Graphs> {
    consistent_graphs(program, 4_000)
}

#[test]
fn graphs_are_those_of_the_axioms() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = |name, by| *counts.entry(name).or_default() += by;
    let mut features = BTreeMap::new();
    for seed in sampled(400, 8_000) {
        let program = random_litmus(seed, &shape(seed));
        let Some(graphs) = by_axioms(&program) else {
            count("too large", 1);
            continue;
        };
        let (outcomes, explored) = explore(&program, Sabotage::None);
        let context = || format!("seed {seed}: {program:#?}\n{explored:?}");
        assert_eq!(explored.incomplete, None, "{}", context());
        assert_eq!(outcomes, graphs.outcomes, "{}", context());
        assert_eq!(explored.executions, graphs.count, "{}", context());
        assert_eq!(explored.blocked, 0, "{}", context());
        count("programs", 1);
        count("graphs", graphs.count);
        count("outcomes", graphs.outcomes.len() as u64);
        count("candidates", graphs.candidates);
        for (axiom, name) in AXIOMS.into_iter().enumerate() {
            count(name, graphs.violated[axiom]);
        }
        for code in program.threads.iter().flatten() {
            note_features(code, &mut features);
        }
    }
    println!("{counts:#?}\n{features:#?}");
    assert!(counts["programs"] > counts["too large"] * 5, "{counts:?}");
    for axiom in AXIOMS {
        assert!(counts[axiom] > 10, "{axiom}: {counts:?}");
    }
    assert_eq!(features.len(), 3 + 3 + 5 + 3 + 4 + 3, "{features:?}");
    assert!(features.values().all(|count| *count > 5), "{features:?}");
}

/// Whether some random program shows that something is missing, or is there twice.
fn is_noticed(sabotage: Sabotage) -> bool {
    let random = (1..6_000).map(|seed| random_litmus(seed, &shape(seed)));
    classics().into_iter().map(|classic| classic.program).chain(random).any(|program| {
        let Some(graphs) = by_axioms(&program) else { return false };
        // A fault may make graphs that are none.
        let result = std::panic::catch_unwind(|| explore(&program, sabotage));
        result.map_or(true, |(outcomes, explored)| {
            outcomes != graphs.outcomes || explored.executions != graphs.count
        })
    })
}

#[test]
fn dropped_rules_are_noticed() {
    use Sabotage::*;
    let all = [
        ReadsIncoherent,
        WritesIncoherent,
        AtomicityForgotten,
        WritesIntrude,
        SequencesEnd,
        ReleaseFencesForgotten,
        AcquireFencesForgotten,
        ReadsAcquire,
        WritesRelease,
        CirclesOfAccesses,
        CirclesOfFences,
        FencesWithoutReadsFrom,
        CirclesThroughOthers,
        RevisitsOfThePrefix,
        DeletionsForgotten,
        DeletionsOfAll,
        DeletionsOfRevisitors,
        DeletionsOfReads,
        DeletionsOfWrites,
        LandingsLast,
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

/// The locations of plain data on which a program has a race.
fn racy(explored: &WeakExplored) -> BTreeSet<usize> {
    let races = explored.faults.iter().filter_map(|found| match &found.fault {
        Fault::Race(race) => Some(race.object.index()),
        _ => None,
    });
    races.collect()
}

/// One thread publishes, another one writes to the same flag; who sees the first may look.
#[test]
fn dropped_rules_of_races_are_noticed() {
    let (data, flag) = (10, 0);
    let program = Litmus::of(vec![
        vec![Code::Plain(data, Some(1)), Code::Store(flag, Written::Is(1), Strength::Release)],
        vec![Code::Store(flag, Written::Is(2), Strength::Relaxed)],
        vec![
            Code::Load(flag, Strength::Acquire),
            Code::If(1, vec![Code::Plain(data, None)], vec![]),
        ],
    ]);
    let by_definition = by_axioms(&program).expect("small").racy;
    assert_eq!(racy(&explore(&program, Sabotage::None).1), by_definition);
    assert_ne!(racy(&explore(&program, Sabotage::RacesByLastWrite).1), by_definition);
}

#[test]
fn races_are_those_of_the_definition() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = |name, by| *counts.entry(name).or_default() += by;
    for seed in sampled(400, 8_000) {
        let program = random_litmus(seed, &LitmusShape { plain: true, ..shape(seed) });
        let Some(graphs) = by_axioms(&program) else {
            count("too large", 1);
            continue;
        };
        let (outcomes, explored) = explore(&program, Sabotage::None);
        let context = || format!("seed {seed}: {program:#?}\n{explored:?}");
        assert_eq!(outcomes, graphs.outcomes, "{}", context());
        assert_eq!(explored.executions, graphs.count, "{}", context());
        assert_eq!(racy(&explored), graphs.racy, "{}", context());
        count("programs", 1);
        count("racy", u64::from(!graphs.racy.is_empty()));
        count("both racy", u64::from(graphs.racy.len() == 2));
    }
    println!("{counts:#?}");
    assert!(counts["programs"] > counts["too large"] * 5, "{counts:?}");
    assert!(counts["racy"] > 50 && counts["both racy"] > 5, "{counts:?}");
    assert!(counts["programs"] - counts["racy"] > 50, "{counts:?}");
}

fn note_features(code: &Code, features: &mut BTreeMap<String, u64>) {
    let mut note = |name: String| *features.entry(name).or_default() += 1;
    match code {
        Code::Load(_, strength) => note(format!("load {strength:?}")),
        Code::Store(_, _, strength) => note(format!("store {strength:?}")),
        Code::Modify(_, _, success, failure) => {
            note(format!("change {success:?}"));
            note(format!("failing change {failure:?}"));
        }
        Code::Fence(strength) => note(format!("fence {strength:?}")),
        Code::Plain(_, written) => note(format!("plain {}", written.is_some())),
        Code::If(_, then, otherwise) => {
            note("if".into());
            then.iter().chain(otherwise).for_each(|code| note_features(code, features));
        }
        Code::Spawn(_) => note("spawn".into()),
        Code::Join(_) => note("join".into()),
    }
}
