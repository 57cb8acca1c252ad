//! What reduction relies on, by brute force: every clause of `Reducible`, in the states of the
//! gallery, of small models and of random ones (some over index types), and in those states with
//! one thing changed. No state, task or difference is left out.

use crate::machine::Machine;
use crate::sabotage::Reports;
use crate::tests::reducible::clauses::{Checked, Size, Subject};
use crate::tests::reducible::sharp::SHARP;
use crate::tests::reducible::totals::Totals;
use anyorder_lang::lower::compile;
use anyorder_system::{ContractOptions, check_contract};

use crate::tests::models::{random as generate, symmetric};

pub(crate) mod edits;

mod attempt;

mod clauses;

mod mutants;

pub(crate) mod sharp;

mod totals;

/// What must occur.
const CLAUSES: &[&str] = &[
    "transitions are those of ready tasks",
    "blocked attempts",
    "failing attempts",
    "silent writes",
    "tasks for several messages or threads",
    "1: the same from a state that was written down",
    "1: touched: variable",
    "1: touched: variable with handle or object",
    "1: touched: element",
    "1: touched: field",
    "1: touched: element of a field",
    "1: touched: message gone",
    "1: touched: message more",
    "1: touched: thread",
    "1: touched: thread with an end",
    "1: touched: lock",
    "1: touched: started",
    "1: touched: enabled",
    "1: touched: handle or object copied",
    "1: not touched: variable",
    "1: not touched: variable with handle or object",
    "1: not touched: element",
    "1: not touched: field",
    "1: not touched: element of a field",
    "1: not touched: message gone",
    "1: not touched: message more",
    "1: not touched: thread",
    "1: not touched: thread with an end",
    "1: not touched: lock",
    "1: not touched: started",
    "1: not touched: enabled",
    "1: not touched: handle or object copied",
    "2: a step that changes whether a task is ready",
    "2: a change of what a task does not await",
    "3: pairs with a conflict",
    "3: pairs without a conflict",
    "3: pairs without a conflict, one fails",
    "3: a change and a step can be swapped",
    "4: a task that awaits several places is known",
    "4: a step that changes whether a task is there",
    "5: a step that writes what an invariant watches",
    "5: a step that writes nothing that an invariant watches",
    "5: a change of what an invariant watches",
    "5: a change of what no invariant watches",
];

fn machine(name: &str, text: &str, reports: Reports) -> Machine {
    let compiled = compile(text, name).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    Machine::new(compiled.program).expect("valid").reporting(reports)
}

/// What is wrong with a model, if anything is.
fn check(name: &str, text: &str, size: Size, totals: &mut Totals) -> Checked {
    check_as(name, text, size, Reports::All, totals)
}

/// What is wrong with a model on a machine that makes some of its reports.
fn check_as(name: &str, text: &str, size: Size, reports: Reports, totals: &mut Totals) -> Checked {
    let machine = machine(name, text, reports);
    Subject::new(&machine, totals).walk(size).map_err(|error| format!("{name}: {error}"))
}

fn gallery() -> Vec<(String, String)> {
    let mut models = Vec::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "any") {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            models.push((name, std::fs::read_to_string(&path).expect("a model")));
        }
    }
    models.sort();
    models
}

#[test]
fn every_clause_holds_in_every_model() {
    let mut totals = Totals::default();
    let models = gallery();
    assert!(models.len() > 50);
    let mut wrong = Vec::new();
    let size = Size { states: 150, edits: 6, pairs: true };
    for (name, text) in &models {
        wrong.extend(check(name, text, size, &mut totals).err());
    }
    let size = Size { states: 400, edits: usize::MAX, pairs: true };
    for (name, text) in SHARP {
        wrong.extend(check(name, text, size, &mut totals).err());
    }
    totals.print();
    assert!(wrong.is_empty(), "{} models:\n{}", wrong.len(), wrong.join("\n\n"));
    totals.require(CLAUSES);
}

fn random_models(usual: u64, model: impl Fn(u64) -> String) -> Totals {
    let seeds = anyorder_testkit::effort::seeds(usual);
    println!("models of seeds {seeds:?}");
    let mut totals = Totals::default();
    let mut wrong = Vec::new();
    let size = Size { states: 12, edits: 12, pairs: true };
    for seed in seeds {
        wrong.extend(check(&format!("seed {seed}"), &model(seed), size, &mut totals).err());
    }
    totals.print();
    let shown = wrong.iter().take(12).map(|w| w.chars().take(1_500).collect::<String>());
    let shown: Vec<String> = shown.collect();
    assert!(wrong.is_empty(), "{} models:\n{}", wrong.len(), shown.join("\n\n"));
    totals
}

#[test]
fn every_clause_holds_in_random_models() {
    random_models(600, |seed| generate::model(seed).0).require(CLAUSES);
}

#[test]
fn every_clause_holds_in_symmetric_models() {
    random_models(200, symmetric::model);
}

/// The checker that authors of other front ends use accepts the machine.
#[test]
fn the_contract_checker_accepts_the_machine() {
    let options = ContractOptions { walks: 4, steps_max: 25, ..ContractOptions::default() };
    let mut all = [0; 7];
    let sharp = SHARP.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let random = (1..=100).map(|seed| (format!("seed {seed}"), generate::model(seed).0));
    let over_indices = (0..50).map(|seed| (format!("index {seed}"), symmetric::model(seed)));
    for (name, text) in gallery().into_iter().chain(sharp).chain(random).chain(over_indices) {
        match check_contract(&machine(&name, &text, Reports::All), &options) {
            Ok(checks) => all.iter_mut().zip(checks).for_each(|(all, one)| *all += one),
            Err(broken) => panic!("{name}: {broken}"),
        }
    }
    println!("checks by clause: {all:?}");
    assert!(all.iter().all(|checks| *checks > 100), "{all:?}");
}
