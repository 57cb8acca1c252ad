//! With a fault in the bridge to the engine of threads, random models show a difference.

use super::{Sabotage, ThreadBudget, with_fault};
use crate::model::Model;
use anyorder_common::random::Rng;
use anyorder_search::{Property, SearchOptions, search};
use anyorder_system::Control;
use std::collections::BTreeSet;

#[path = "generate.rs"]
mod generate;

use generate::Generator;

const FAULTS: [Sabotage; 8] = [
    Sabotage::StepsInterrupted,
    Sabotage::FirstValueWatched,
    Sabotage::LocksForgotten,
    Sabotage::PlacesTogether,
    Sabotage::FailuresEnd,
    Sabotage::CallsCommute,
    Sabotage::KnowledgeForgotten,
    Sabotage::EndForgotten,
];

/// Models tried at most to notice a fault.
const MODELS: u64 = 400;

/// What goes wrong in the states of a model that is not too large.
fn by_states(model: &Model) -> Option<BTreeSet<Property>> {
    let options = SearchOptions { states_max: Some(20_000), ..SearchOptions::default() };
    let found = search(&*model.machine, &options, &Control::default()).ok()?;
    let violations = found.violations.into_iter().map(|one| one.property);
    found.complete.then(|| violations.collect())
}

/// What goes wrong by threads; `None` where the answer is not complete.
fn by_threads(model: &Model, sabotage: Sabotage) -> Option<BTreeSet<Property>> {
    let found = with_fault(model, ThreadBudget::LEAD, &Control::default(), sabotage).ok()?.0;
    found.complete.then(|| found.violations.into_iter().map(|one| one.property).collect())
}

#[test]
fn every_fault_is_noticed() {
    let mut open: Vec<Sabotage> = FAULTS.to_vec();
    for seed in 1..=MODELS {
        let text = Generator::new(&mut Rng::new(seed)).model();
        let model = Model::compile("random.any", &text).unwrap_or_else(|error| panic!("{error}"));
        let Some(states) = by_states(&model) else { continue };
        let Some(threads) = by_threads(&model, Sabotage::None) else { continue };
        assert_eq!(threads, states, "seed {seed}\n{text}");
        open.retain(|fault| {
            let is_noticed = by_threads(&model, *fault).as_ref() != Some(&states);
            if is_noticed {
                println!("{fault:?}: seed {seed}");
            }
            !is_noticed
        });
        if open.is_empty() {
            return;
        }
    }
    panic!("not noticed: {open:?}");
}
