//! Models of threads under the engine of threads: executions that differ only in what no thread
//! sees are one.
//!
//! `program` makes a model a program of that engine, and `found` turns its findings into paths of
//! the machine. So what is found is described, shortened and certified as of any other search.

use super::program::Model;
use crate::states::ThreadBudget;
use anyorder_finding::{Stats, stat};
use anyorder_search::{Limit, Outcome, Stats as Counts, never_run, sort_violations};
use anyorder_system::{Control, JobWatch};
use anyorder_threads::{Fault, Found, Incomplete, LearnOptions, Learnt, explore_by_learning};
use anyorder_vm::{Lonely, Machine, Misfit};
use found::Paths;
use program::ModelThreads;

mod found;
mod numbers;
mod program;

/// What an exploration by threads found, and its counts.
pub(crate) type ByThreads = (Outcome<Machine>, Stats);

/// Explores a model thread by thread.
///
/// # Errors
///
/// Fails if the model is not of threads alone, or has properties that no thread sees.
pub(crate) fn by_threads(
    model: &Model,
    budget: ThreadBudget,
    control: &Control<'_>,
) -> Result<ByThreads, Misfit> {
    let machine = &model.machine;
    let lonely = Lonely::of(machine)?;
    let has_final = machine.program().final_.is_some();
    let mut program = ModelThreads::new(lonely, has_final, control.progress);
    let options = LearnOptions {
        steps_max: budget.steps_max,
        executions_max: control.limits.executions.unwrap_or(u64::MAX).min(budget.executions_max),
        // Whoever waits for values waits until something changes.
        spins_max: 0,
        cancel: control.cancel.clone(),
        ..LearnOptions::default()
    };
    control.progress.phase("threads");
    let learnt = {
        let _watched = JobWatch::of(control).enter();
        let mut learnt = explore_by_learning(&mut program, &options);
        if learnt.incomplete.is_none() && learnt.faults.iter().any(is_stuck) {
            program.tell_places_apart();
            let first = learnt.executions;
            learnt = explore_by_learning(&mut program, &options);
            learnt.executions += first;
        }
        learnt
    };
    match program.misfit {
        Some(Misfit::Stopped) | None => {}
        Some(misfit) => return Err(misfit),
    }
    Ok(outcome(model, program, learnt, control))
}

/// Whether threads wait for ever.
fn is_stuck(found: &Found) -> bool {
    matches!(found.fault, Fault::Deadlock(_) | Fault::Livelock(_))
}

fn outcome(
    model: &Model,
    mut program: ModelThreads<'_>,
    learnt: Learnt,
    control: &Control<'_>,
) -> ByThreads {
    // What was found is replayed, also after a stop.
    let _unwatched = JobWatch::default().enter();
    let machine = &model.machine;
    let mut limits = Vec::new();
    if std::env::var("DBG").is_ok() { eprintln!("DBG {:?} {:?}", learnt.incomplete, (learnt.executions, learnt.steps, learnt.states)); }
    match (&learnt.incomplete, control.check()) {
        (_, Err(stopped)) => limits.push(Limit::from(stopped.0)),
        (None, Ok(())) => {}
        (Some(Incomplete::Executions), _) => limits.push(Limit::Executions),
        (Some(Incomplete::Stopped(reason)), _) => limits.push(Limit::from(*reason)),
        (Some(_), _) => limits.push(Limit::Algorithm),
    }
    let mut paths = Paths::new(machine, &mut program);
    let mut violations = Vec::new();
    let mut all_shown = true;
    for found in &learnt.faults {
        match paths.violation(found) {
            Some(violation) => {
                if !violations.iter().any(|known: &anyorder_search::Violation<Machine>| {
                    known.property == violation.property
                }) {
                    violations.push(violation);
                }
            }
            None => all_shown &= !paths.is_sure(found),
        }
    }
    if !all_shown && limits.is_empty() {
        limits.push(Limit::Algorithm);
    }
    sort_violations(&mut violations);
    let complete = limits.is_empty();
    let mut ran = vec![false; machine.part_names().len()];
    program.ran.iter().for_each(|member| ran[program.part_of(*member)] = true);
    let counts = Counts {
        states: learnt.states,
        transitions: learnt.transitions,
        executions: learnt.executions,
        ..Counts::default()
    };
    let mut stats = Stats::new();
    stats
        .set(stat::ALGORITHM, "threads")
        .set(stat::STATES, learnt.states)
        .set(stat::TRANSITIONS, learnt.transitions)
        .set(stat::EXECUTIONS, learnt.executions);
    let outcome = Outcome {
        complete,
        limits,
        violations,
        conflicts: None,
        responses: Vec::new(),
        ended: program.has_ended,
        untriggered: Vec::new(),
        // Threads whose executions all end are in no livelock.
        livelocks_checked: complete,
        never_run: complete.then(|| never_run(&ran)),
        stats: counts,
        detail: (),
    };
    (outcome, stats)
}
