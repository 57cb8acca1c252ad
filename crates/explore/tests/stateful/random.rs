//! Random systems of every kind, values on and off, inference on and off; and engines with injected
//! faults.

use crate::tests::common::Toy;
use crate::tests::common::generate::{KINDS, Kind, random_toy};
use crate::tests::common::livelocks::{Livelocks, MUTANTS, Without};
use crate::tests::common::oracle::{Conflicts, Truth, check_contract, truth};
use crate::tests::stateful::check::{distances, fault, options, run, sabotaged, shows, try_run};
use anyorder_explore::stateful::{GiveUp, Sabotage, StatefulOptions};
use anyorder_search::{Property, Violation};
use anyorder_system::{Control, StateSystem};
use anyorder_testkit::effort::{Seeds, counts_all, sampled, seeds};
use std::collections::BTreeMap;

const STATES_MAX: usize = 2_000;

/// Seeds of each kind.
const SEEDS: u64 = 3_000;

fn systems(kind: Kind, seeds: Seeds) -> impl Iterator<Item = (u64, Toy, Truth)> {
    seeds.into_iter().map(move |seed| {
        let toy = random_toy(kind, seed);
        let truth = truth(&toy, STATES_MAX);
        let truth = truth.unwrap_or_else(|| panic!("{kind:?} seed {seed}: too many states"));
        (seed, toy, truth)
    })
}

#[test]
fn toys_keep_the_contract() {
    for kind in KINDS {
        let mut commuting = 0;
        for (_, toy, _) in systems(kind, seeds(300)) {
            commuting += check_contract(&toy, true);
            check_contract(&toy, false);
        }
        println!("{kind:?}: {commuting} commuting pairs");
        assert!(commuting > 100, "{kind:?} {commuting}");
    }
}

#[test]
fn everything_is_found() {
    let mut mutants: BTreeMap<Without, u64> = BTreeMap::new();
    let mut stuck = 0;
    for kind in KINDS {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for (seed, toy, truth) in systems(kind, sampled(SEEDS * 2 / 3, SEEDS)) {
            let asked = anyorder_search::SearchOptions {
                updates: true,
                livelocks: true,
                ..Default::default()
            };
            let full = anyorder_search::search(&toy, &asked, &Control::default()).unwrap();
            let places = |one: &Violation<Toy>| match &one.property {
                Property::Livelock(places) => {
                    let steps = one.path.repeats_from.unwrap();
                    Some((places.iter().map(|place| format!("{place:?}")).collect(), steps))
                }
                _ => None,
            };
            let livelocks: Livelocks = full.violations.iter().filter_map(places).collect();
            assert_eq!(livelocks, truth.livelocks, "{kind:?} seed {seed}");
            for conflict in full.conflicts.iter().flatten() {
                let path = &conflict.path;
                let steps = path.steps.iter().map(|step| (step.action, &step.state));
                assert!(shows(&toy, &path.initial, steps, conflict.place, conflict.components));
            }
            let conflicts = full.conflicts.iter().flatten().map(|one| (one.place, one.components));
            assert_eq!(conflicts.collect::<Conflicts>(), truth.conflicts, "{kind:?} seed {seed}");
            let lengths = full
                .conflicts
                .iter()
                .flatten()
                .map(|one| ((one.place, one.components), one.path.steps.len()));
            let lengths: BTreeMap<_, _> = lengths.collect();
            let full = full.stats;
            assert_eq!((full.states, full.transitions), (truth.states, truth.transitions));
            for values in [false, true] {
                let (outcome, locals) = run(&toy, &options(values, 1));
                let what = format!("{kind:?} seed {seed} values {values}");
                if let Some(fault) = fault(&toy, &truth, &outcome, &locals) {
                    panic!("{what}: {fault}\n{toy:#?}");
                }
                let distance = distances(&toy, &outcome);
                let states = &outcome.detail.graph.as_ref().unwrap().states;
                for violation in &outcome.violations {
                    // Of a run that repeats, the way to the part that does is a shortest one.
                    let steps = violation.path.steps.len();
                    let steps = violation.path.repeats_from.unwrap_or(steps);
                    let at = toy.fingerprint(violation.path.state(steps).unwrap());
                    let at = states.iter().position(|state| *state == at);
                    if !matches!(violation.property, Property::Failure(_)) {
                        assert_eq!(distance[at.unwrap()], steps, "{what}");
                    }
                }
                for one in outcome.conflicts.iter().flatten() {
                    let shortest = lengths[&(one.place, one.components)];
                    assert!(shortest <= one.path.steps.len(), "{what}");
                }
                let without = StatefulOptions { infer: false, ..options(values, 1) };
                let (other, _) = run(&toy, &without);
                assert_eq!(other.stats.states, outcome.stats.states, "{what}");
                assert_eq!(other.stats.transitions, outcome.stats.transitions, "{what}");
                assert!(outcome.stats.executions <= other.stats.executions, "{what}");
                let (stats, counts_of) = (outcome.stats, outcome.detail.counts);
                let mut add = |name, count: u64| *counts.entry(name).or_default() += count;
                add("systems", 1);
                add("states of full", truth.states);
                add("transitions of full", truth.transitions);
                add("states", stats.states);
                add("transitions", stats.transitions);
                add("executions", stats.executions);
                add("inferred", counts_of.inferred);
                add("re-expansions", counts_of.re_expansions);
                add("rounds", counts_of.rounds);
                add("added for fairness", counts_of.fairness_added);
                add("reduced states", counts_of.reduced_states);
                add("with a failure", u64::from(!truth.failures.is_empty()));
                add("with a broken invariant", u64::from(!truth.broken.is_empty()));
                add("with a deadlock", u64::from(!truth.deadlocks.is_empty()));
                add("with several deadlocks", u64::from(truth.deadlocks.len() > 1));
                add("with a wrong end that something optional could leave", {
                    u64::from(truth.wrong_rest && !truth.wrong_end)
                });
                add("reduced, with optional ends", {
                    u64::from(truth.dead != truth.ends && counts_of.reduced_states > 0)
                });
                add("with a wrong end", u64::from(truth.wrong_end));
                let reduces = counts_of.reduced_states > 0;
                add("with a livelock", u64::from(!truth.livelocks.is_empty()));
                add("with several livelocks", u64::from(truth.livelocks.len() > 1));
                add("with a livelock, and reduced", {
                    u64::from(!truth.livelocks.is_empty() && reduces)
                });
                add("with fewer states, and a livelock", {
                    u64::from(!truth.livelocks.is_empty() && stats.states < truth.states)
                });
                if values && truth.states <= 40 {
                    for mutant in MUTANTS {
                        let differs = truth.graph.livelocks(mutant) != truth.livelocks;
                        *mutants.entry(mutant).or_insert(0) += u64::from(differs);
                    }
                }
                add("with update conflicts", u64::from(!truth.conflicts.is_empty()));
            }
        }
        println!("{kind:?}: {counts:#?}");
        stuck += counts["with fewer states, and a livelock"];
        let names = [
            "with several deadlocks",
            "with a wrong end that something optional could leave",
            "reduced, with optional ends",
        ];
        for name in names {
            let rare = matches!(kind, Kind::Cyclic | Kind::Updates);
            assert!(counts[name] > 0 || rare, "{kind:?}: {name}");
        }
        for name in ["inferred", "re-expansions", "reduced states", "with update conflicts"] {
            assert!(counts[name] > 6, "{kind:?}: {name}");
        }
    }
    println!("definitions of livelocks that differ: {mutants:?}; {stuck} reduced");
    assert!(stuck > 6, "{stuck}");
    for mutant in MUTANTS {
        assert!(mutants[&mutant] > 0, "{mutant:?}: {mutants:?}");
    }
}

/// Giving up reduction at any moment keeps all guarantees, with values and without, with inference
/// and without.
#[test]
fn everything_is_found_whenever_it_gives_up() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for kind in KINDS {
        for (seed, toy, truth) in systems(kind, sampled(SEEDS / 3, SEEDS)) {
            for (values, infer) in [(true, true), (false, seed % 2 == 0)] {
                let give_up = GiveUp::At(seed % 16);
                let (reduced, _) = run(
                    &toy,
                    &StatefulOptions { give_up: GiveUp::Never, infer, ..options(values, 1) },
                );
                let given_up = StatefulOptions { give_up, infer, ..options(values, 1) };
                let (outcome, locals) = run(&toy, &given_up);
                let what = format!("{kind:?} seed {seed} values {values} {give_up:?}");
                if let Some(fault) = fault(&toy, &truth, &outcome, &locals) {
                    panic!("{what}: {fault}\n{toy:#?}");
                }
                let (stats, counts_of) = (outcome.stats, outcome.detail.counts);
                let mut add = |name, yes: bool| *counts.entry(name).or_default() += u64::from(yes);
                let gave_up = counts_of.gave_up_reducing.is_some();
                add("gave up", gave_up);
                add(
                    "gave up, and some states stayed reduced",
                    gave_up && counts_of.reduced_states > 0,
                );
                add("gave up, and some were missing", gave_up && stats.states < truth.states);
                add("more states for it", gave_up && stats.states > reduced.stats.states);
                if gave_up && counts_of.reduced_states == 0 {
                    add("gave up, and all were followed", true);
                    assert_eq!(stats.transitions, truth.transitions, "{what}");
                    assert_eq!(stats.states, truth.states, "{what}");
                }
            }
        }
    }
    println!("{counts:#?}");
    for (name, count) in &counts {
        assert!(*count > 33, "{name}");
    }
}

#[test]
fn wrong_engines_are_noticed() {
    use Sabotage::*;
    for sabotage in [
        NoEnablers,
        NoProgress,
        OptionalLeads,
        NoFairness,
        ActualFootprints,
        NoAwaits,
        NoReclosing,
        InferAnything,
        LastUpdateOnly,
        NobodyUpdatesNothing,
        SilentNothing,
        NoObservers,
        BlockedTouchNothing,
    ] {
        let (mut noticed, mut tried) = (0, 0);
        let mut first = Option::None;
        'kinds: for kind in KINDS {
            let number = if kind == Kind::Updates { 4_000 } else { 1_000 };
            for (seed, toy, truth) in systems(kind, seeds(number)) {
                if noticed > 1 && !counts_all() {
                    break 'kinds;
                }
                tried += 1;
                // A wrong edge cannot be replayed.
                let Some((outcome, locals)) = try_run(&toy, &sabotaged(true, sabotage)) else {
                    noticed += 1;
                    continue;
                };
                if let Some(fault) = fault(&toy, &truth, &outcome, &locals) {
                    noticed += 1;
                    first.get_or_insert((kind, seed, fault));
                }
            }
        }
        println!("{sabotage:?}: {noticed} of {tried}, first {first:?}");
        assert!(noticed > 1, "{sabotage:?}");
    }
}
