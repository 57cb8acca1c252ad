//! Explorations that are cut and go on: together they are the one that is not cut.

use crate::learn::{Sabotage, explore_with_fault};
use crate::tests::script::Script;
use anyorder_testkit::concurrent::{
    Concurrent, random_program, random_racy_program, random_spinning_program,
    random_waiting_program,
};
use anyorder_testkit::effort::{is_due, seeds};
use anyorder_threads::{Incomplete, Journal, LearnOptions, Learnt, explore_by_learning};
use std::collections::BTreeMap;

type Counts = BTreeMap<&'static str, u64>;

/// What must be the same however often an exploration was cut.
fn total(learnt: &Learnt) -> impl PartialEq + std::fmt::Debug + use<> {
    let Learnt { executions, steps, behaviours, states, transitions, .. } = *learnt;
    let faults = learnt.faults.clone();
    (executions, steps, behaviours, states, transitions, learnt.classes, learnt.searches, faults)
}

fn options(classes: bool) -> LearnOptions {
    let keeps_journal = true;
    LearnOptions {
        classes,
        keeps_journal,
        spins_max: 12,
        shorten_max: 0,
        ..LearnOptions::default()
    }
}

/// The most executions of a program that is tried.
const EXECUTIONS_MAX: u64 = 60;

/// How an exploration is cut.
#[derive(Clone, Copy, Debug)]
struct Cut {
    classes: bool,
    /// Whether there are no walks, so that searches learn.
    without_walks: bool,
    /// After how many executions.
    executions: u64,
    /// After how many steps of searches.
    steps: u64,
}

impl Cut {
    fn of(seed: u64) -> [Cut; 3] {
        let steps = 1 + seed % 7;
        let cut = |classes, without_walks, executions, steps| Cut {
            classes,
            without_walks,
            executions,
            steps,
        };
        [
            cut(false, false, 1, u64::MAX),
            cut(seed.is_multiple_of(2), true, 1 + seed % 3, 40),
            cut(true, seed.is_multiple_of(2), u64::MAX, 10 * steps),
        ]
    }
}

/// Whether the parts of an exploration are together the whole one. `None` if it is too large.
fn is_whole(
    (program, cut): (&Concurrent, Cut),
    sabotage: Sabotage,
    counts: &mut Counts,
) -> Option<bool> {
    let mut script = Script::new(program.clone());
    let whole = LearnOptions { trial: (u64::MAX, cut.without_walks), ..options(cut.classes) };
    let parted = LearnOptions {
        trial: (cut.steps, cut.without_walks),
        executions_max: cut.executions,
        ..whole.clone()
    };
    let plain = LearnOptions { keeps_journal: false, ..whole.clone() };
    let limited = LearnOptions { executions_max: EXECUTIONS_MAX, ..whole };
    let whole = explore_by_learning(&mut script, &limited);
    if whole.incomplete.is_some() {
        return None;
    }
    let without = explore_by_learning(&mut Script::new(program.clone()), &plain);
    assert_eq!(total(&without), total(&whole), "a journal changes nothing");
    let (mut resume, mut parts): (Option<Journal>, u64) = (None, 0);
    loop {
        let mut again = Script::new(program.clone());
        let options = LearnOptions { resume, ..parted.clone() };
        let learnt = explore_with_fault(&mut again, &options, sabotage);
        let Some(journal) = learnt.journal.as_ref() else {
            *counts.entry("faults").or_default() += learnt.faults.len() as u64;
            let is_same = learnt.incomplete.is_none() && total(&learnt) == total(&whole);
            return Some(is_same && again.seen == script.seen);
        };
        let text = journal.to_string();
        for (name, word) in [("walks", "walks"), ("searches", "place"), ("slots", "slot")] {
            let has = text.lines().any(|line| line.starts_with(word));
            *counts.entry(name).or_default() += u64::from(has);
        }
        *counts.entry("claims").or_default() += text.matches("claim ").count() as u64;
        *counts.entry("settled").or_default() += text.matches("settle ").count() as u64;
        *counts.entry("levels").or_default() += text.matches("level ").count() as u64;
        *counts.entry("parts").or_default() += 1;
        assert_eq!(text.parse().as_ref(), Ok(&**journal));
        resume = text.parse().ok();
        // With something forgotten it may never end.
        parts += 1;
        let is_endless = parts > 4 * (whole.transitions + EXECUTIONS_MAX);
        if is_endless || learnt.executions > 4 * EXECUTIONS_MAX {
            return Some(false);
        }
    }
}

fn programs(count: u64) -> impl Iterator<Item = (u64, Concurrent)> {
    seeds(count).into_iter().flat_map(|seed| {
        let plain = random_program(seed, 4 + (seed % 7) as usize);
        let spinning = match seed % 2 {
            0 => random_spinning_program(seed, seed.is_multiple_of(4)),
            _ => random_waiting_program(seed),
        };
        let racy = random_racy_program(seed);
        let spinning = (seed % 3 != 1).then_some((seed, spinning));
        [(seed, plain), (seed, racy)].into_iter().chain(spinning)
    })
}

#[test]
fn parts_are_together_the_whole() {
    let mut counts = Counts::new();
    for (seed, program) in programs(60) {
        for cut in Cut::of(seed) {
            let is_whole = is_whole((&program, cut), Sabotage::None, &mut counts);
            assert_ne!(is_whole, Some(false), "seed {seed}, {cut:?}: {program:#?}");
            *counts.entry(if is_whole.is_some() { "programs" } else { "large" }).or_default() += 1;
        }
    }
    println!("{counts:?}");
    for name in ["programs", "walks", "searches", "slots", "claims", "levels", "settled", "faults"]
    {
        assert!(counts.get(name).is_some_and(|count| *count > 20), "{name}: {counts:?}");
    }
}

#[test]
fn forgotten_parts_of_a_place_are_noticed() {
    let all = [
        Sabotage::VisitedForgotten,
        Sabotage::StepsSkipped,
        Sabotage::ClaimsForgotten,
        Sabotage::SlotsForgotten,
    ];
    for (_, sabotage) in all.into_iter().enumerate().filter(|(at, _)| is_due(*at, 4)) {
        let is_noticed = programs(400).any(|(seed, program)| {
            Cut::of(seed)
                .into_iter()
                .any(|cut| is_whole((&program, cut), sabotage, &mut Counts::new()) == Some(false))
        });
        assert!(is_noticed, "{sabotage:?}");
    }
}

#[test]
fn journals_of_other_programs_are_refused() {
    let (mut refused, mut all) = (0, 0);
    for (seed, program) in programs(60) {
        let few = LearnOptions { executions_max: 3, ..options(false) };
        let learnt = explore_by_learning(&mut Script::new(program), &few);
        let Some(journal) = learnt.journal else { continue };
        let text = journal.to_string();
        let lines: Vec<&str> = text.lines().collect();
        for end in 0..lines.len() {
            assert!(lines[..end].join("\n").parse::<Journal>().is_err(), "seed {seed}, {end}");
        }
        let other = random_program(seed + 1_000_000, 6);
        let again = LearnOptions { resume: Some(*journal), ..options(false) };
        let learnt = explore_by_learning(&mut Script::new(other), &again);
        if learnt.incomplete == Some(Incomplete::OtherProgram) {
            assert_eq!((learnt.executions, learnt.faults.len()), (0, 0));
            refused += 1;
        }
        all += 1;
    }
    assert!(all > 10 && refused == all, "{refused} of {all}");
}
