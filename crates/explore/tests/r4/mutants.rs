//! Engines with an injected fault: the random systems notice each of them.

use crate::tests::r4::naive::{Twin, choices};
use crate::tests::r4::random::{GUARDED, KINDS, Numbers, Random, explored, sequences};
use crate::tests::r4::random_models;
use crate::tests::r4::slides::Slides;
use crate::tests::r4::toy::{ALL, NONE, factory};
use crate::tests::r4::unstable::{Faults, harmful, shaky};
use anyorder_explore::r4::{Order, Outcome, ReversalOptions, Sabotage, explore};
use anyorder_system::{Control, Schedule};
use anyorder_testkit::effort::counts_all;
use std::collections::{BTreeMap, BTreeSet};

const SEEDS: u64 = 60;

fn model(kind: usize, seed: u64) -> Random {
    Random::new(KINDS[kind].1, &mut Numbers(seed.wrapping_mul(0x1234_5678_9abc_def1)))
}

/// With a bound: the number of systems whose sequences, depths or number of classes differ from the
/// twin's.
fn bounded(sabotage: Sabotage, order: Order) -> (u32, u32) {
    let (mut noticed, mut tried) = (0, 0);
    for kind in 0..KINDS.len() {
        for seed in 1..=SEEDS {
            let (model, bound) = (model(kind, seed), 1 + (seed % 3) as u32);
            let twin = Twin::new(model.clone());
            let expected = twin.within(bound);
            let depths: BTreeMap<_, u32> =
                expected.iter().map(|(tasks, (depth, _))| (tasks.clone(), *depth)).collect();
            let classes: BTreeSet<_> = expected.values().map(|(_, run)| twin.class(run)).collect();
            let options = ReversalOptions {
                bound: Some(bound),
                order,
                confirm: false,
                sabotage,
                ..ReversalOptions::default()
            };
            let outcome = explored(&model, &options);
            let distinct = outcome.runs.iter().filter(|run| run.equivalent_to.is_none()).count();
            noticed += u32::from(sequences(&outcome) != depths || distinct != classes.len());
            tried += 1;
            if noticed > 0 && !counts_all() {
                return (noticed, tried);
            }
        }
    }
    (noticed, tried)
}

/// Without a bound: the number of systems where some class does not have exactly one run.
fn exhaustive(sabotage: Sabotage) -> (u32, u32) {
    let (mut noticed, mut tried) = (0, 0);
    for (_, kind) in KINDS.into_iter().chain(GUARDED) {
        for seed in 1..=SEEDS * 5 {
            let model = Random::new(kind, &mut Numbers(seed.wrapping_mul(0x1234_5678_9abc_def1)));
            let twin = Twin::new(model.clone());
            let Some(all) = twin.all(3000) else { continue };
            let classes: BTreeSet<_> = all.iter().map(|run| twin.class(run)).collect();
            let options = ReversalOptions {
                bound: None,
                confirm: false,
                sabotage,
                ..ReversalOptions::default()
            };
            let outcome = explored(&model, &options);
            noticed += u32::from(outcome.runs.len() != classes.len());
            tried += 1;
            if noticed > 0 && !counts_all() {
                return (noticed, tried);
            }
        }
    }
    (noticed, tried)
}

/// With a program that lists no enabled tasks, so that only names and posts show creators: the
/// number of systems whose sequences differ from the twin's.
fn listing_nothing(sabotage: Sabotage) -> (u32, u32) {
    let noticed = |seed: &u64| {
        let model = model(1, *seed);
        let twin = Twin::new(model.clone());
        let mut schedule = Schedule::new(Default::default());
        schedule.choices.extend(choices(&twin.recording().tasks));
        let recording = Some(schedule);
        let options = ReversalOptions {
            bound: Some(2),
            recording,
            confirm: false,
            sabotage,
            ..ReversalOptions::default()
        };
        let factory = factory(model, NONE);
        let outcome = explore(&factory, &options, &Control::default()).expect("it runs");
        let expected = twin.within(2).into_iter().map(|(tasks, (depth, _))| (tasks, depth));
        sequences(&outcome) != expected.collect()
    };
    ((1..=SEEDS).filter(noticed).count() as u32, SEEDS as u32)
}

/// Wrong observations now and then: the number of explorations of a harmless program that report
/// harm.
fn wrong_observations(sabotage: Sabotage) -> (u32, u32) {
    let noticed = |seed: &u64| {
        let faults = Faults { observe: 10, ..Faults::default() };
        let options = ReversalOptions { sabotage, ..crate::tests::r4::worked::options(Some(2)) };
        let outcome: Outcome = shaky(&Slides::new(true), ALL, faults, seed * 77, &options);
        harmful(&outcome) > 0
    };
    ((1..=SEEDS).filter(noticed).count() as u32, SEEDS as u32)
}

/// Models that wait and choose, without a bound: the number of models with a missing final state or
/// failure.
fn models(sabotage: Sabotage) -> (u32, u32) {
    let (mut noticed, mut tried) = (0, 0);
    for kind in [random_models::Kind::Guards, random_models::Kind::Choices] {
        for seed in 1..=SEEDS / 2 {
            let text = random_models::model(kind, seed);
            let Some(compared) = random_models::compared(&text, 1_000, sabotage) else { continue };
            noticed += u32::from(compared.found != compared.expected);
            tried += 1;
            if noticed > 0 && !counts_all() {
                return (noticed, tried);
            }
        }
    }
    (noticed, tried)
}

#[test]
fn each_fault_of_the_engine_is_noticed() {
    let checks = |sabotage| match sabotage {
        Sabotage::FirstDepth => bounded(sabotage, Order::DepthFirst),
        Sabotage::ForgetSleepingConflicts => exhaustive(sabotage),
        Sabotage::NoCreation => listing_nothing(sabotage),
        Sabotage::Unconfirmed => wrong_observations(sabotage),
        Sabotage::NoWaiting | Sabotage::SleepAlternatives => models(sabotage),
        _ => bounded(sabotage, Order::Levels),
    };
    for sabotage in [
        Sabotage::AnyConflict,
        Sabotage::FirstDepth,
        Sabotage::SkippedEnds,
        Sabotage::SleepUnverified,
        Sabotage::NoCreation,
        Sabotage::Unconfirmed,
        Sabotage::ForgetSleepingConflicts,
        Sabotage::FirstAlternatives,
        Sabotage::NoWaiting,
        Sabotage::SleepAlternatives,
    ] {
        let (noticed, tried) = checks(sabotage);
        println!("{sabotage:?}: noticed in {noticed} of {tried}");
        assert!(noticed > 0, "{sabotage:?} is not noticed in {tried}");
    }
}

#[test]
fn an_engine_without_a_fault_is_not_suspected() {
    assert_eq!(bounded(Sabotage::None, Order::Levels).0, 0);
    assert_eq!(bounded(Sabotage::None, Order::DepthFirst).0, 0);
    assert_eq!(listing_nothing(Sabotage::None).0, 0);
    assert_eq!(exhaustive(Sabotage::None).0, 0);
    assert_eq!(wrong_observations(Sabotage::None).0, 0);
}
