//! What of a home belongs into a program: the parts, the scripts that they call, and of each what
//! can change the states that the search is about.

use super::facts::{Facts, facts_of};
use super::program::{Lower, LowerError, Lowered, Options};
use super::prune::Pruner;
use super::scenario::Op;
use crate::syntax::{Automation, Home};
use std::collections::BTreeSet;

/// Makes the program of some automations. Linear in their size, but for templates, which have a
/// bound.
///
/// # Errors
///
/// Fails if the machine has no room for it.
pub fn lower(home: &Home, options: &Options) -> Result<Lowered, LowerError> {
    let numbers = with_scripts(home, &options.parts);
    let automations = relevant(home, options, &numbers);
    let mut facts = facts(home, &automations);
    for step in options.scenario.iter().flatten() {
        if let Op::Set(entity, state) = step {
            facts.values.entry(entity.clone()).or_default().insert(state.clone());
        }
    }
    if let Some(about) = &options.about {
        // What nobody reads has no effect on a run.
        let Facts { writes, triggers, reads, .. } = &mut facts;
        writes
            .retain(|key, _| about.contains(key) || triggers.contains(key) || reads.contains(key));
    }
    let parts = (numbers, &automations[..]);
    let mut lower = Lower::new(home, options.clone(), parts, &facts);
    lower.declare();
    lower.define();
    let Lower { b, table, numbers, problems, .. } = lower;
    let program = b.finish().map_err(LowerError::TooLarge)?;
    Ok(Lowered { program, table, parts: numbers, problems })
}

fn facts(home: &Home, automations: &[Automation]) -> Facts {
    let mut facts = Facts::default();
    automations.iter().for_each(|automation| facts.add(&facts_of(home, automation)));
    facts
}

/// Adds the scripts that are called.
fn with_scripts(home: &Home, parts: &[usize]) -> Vec<usize> {
    let mut numbers = parts.to_vec();
    let mut at = 0;
    while at < numbers.len() {
        let facts = facts_of(home, &home.automations[numbers[at]]);
        for entity in facts.runs {
            let found = home.automations.iter().position(|a| a.entity == entity);
            if let Some(found) = found.filter(|found| !numbers.contains(found)) {
                numbers.push(found);
            }
        }
        at += 1;
    }
    numbers
}

/// Returns the automations without what cannot change the states of `about`: a slice of the program
/// (Weiser, "Program Slicing", ICSE 1981) with those states as its criterion. A least fixed point:
/// what a kept step depends on is kept, too.
fn relevant(home: &Home, options: &Options, numbers: &[usize]) -> Vec<Automation> {
    let all = || numbers.iter().map(|number| home.automations[*number].clone()).collect();
    let Some(about) = options.about.as_ref().filter(|_| options.reduced) else { return all() };
    let mut keys: BTreeSet<String> = about.iter().cloned().collect();
    keys.extend(numbers.iter().map(|number| home.automations[*number].entity.clone()));
    loop {
        let pruner = Pruner::new(home, numbers, &keys);
        let parts: Vec<Automation> =
            numbers.iter().map(|number| pruner.automation(&home.automations[*number])).collect();
        let facts = facts(home, &parts);
        let before = keys.len();
        keys.extend(facts.reads);
        keys.extend(facts.triggers);
        if keys.len() == before {
            return parts;
        }
    }
}
