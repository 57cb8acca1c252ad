//! Runs to states in which only optional steps are left.
//!
//! A run that was made has some optional steps: those of `unfair` events and threads. It stands
//! for all orders of its independent steps, and a program may rest in a state of another of these
//! orders than the one that was run. So each optional task is also left out from each of its steps
//! on, with all that depends on it: what cannot run then is skipped.

use super::program::Model;
use crate::explore::{TaskProgram, WrongRest};
use anyorder_system::{Choice, TaskName, TaskSystem as _};
use anyorder_vm::program::Program;
use std::collections::BTreeMap;

/// Looks for a state of a run without some of its optional steps in which the model must not end.
pub(super) fn wrong_rest(model: &Model, choices: &[Choice], runs_max: u64) -> WrongRest {
    let mut rest = WrongRest::default();
    if !model.machine.has_rests() {
        return rest;
    }
    let optional = optional(model, choices);
    let Ok(mut system) = model.start(None) else { return rest };
    // How many steps each has; counted like a number.
    let mut kept = vec![0; optional.len()];
    loop {
        if rest.runs >= runs_max {
            rest.cut = true;
            return rest;
        }
        rest.runs += 1;
        if system.reset().is_err() {
            return rest;
        }
        let mut left: BTreeMap<&str, u32> =
            optional.iter().map(|(name, _)| &**name).zip(kept.iter().copied()).collect();
        let mut taken = Vec::new();
        for choice in choices {
            if let Some(left) = left.get_mut(&*part(model, &choice.task)) {
                if *left == 0 {
                    continue;
                }
                *left -= 1;
            }
            let Ok(step) = system.execute(choice) else { continue };
            taken.push(choice.clone());
            if step.failures.iter().any(|failure| failure.to_string() == "final") {
                rest.found = Some(taken);
                return rest;
            }
        }
        // The next number; the last one has all steps, and was run.
        let Some(at) = (0..kept.len()).find(|at| kept[*at] < optional[*at].1) else { return rest };
        kept[at] += 1;
        kept[..at].fill(0);
    }
}

/// The optional events and threads of a run, each with the number of its steps.
fn optional(model: &Model, choices: &[Choice]) -> Vec<(String, u32)> {
    let program = model.machine.program();
    // What runs on a handler that need not go on has any name.
    let any = program.handlers.iter().any(|one| !one.fair);
    let mut steps: BTreeMap<String, u32> = BTreeMap::new();
    for choice in choices {
        if any || is_unfair(program, &choice.task) {
            *steps.entry(part(model, &choice.task)).or_default() += 1;
        }
    }
    steps.into_iter().collect()
}

/// Returns whether a task belongs to an event or a thread that need not run.
pub(super) fn is_unfair(program: &Program, task: &TaskName) -> bool {
    let kind = &task.segments()[0].kind;
    let event = program.events.iter().any(|one| one.declared().0 == kind && !one.fair);
    event || program.threads.iter().any(|one| one.name == *kind && !one.fair)
}

/// Returns the occurrence of an event, or the thread, that a task belongs to.
fn part(model: &Model, task: &TaskName) -> String {
    let segments = task.segments();
    let first = segments[0];
    let is_thread = model.machine.program().threads.iter().any(|one| one.name == first.kind);
    // The number of a thread's task is that of its step.
    let number = if is_thread { 0 } else { first.ordinal };
    format!("{}@{}#{number}", first.kind, first.label)
}
