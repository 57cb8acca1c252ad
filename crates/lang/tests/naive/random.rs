//! Random models: the machine and the naive interpreter agree on every step, and every mutant of
//! the latter is noticed.

use crate::naive::differential::{Difference, compare};
use crate::naive::generate::{self, Coverage};
use crate::naive::interp::fired;
use crate::naive::interp::program::Mutant;
use crate::naive::rules::{CASES, SHARP};
use crate::naive::with_stack;
use anyorder_testkit::effort::{counts_all, is_due, sampled};
use std::collections::BTreeMap;

/// How many models a push compares, whatever they have.
const FIRST: u64 = 120;

/// Models that have what is rare: rules, failures and constructs that the first ones lack.
const RARE: [u64; 8] = [126, 142, 205, 223, 337, 511, 545, 1_042];

#[test]
fn the_machine_and_the_naive_interpreter_agree() {
    with_stack(|| {
        let seeds = sampled(3_000, 1_500);
        let mut count = 0;
        let mut cover = Coverage::new();
        let mut kinds: BTreeMap<&'static str, u64> = BTreeMap::new();
        let (mut refused, mut states, mut transitions, mut cut, mut deadlocks, mut broken) =
            (0, 0, 0, 0, 0, 0);
        let (mut limits, mut coloured, mut undecided, mut rests) = (0, 0, 0, 0);
        let mut wrong = vec![];
        // Messages of a bag that have handles of different tasks, which have ended, are equal.
        let others = seeds.clone().into_iter().filter(|seed| !RARE.contains(seed));
        for seed in RARE.into_iter().chain(others).chain([38_535_400_000_181]) {
            let (text, constructs) = generate::model(seed);
            // A push compares the first models, until every rule was followed, and those that have
            // what none before them had.
            let is_new = constructs.iter().any(|(what, _)| !cover.contains_key(what));
            let is_known = seed > FIRST && !RARE.contains(&seed) && seeds.known.contains(&seed);
            let is_one_of_many = is_known && !is_new;
            if is_one_of_many && !counts_all() && all_occurred(&kinds) {
                continue;
            }
            count += 1;
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
                    limits += u64::from(compared.limits > 0);
                    coloured += u64::from(compared.coloured);
                    if compared.undecided {
                        undecided += 1;
                        println!("undecided, seed {seed}");
                    }
                    deadlocks += u64::from(compared.deadlocks > 0);
                    rests += u64::from(compared.rests > 0);
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
                    let first: String = what.chars().take_while(|c| *c != '\n').take(300).collect();
                    println!("difference, seed {seed}: {first}");
                }
            }
        }
        println!(
            "{count} models of seeds {seeds:?}: {refused} refused, {states} states, {transitions} transitions, {cut} cut, {limits} that met a limit, {coloured} coloured, {undecided} undecided, {deadlocks} with deadlocks, {rests} with ends that something optional could leave, {broken} with broken invariants"
        );
        println!("constructs: {cover:?}");
        println!("failures: {kinds:?}");
        let fired = fired::counts();
        println!("rules: {fired:?}");
        assert!(wrong.is_empty(), "{} models differ: seeds {wrong:?}", wrong.len());
        for what in CONSTRUCTS {
            assert!(cover.contains_key(what), "no model has: {what}");
        }
        for rule in fired::RULES {
            assert!(fired.contains_key(rule), "rule {rule} was never followed");
        }
        for kind in KINDS {
            assert!(kinds.contains_key(kind), "nothing failed with: {kind}");
        }
        assert!(rests > 2, "{rests} with ends that something could leave");
        assert!(undecided * 200 <= count, "{undecided} of {count} models were left undecided");
        assert!(limits * 500 <= count, "{limits} of {count} models met a limit");
        assert_eq!(refused, 0, "of {count} models some were refused");
    });
}

/// Whether every rule was followed, and each kind of failure occurred.
fn all_occurred(kinds: &BTreeMap<&'static str, u64>) -> bool {
    let fired = fired::counts();
    fired::RULES.iter().all(|rule| fired.contains_key(rule))
        && KINDS.iter().all(|kind| kinds.contains_key(kind))
}

/// What must occur among the models; the generator counts it under these names.
const CONSTRUCTS: &[&str] = &[
    "word as a name",
    "!",
    "%",
    "&& ||",
    "*",
    "+",
    "++ --",
    "-",
    "/",
    "acquire, release",
    "after family",
    "after member",
    "after member by index",
    "all, any",
    "any as int",
    "any compared",
    "any is null",
    "any to int",
    "array type",
    "assert",
    "assign choice",
    "assign fork",
    "assign handle",
    "assignment",
    "assume",
    "async[any]",
    "async[h]",
    "async[main]",
    "atomic",
    "block",
    "break",
    "call",
    "call of value",
    "call statement",
    "cancel",
    "choose block",
    "choose value",
    "class method with a built-in name",
    "closure of two",
    "closure that writes",
    "closure with capture",
    "comparison",
    "compound assignment",
    "constant",
    "contains, has",
    "continue",
    "count",
    "daemon event",
    "daemon function",
    "daemon handler",
    "daemon task",
    "daemon thread",
    "default value",
    "disable",
    "disabled event",
    "driver",
    "driver with member",
    "element assignment",
    "element of constant",
    "element of element",
    "element of element of field",
    "element of field assignment",
    "element of field of record",
    "else if",
    "enable",
    "enable family",
    "enable member",
    "enabled",
    "enabled family",
    "enum value",
    "equal posts",
    "equality",
    "event after",
    "event family",
    "event on",
    "event on element by index",
    "event when",
    "fail",
    "field of any",
    "field of constant",
    "field of element of field",
    "field of field",
    "field of field of object",
    "field of object",
    "field of object assignment",
    "field of record",
    "field of record assignment",
    "filter",
    "final",
    "for",
    "for over any",
    "fork",
    "front",
    "function in field",
    "function value",
    "functions compared",
    "get_or",
    "granularity access",
    "guard that calls a value",
    "handler array",
    "handles compared",
    "if",
    "if else",
    "if expression",
    "if expression with statements",
    "in",
    "in str",
    "index of list",
    "index of map",
    "index with effect",
    "index_of",
    "init",
    "insert",
    "invariant",
    "is_empty",
    "join",
    "join lists",
    "join of variable",
    "join strings",
    "jump out of atomic",
    "jump out of with",
    "large int",
    "let",
    "let handle",
    "let that hides",
    "list clear",
    "list len",
    "list literal",
    "list slice",
    "list sum, min, max, first, last",
    "lock of array",
    "loop",
    "loop without end",
    "main declared",
    "map clear",
    "map literal",
    "map method",
    "map remove",
    "map set",
    "match",
    "match expression",
    "match on any",
    "match on str",
    "method of any",
    "method of class",
    "method on part",
    "new",
    "new with fields",
    "notify",
    "notify_all",
    "null test",
    "number forms",
    "once event",
    "open match",
    "pop",
    "pop, take_first, remove",
    "post",
    "post any",
    "post of procedure",
    "post to bag",
    "post to delayed",
    "post to element",
    "push",
    "range",
    "record",
    "record of records",
    "record with base",
    "recursion",
    "release alone",
    "repeat",
    "response",
    "return",
    "reverse",
    "self",
    "set add",
    "set add, remove",
    "set clear",
    "set filter",
    "set len, min, max",
    "set literal",
    "set remove",
    "sort",
    "spec",
    "str contains, starts_with",
    "str len",
    "str slice",
    "task on element",
    "thread",
    "thread family",
    "to_int",
    "to_list, keys, values",
    "to_set",
    "to_str",
    "unary -",
    "unfair event",
    "unfair handler",
    "unfair thread",
    "union, intersect, minus",
    "values, keys",
    "variable",
    "wait",
    "wait and notify",
    "wait of arrays",
    "while",
    "with",
    "handle in list",
    "handle is null",
    "handle overwritten",
    "handle put into list",
    "handle put into record",
    "handle taken from list",
    "handle taken from record",
    "handles sent along",
    "join of thread kept",
    "lists of handles compared",
    "maps with handles compared",
    "model about handles",
    "records with handles compared",
    "task handles compared",
    "yield",
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

/// Seeds that show a mutant each, as the generator is now: they are tried first, then all others.
const SHOWING: [u64; 20] =
    [1, 2, 11, 12, 16, 17, 21, 26, 32, 50, 51, 52, 62, 73, 79, 108, 122, 129, 195, 239];

/// A push tries one mutant in so many.
const PARTS: usize = 12;

#[test]
fn every_mutant_is_noticed() {
    with_stack(|| {
        let tries = anyorder_testkit::effort::cases(300);
        // With much effort, random models are asked about every mutant, too.
        let everywhere = anyorder_testkit::effort::effort() >= 100;
        let mut unnoticed = vec![];
        let cases = CASES.iter().map(|(rule, body, ..)| (*rule, format!("model m\n{body}\n")));
        let sharp = SHARP.iter().map(|text| ("sharp", (*text).to_string()));
        let sharp: Vec<(&str, String)> = cases.chain(sharp).collect();
        let mut last = 0;
        let due = Mutant::ALL.iter().enumerate().filter(|(index, _)| is_due(*index, PARTS));
        for mutant in due.map(|(_, mutant)| *mutant) {
            let differs =
                |text: &str, m| matches!(compare(text, m, 300), Err(Difference::Found(_)));
            // Neighbours among the mutants are mostly shown by neighbours among the models.
            let in_turn = (last..sharp.len()).chain(0..last);
            let shown = in_turn.into_iter().find(|at| differs(&sharp[*at].1, mutant));
            last = shown.unwrap_or(last);
            let by_model = shown.map(|at| &sharp[at]);
            // Random models for those only that no small model shows.
            let by_seed = || {
                SHOWING.into_iter().chain(1..tries).find(|seed| {
                    let (text, _) = generate::model(*seed);
                    differs(&text, mutant) && !differs(&text, Mutant::None)
                })
            };
            match (by_model, everywhere) {
                (Some((rule, _)), false) => println!("{mutant:?}: noticed by {rule}"),
                (model, _) => {
                    let seed = by_seed();
                    println!("{mutant:?}: noticed by {:?}, by seed {seed:?}", model.map(|m| m.0));
                    if model.is_none() && seed.is_none() {
                        unnoticed.push(mutant);
                    }
                }
            }
        }
        assert!(unnoticed.is_empty(), "{unnoticed:?} of {} mutants", Mutant::ALL.len());
    });
}
