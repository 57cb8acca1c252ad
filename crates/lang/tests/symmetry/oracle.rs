//! The definition, by brute force: exchanging members leads from reachable states to reachable
//! states and commutes with steps.

use super::explore::{States, bytes, compiled, searched, searched_up_to, states};
use super::generate::model;
use anyorder_lang::load;
use anyorder_lang::lower::lower;
use anyorder_lang::source::Source;
use anyorder_system::StateSystem;
use anyorder_testkit::effort::cases;
use anyorder_vm::{Machine, State};
use std::collections::BTreeMap;

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
    symmetric(machine, all).unwrap_or_else(|what| panic!("{what}\n{text}"))
}

/// The number of orbits, or what is not symmetric.
fn symmetric(machine: &Machine, all: &States) -> Result<usize, String> {
    let numbers: BTreeMap<&Vec<u8>, usize> = all.found.keys().zip(0..).collect();
    let mut parents: Vec<usize> = (0..all.found.len()).collect();
    for (at, (key, state)) in all.found.iter().enumerate() {
        for by in exchanges(machine) {
            let other = machine.exchanged(state, by.0, &by.1).expect("a symmetry");
            let other_key = bytes(machine, &other);
            let back = machine.exchanged(&other, by.0, &by.1).expect("a symmetry");
            assert_eq!(bytes(machine, &back), *key, "an exchange undoes itself");
            let number = numbers.get(&other_key).copied();
            let shown = || format!("{:?}\n{:?}", machine.show(state), machine.show(&other));
            if number.is_none() && all.whole {
                return Err(format!("a state that is not reachable\n{}", shown()));
            }
            if offers(machine, state, Some(&by)) != offers(machine, &other, None) {
                return Err(format!("other steps\n{}", shown()));
            }
            let holds = |state: &State| {
                let invariants = 0..machine.invariants().len();
                let holds: Vec<bool> = invariants.map(|i| machine.holds(i, state)).collect();
                (machine.is_final(state), holds)
            };
            if holds(state) != holds(&other) {
                return Err(format!("other properties\n{}", shown()));
            }
            let (a, b) = (root(&parents, at), root(&parents, number.unwrap_or(at)));
            parents[a.max(b)] = a.min(b);
        }
    }
    Ok(parents.iter().enumerate().filter(|(at, parent)| at == *parent).count())
}

const MODELS: u64 = 300;

/// The definition is checked in at most so many states of a model; if that is all of them, on the
/// whole graph, too.
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
    let mut verdicts: BTreeMap<String, u32> = BTreeMap::new();
    let mut words: BTreeMap<&str, u32> = BTreeMap::new();
    let seeds = anyorder_testkit::effort::sampled(200, MODELS);
    let models = seeds.count();
    for seed in seeds {
        let text = model(seed);
        let compiled = compiled(&text);
        let machine = Machine::new(compiled.program).expect("a valid program");
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
        reduced += u64::from(stats.states < plain_stats.states);
        for (property, _) in plain {
            let kind = property.split('(').next().unwrap_or_default().to_owned();
            *verdicts.entry(kind).or_insert(0) += 1;
        }
    }
    println!(
        "{models} models, {larger} of more than {STATES_MAX} states, {cut} of more than {SEARCHED_MAX}; {reduced} with fewer states: {left} of {whole}"
    );
    println!("symmetries: {sets:?}; verdicts: {verdicts:?}");
    println!("models compared with: {words:?}");
    assert!(larger * 2 < models && cut * 5 < models, "{larger} {cut}");
    assert!(reduced * 5 > models * 2, "{reduced}");
    assert!(words.values().all(|count| *count > 2), "{words:?}");
    assert!(sets.keys().any(|n| *n == 2), "models with two index sets");
    for kind in ["Invariant", "Failure", "Deadlock"] {
        assert!(verdicts.contains_key(kind), "{kind}: {verdicts:?}");
    }
}

/// Statements that tell indices apart if the checker lets them pass, and the models that show it.
const UNSOUND: &[&str] = &[
    "for k in I { owner = k; }",
    "a[0] = 1;",
    "for k in I { if a[k] == 0 { a[k] = 1; break; } }",
    "for k in I { if a[k] == 0 { owner = k; } }",
    "for k in I { if q.len() < 2 { q.push(k); } }",
    "for k in seen { owner = k; }",
    "let n = 0; for k in I { n += 1; if [1].all(fn(w) { return w < n; }) { a[k] = 1; } }",
    "let f = fn(k: I) { owner = k; return true; }; for k in I { if [k].all(f) { x = 0; } }",
    "for v in a { x = v; }",
    "if !seen.is_empty() { owner = seen.min(); }",
    "owner = I.to_list().first();",
    "if !m.is_empty() { owner = m.keys().first(); }",
    "if I.any(fn(k) { owner = k; return a[k] == 0; }) { x = 0; }",
];

/// Statements that types refuse. The machine refuses them, too: an index is no int when the model
/// runs.
const TYPED: &[&str] = &[
    "if $ < I.min() { owner = $; }",
    "owner = 0;",
    "if owner == 0 { a[$] = 1; }",
    "x = $ + 1;",
    "if a.to_str() == \"[1, 0]\" { x = 2; }",
    "if $.to_str() == \"0\" { owner = $; }",
];

/// Statements that are accepted, failures among them.
const ACCEPTED: &[&str] = &[
    "match p[$] { P.Idle => {} P.Done => {} }",
    "match owner { null => {} }",
    "match m { _ => {} } owner = null;",
    "if I.minus(seen).is_empty() { x = 1; }",
    "let k = choose I.minus(set[$]); owner = k;",
    "friend = friend.map(fn(f) owner);",
    "p = [P.Busy($); I];",
    "for v in a { if v == 1 { x = 2; } }",
    "let f = fn() { return $; }; owner = f();",
    "let r = R { who: $, n: 2 }; rec = R { n: 3, ..r };",
    "let at = q.index_of($); if at > 0 { owner = q[at]; }",
    "let o = choose friend; owner = o;",
    "if I.count(fn(k) k in seen) == I.len() { seen.clear(); }",
    "let n: I = owner; friend[n] = n;",
];

const TASK: &str = "task w(i: I) on h[i] {";
const THREAD: &str = "thread t[i in I] {";

/// A random model with one more statement, if it has such code.
fn with(seed: u64, head: &str, statement: &str) -> Option<String> {
    let statement = statement.replace('$', "i");
    let text = model(seed);
    let (before, after) = text.split_once(head)?;
    Some(format!("{before}{head} {{ {statement} }} {after}"))
}

#[test]
fn what_is_accepted_is_symmetric() {
    for statement in ACCEPTED {
        let texts =
            (0..cases(20)).flat_map(|seed| [TASK, THREAD].map(|head| with(seed, head, statement)));
        for text in texts.flatten() {
            let machine = Machine::new(compiled(&text).program).expect("a valid program");
            orbits(&machine, &states(&machine, STATES_MAX), &text);
        }
    }
}

/// The first of many random models in which a statement is not symmetric when nobody checks it.
fn noticed(statement: &str) -> Option<u64> {
    (0..60).find(|seed| {
        let Some(text) = with(*seed, TASK, statement) else { return false };
        let loaded = load(&text);
        assert!(!loaded.is_valid(), "the checker refuses it\n{text}");
        let source = Source::new("test.any", &text);
        let program = lower(&loaded.model, &loaded.program, &source).expect("a program");
        let machine = Machine::new(program).expect("a valid program");
        symmetric(&machine, &states(&machine, STATES_MAX)).is_err()
    })
}

#[test]
fn what_is_refused_is_not_symmetric() {
    for statement in UNSOUND {
        let seed = noticed(statement);
        println!("{statement}: {seed:?}");
        assert!(seed.is_some(), "no model shows that this is not symmetric: {statement}");
    }
    for statement in TYPED {
        assert_eq!(noticed(statement), None, "the machine tells indices apart: {statement}");
    }
}
