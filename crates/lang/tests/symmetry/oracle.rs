//! The definition, by brute force: exchanging members leads from reachable states to reachable states and commutes with steps.

use super::explore::{States, bytes, compiled, searched, searched_up_to, states};
use super::generate::model;
use anyorder_lang::check::SymmetryRule;
use anyorder_system::StateSystem;
use anyorder_vm::{Machine, State};
use std::collections::{BTreeMap, BTreeSet};

/// Exchanges of neighbours: all orders are made of them.
fn exchanges(machine: &Machine) -> Vec<(usize, Vec<usize>)> {
    let mut found = Vec::new();
    for (number, symmetry) in machine.program().symmetries.iter().enumerate() {
        let size = usize::from(symmetry.size);
        for a in 0..size - 1 {
            let mut order: Vec<usize> = (0..size).collect();
            order.swap(a, a + 1);
            found.push((number, order));
        }
    }
    found
}

/// What a state offers: where it leads, or how it fails.
fn offers(
    machine: &Machine,
    state: &State,
    by: Option<&(usize, Vec<usize>)>,
) -> Vec<(Vec<u8>, Option<String>)> {
    let mut next = Vec::new();
    machine.successors(state, &mut next);
    let mut found: Vec<_> = next
        .into_iter()
        .map(|one| match one.failure {
            Some(failure) => (Vec::new(), Some(failure.to_string())),
            None => {
                let state = match by {
                    Some((symmetry, order)) => {
                        machine.exchanged(&one.state, *symmetry, order).expect("a symmetry")
                    }
                    None => one.state,
                };
                (bytes(machine, &state), None)
            }
        })
        .collect();
    found.sort();
    found
}

fn root(parents: &[usize], mut at: usize) -> usize {
    while parents[at] != at {
        at = parents[at];
    }
    at
}

/// Checks the definition on states; returns the number of orbits, if these are all states.
///
/// Of some states all is asked but that exchanges lead to reachable ones.
pub(crate) fn orbits(machine: &Machine, all: &States, text: &str) -> usize {
    let numbers: BTreeMap<&Vec<u8>, usize> = all.found.keys().zip(0..).collect();
    let mut parents: Vec<usize> = (0..all.found.len()).collect();
    let invariants = machine.invariants().len();
    for (at, (key, state)) in all.found.iter().enumerate() {
        for by in exchanges(machine) {
            let other = machine.exchanged(state, by.0, &by.1).expect("a symmetry");
            let other_key = bytes(machine, &other);
            let back = machine.exchanged(&other, by.0, &by.1).expect("a symmetry");
            assert_eq!(bytes(machine, &back), *key, "an exchange undoes itself\n{text}");
            let number = numbers.get(&other_key).copied();
            assert!(
                number.is_some() || !all.whole,
                "a state that is not reachable\n{:?}\n{text}",
                machine.show(&other)
            );
            assert_eq!(
                offers(machine, state, Some(&by)),
                offers(machine, &other, None),
                "{:?}\n{:?}\n{text}",
                machine.show(state),
                machine.show(&other)
            );
            assert_eq!(machine.is_final(state), machine.is_final(&other), "{text}");
            for index in 0..invariants {
                let same = machine.holds(index, state) == machine.holds(index, &other);
                assert!(same, "{:?}\n{text}", machine.show(state));
            }
            let (a, b) = (root(&parents, at), root(&parents, number.unwrap_or(at)));
            parents[a.max(b)] = a.min(b);
        }
    }
    parents.iter().enumerate().filter(|(at, parent)| at == *parent).count()
}

const MODELS: u64 = 300;

/// The definition is checked in at most so many states of a model; if that is all of them, on the whole graph, too.
const STATES_MAX: usize = 300;

/// Verdicts are compared where a model has no more states than so many.
const SEARCHED_MAX: u64 = 5_000;

/// What must occur among the models that are compared.
const WORDS: [&str; 9] = [
    ": delayed;",
    " after 1",
    " front;",
    "cancel h",
    "disable e",
    "enable e",
    "wait c",
    "notify_all",
    "granularity = access",
];

#[test]
fn random_symmetric_models() {
    let (mut larger, mut cut, mut reduced, mut sets) = (0, 0, 0, BTreeMap::new());
    let (mut whole, mut left) = (0, 0);
    let mut rules: BTreeMap<SymmetryRule, u32> = BTreeMap::new();
    let mut verdicts: BTreeMap<String, u32> = BTreeMap::new();
    let mut words: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in 0..MODELS {
        let text = model(seed);
        let compiled = compiled(&text);
        for (rule, count) in &compiled.symmetries.rules {
            *rules.entry(*rule).or_insert(0) += count;
        }
        let said: Vec<&String> =
            compiled.symmetries.diagnostics.iter().map(|d| &d.message).collect();
        assert!(said.is_empty(), "seed {seed}: {said:?}\n{text}");
        let machine = compiled.into_machine().expect("a valid program");
        *sets.entry(machine.program().symmetries.len()).or_insert(0) += 1;
        for word in WORDS {
            *words.entry(word).or_insert(0) += u32::from(text.contains(word));
        }
        let text = format!("seed {seed}\n{text}");
        let all = states(&machine, STATES_MAX);
        let orbits = orbits(&machine, &all, &text);
        larger += u64::from(!all.whole);
        let Some((plain, plain_stats)) = searched_up_to(&machine, false, 1, SEARCHED_MAX) else {
            cut += 1;
            continue;
        };
        let (verdict, stats) = searched(&machine, true, 1);
        assert_eq!(verdict, plain, "{text}");
        if all.whole {
            assert_eq!(plain_stats.states as usize, all.found.len(), "{text}");
            assert_eq!(stats.states as usize, orbits, "{text}");
        }
        assert!(stats.states <= plain_stats.states, "{text}");
        let (verdict, parallel) = searched(&machine, true, 3);
        assert_eq!(
            (verdict, parallel.states, parallel.transitions),
            (plain.clone(), stats.states, stats.transitions),
            "{text}"
        );
        whole += plain_stats.states;
        left += stats.states;
        reduced += u32::from(stats.states < plain_stats.states);
        for (property, _) in plain {
            let kind = property.split('(').next().unwrap_or_default().to_owned();
            *verdicts.entry(kind).or_insert(0) += 1;
        }
    }
    println!(
        "{MODELS} models, {larger} of more than {STATES_MAX} states, {cut} of more than {SEARCHED_MAX}; {reduced} with fewer states: {left} of {whole}"
    );
    println!("symmetries: {sets:?}; verdicts: {verdicts:?}; rules: {rules:?}");
    println!("models compared with: {words:?}");
    assert!(larger * 2 < MODELS && cut * 5 < MODELS, "{larger} {cut}");
    assert!(reduced > 120 && words.values().all(|count| *count > 5), "{reduced} {words:?}");
    assert!(sets.keys().any(|n| *n == 2), "models with two index sets");
    for kind in ["Invariant", "Failure", "Deadlock"] {
        assert!(verdicts.contains_key(kind), "{kind}: {verdicts:?}");
    }
    let fired: BTreeSet<&SymmetryRule> = rules.keys().collect();
    for rule in [
        SymmetryRule::Indexing,
        SymmetryRule::Equality,
        SymmetryRule::LoopAnyOrder,
        SymmetryRule::Quantifier,
        SymmetryRule::Choice,
        SymmetryRule::FullRange,
    ] {
        assert!(fired.contains(&rule), "{rule:?} never accepted anything");
    }
}
