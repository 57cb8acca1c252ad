//! Random models: the machine and the naive interpreter agree on every step, and every mutant of the latter is noticed.

use crate::differential::{Difference, compare};
use crate::generate::{self, Coverage};
use crate::interp::program::Mutant;
use crate::rules::SHARP;
use std::collections::BTreeMap;

/// What the tests ask of the environment: another number of models, another first seed.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Calls of models nest 256 deep, and each takes many of ours.
fn with_stack<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(512 << 20);
        builder.spawn_scoped(scope, f).expect("a thread").join().expect("no panic")
    })
}

#[test]
fn the_machine_and_the_naive_interpreter_agree() {
    with_stack(|| {
        let (first, count) = (number("NAIVE_SEED", 1), number("NAIVE_MODELS", 1_500));
        let mut cover = Coverage::new();
        let mut kinds: BTreeMap<&'static str, u64> = BTreeMap::new();
        let (mut refused, mut states, mut transitions, mut cut, mut deadlocks, mut broken) =
            (0, 0, 0, 0, 0, 0);
        let mut wrong = vec![];
        for seed in first..first + count {
            let (text, constructs) = generate::model(seed);
            let begun = std::time::Instant::now();
            let result = compare(&text, Mutant::None, 60);
            if begun.elapsed().as_millis() > 1_500 {
                println!("seed {seed} is slow");
            }
            match result {
                Ok(compared) => {
                    for (what, n) in constructs {
                        *cover.entry(what).or_default() += n;
                    }
                    for kind in compared.kinds {
                        *kinds.entry(kind).or_default() += 1;
                    }
                    states += compared.states;
                    transitions += compared.transitions;
                    cut += u64::from(compared.cut);
                    deadlocks += u64::from(compared.deadlocks > 0);
                    broken += u64::from(compared.broken > 0);
                }
                Err(Difference::Refused(why)) => {
                    refused += 1;
                    if refused <= 12 {
                        println!("seed {seed} refused: {why}");
                    }
                }
                Err(Difference::Found(what)) => {
                    wrong.push(seed);
                    if wrong.len() <= 6 {
                        println!("seed {seed}:\n{text}\n{what}\n");
                    }
                }
            }
        }
        println!(
            "{count} models from seed {first}: {refused} refused, {states} states, {transitions} transitions, {cut} cut, {deadlocks} with deadlocks, {broken} with broken invariants"
        );
        println!("constructs: {cover:?}");
        println!("failures: {kinds:?}");
        assert!(wrong.is_empty(), "{} models differ: seeds {wrong:?}", wrong.len());
        for what in CONSTRUCTS {
            assert!(count < 1_000 || cover.contains_key(what), "no model has: {what}");
        }
        for kind in KINDS {
            assert!(count < 1_000 || kinds.contains_key(kind), "nothing failed with: {kind}");
        }
        assert!(refused * 10 < count, "{refused} of {count} models were refused");
    });
}

/// What must occur among the models; the generator counts it under these names.
const CONSTRUCTS: [&str; 33] = [
    "acquire, release",
    "with",
    "wait",
    "notify",
    "notify_all",
    "fork",
    "join",
    "yield",
    "atomic",
    "choose block",
    "choose value",
    "post any",
    "async[any]",
    "async[main]",
    "post to delayed",
    "post to bag",
    "post to element",
    "front",
    "cancel",
    "enable",
    "disable",
    "enabled",
    "enable family",
    "enabled family",
    "once event",
    "disabled event",
    "event family",
    "event after",
    "after family",
    "driver",
    "thread family",
    "closure that writes",
    "match on any",
];

/// Failures that must occur.
const KINDS: [&str; 14] = [
    "assert",
    "blocking",
    "division",
    "effect",
    "fail",
    "index",
    "no_match",
    "null",
    "overflow",
    "recursion",
    "step_limit",
    "type",
    "unlock",
    "type",
];

#[test]
fn every_mutant_is_noticed() {
    with_stack(|| {
        let tries = number("NAIVE_MUTANT_MODELS", 400);
        let mut unnoticed = vec![];
        for mutant in Mutant::ALL {
            let found = (1..tries).find(|seed| {
                let (text, _) = generate::model(*seed);
                let differs = |m| matches!(compare(&text, m, 60), Err(Difference::Found(_)));
                differs(mutant) && !differs(Mutant::None)
            });
            let differs =
                |text: &&str, m| matches!(compare(text, m, 500), Err(Difference::Found(_)));
            let sharp = SHARP.iter().position(|t| differs(t, mutant) && !differs(t, Mutant::None));
            println!("{mutant:?}: noticed by model {sharp:?}, by seed {found:?}");
            if found.is_none() && sharp.is_none() {
                unnoticed.push(mutant);
            }
        }
        assert!(unnoticed.is_empty(), "{unnoticed:?} of {} mutants", Mutant::ALL.len());
    });
}
