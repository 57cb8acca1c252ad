//! The traps in the printed algorithms (section 1.7 of the worked examples), and rules that differ
//! slightly from ours.

use crate::tests::r4::naive::{MUTANTS, Mutant, Twin};
use crate::tests::r4::random::{KINDS, Numbers, Random, explored, sequences};
use crate::tests::r4::slides::{Slides, word};
use crate::tests::r4::worked::{options, run, shown};
use anyorder_explore::r4::{Order, ReversalKind, ReversalOptions, Sleep};
use anyorder_testkit::effort::counts_all;
use std::collections::BTreeMap;

#[test]
fn trap_1_the_recording_does_not_grow_deeper() {
    for order in [Order::Levels, Order::DepthFirst] {
        let outcome = run(false, &ReversalOptions { order, ..options(Some(1)) });
        let depths: Vec<u32> = outcome.runs.iter().map(|run| run.depth).collect();
        assert_eq!(depths, [0, 1, 1, 1]);
    }
}

#[test]
fn trap_2_what_ran_has_the_depth_of_its_plan() {
    for order in [Order::Levels, Order::DepthFirst] {
        let outcome = run(false, &ReversalOptions { order, ..options(Some(2)) });
        let skipping: Vec<u32> = outcome
            .runs
            .iter()
            .filter(|run| !run.skipped.is_empty())
            .map(|run| run.depth)
            .collect();
        assert_eq!(skipping, [1, 1], "Q3 and Q4");
        let children = outcome.runs.iter().filter(|run| {
            run.parent.is_some_and(|parent| !outcome.runs[parent].skipped.is_empty())
        });
        assert!(children.into_iter().all(|run| run.depth == 2));
    }
}

#[test]
fn traps_3_and_4_a_disabled_front_ends() {
    for order in [Order::Levels, Order::DepthFirst] {
        let outcome = run(false, &ReversalOptions { order, ..options(Some(50)) });
        assert!(outcome.complete && outcome.exhausted, "it ends");
        assert!(outcome.counts.executions < 100);
    }
}

#[test]
fn trap_5_a_task_does_not_disable_itself() {
    let outcome = run(false, &options(Some(3)));
    assert!(
        outcome
            .runs
            .iter()
            .filter_map(|run| run.reversal.as_ref())
            .all(|pair| pair.kind == ReversalKind::Conflict)
    );
}

#[test]
fn trap_7_redundancy_is_normal_and_sleep_takes_it_away() {
    let (mut plain, mut asleep, mut classes) = (0, 0, 0);
    for seed in 1..=200 {
        let model = Random::new(KINDS[0].1, &mut Numbers(seed * 15_485_863));
        let count = |bound, sleep| {
            explored(
                &model,
                &ReversalOptions { bound, sleep, confirm: false, ..ReversalOptions::default() },
            )
        };
        plain += count(Some(99), Sleep::Off).counts.executions;
        asleep += count(Some(99), Sleep::Exact).counts.executions;
        classes += count(None, Sleep::Exact).runs.len() as u64;
    }
    println!("{plain} runs without sleep, {asleep} with, {classes} classes");
    assert!(plain > asleep && asleep >= classes);
}

#[test]
fn trap_8_fewer_reversals_later_are_not_lost() {
    // Depth first may first reach a sequence by more reversals than needed. Its own reversals must
    // still be explored.
    let mut later = 0;
    for seed in 1..=300 {
        let model = Random::new(KINDS[4].1, &mut Numbers(seed * 32_452_843));
        let set = |order| {
            let options = ReversalOptions {
                bound: Some(2),
                order,
                confirm: false,
                ..ReversalOptions::default()
            };
            let outcome = explored(&model, &options);
            later += u32::from(outcome.runs.windows(2).any(|two| two[1].depth < two[0].depth));
            sequences(&outcome)
        };
        let [levels, depth_first] = [Order::Levels, Order::DepthFirst].map(set);
        assert_eq!(levels, depth_first, "seed {seed}");
    }
    assert!(later > 50, "{later}");
}

#[test]
fn a_single_covering_race_calls_more_relevant() {
    let mut twin = Twin::new(Slides::new(false));
    twin.mutant = Mutant::SingleCover;
    let first: Vec<_> =
        options(None).recording.unwrap().choices.into_iter().map(|c| (c.task, 0)).collect();
    let pairs: Vec<String> = twin
        .reversals(&twin.execute(&first))
        .iter()
        .map(|((a, b), _)| format!("{} {}", word(a), word(b)))
        .collect();
    assert!(pairs.contains(&"e0 e3".to_owned()), "{pairs:?}");
    assert_eq!(shown(&run(false, &options(Some(2)))).len(), 7);
}

#[test]
fn every_mutant_is_noticed() {
    const ENOUGH: u32 = 5;
    let mut noticed: BTreeMap<String, u32> = BTreeMap::new();
    for (_, kind) in KINDS {
        for seed in 1..=60u64 {
            let model = Random::new(kind, &mut Numbers(seed.wrapping_mul(0x1234_5678_9abc_def1)));
            let word = |mutant: &Mutant| format!("{mutant:?}");
            let open = |mutant: &Mutant| {
                counts_all() || noticed.get(&word(mutant)).is_none_or(|times| *times <= ENOUGH)
            };
            let open: Vec<Mutant> = MUTANTS.into_iter().filter(open).collect();
            if open.is_empty() {
                break;
            }
            let options =
                ReversalOptions { bound: Some(2), confirm: false, ..ReversalOptions::default() };
            let ours = sequences(&explored(&model, &options));
            for mutant in open {
                let mut twin = Twin::new(model.clone());
                twin.mutant = mutant;
                let other: BTreeMap<_, _> =
                    twin.within(2).into_iter().map(|(tasks, (depth, _))| (tasks, depth)).collect();
                *noticed.entry(word(&mutant)).or_default() += u32::from(other != ours);
            }
        }
    }
    println!("{noticed:?}");
    assert!(noticed.values().all(|times| *times > ENOUGH), "{noticed:?}");
}
