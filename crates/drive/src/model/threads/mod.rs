//! Models of threads under the engine of threads: executions that differ only in what no thread
//! sees are one.
//!
//! `program` makes a model a program of that engine, and `found` turns its findings into paths of
//! the machine. So what is found is described, shortened and certified as of any other search.

use super::program::Model;
use crate::states::ThreadBudget;
use anyorder_common::cancel::Cancel;
use anyorder_finding::{Stats, stat};
use anyorder_search::{
    DEADLOCKS_MAX, Limit, Outcome, Stats as Counts, Violation, never_run, sort_violations,
};
use anyorder_system::{Control, JobWatch};
use anyorder_threads::{Fault, Found, Incomplete, LearnOptions, Learnt, explore_by_learning};
use anyorder_vm::{Lonely, Machine, Misfit};
use found::Paths;
use program::ModelThreads;
use sabotage::Sabotage;
use std::fmt;

mod found;
mod live;
mod numbers;
mod program;
mod sabotage;
mod specified;

#[cfg(test)]
#[path = "../../../tests/threads/faults.rs"]
mod tests;

/// What an exploration by threads found, and its counts.
pub(crate) type ByThreads = (Outcome<Machine>, Stats);

/// The most faults that become findings.
const FAULTS_MAX: usize = DEADLOCKS_MAX;

/// Why a model cannot be explored thread by thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Unfit {
    /// It is none for that.
    Model(Misfit),
    /// Calls of these methods do not commute, though its specification says so.
    Specification([String; 2]),
}

impl From<Misfit> for Unfit {
    fn from(misfit: Misfit) -> Unfit {
        Unfit::Model(misfit)
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Model(misfit) => misfit.fmt(f),
            Unfit::Specification([one, other]) if one == other => {
                write!(f, "the specification is wrong: calls of `{one}` do not commute")
            }
            Unfit::Specification([one, other]) => {
                write!(f, "the specification is wrong: `{one}` and `{other}` do not commute")
            }
        }
    }
}

/// Explores a model thread by thread.
///
/// # Errors
///
/// Fails if the model is not of threads alone, has properties that no thread sees, or a
/// specification that is wrong.
pub(crate) fn by_threads(
    model: &Model,
    budget: ThreadBudget,
    control: &Control<'_>,
) -> Result<ByThreads, Unfit> {
    with_fault(model, budget, control, Sabotage::None)
}

fn with_fault(
    model: &Model,
    budget: ThreadBudget,
    control: &Control<'_>,
    sabotage: Sabotage,
) -> Result<ByThreads, Unfit> {
    let machine = &model.machine;
    let lonely = Lonely::of(machine)?;
    let has_final = machine.program().final_.is_some();
    let mut program = ModelThreads::new(lonely, has_final, control);
    program.sabotage = sabotage;
    let options = LearnOptions {
        steps_max: budget.steps_max,
        executions_max: control.limits.executions.unwrap_or(u64::MAX).min(budget.executions_max),
        // Whoever waits for values waits until something changes.
        spins_max: 0,
        turns_max: 0,
        // A search of the states shortens the ways.
        shorten_max: 0,
        cancel: budget.polls_max.map_or_else(|| control.cancel.clone(), Cancel::after_polls),
        ..LearnOptions::default()
    };
    control.progress.phase("threads");
    let learnt = {
        let _watched = JobWatch::of(control).enter();
        let mut learnt = explore_by_learning(&mut program, &options);
        if learnt.incomplete.is_none()
            && learnt.faults.iter().any(|found| is_stuck(found, &program))
        {
            program.tell_places_apart();
            let first = learnt.executions;
            learnt = explore_by_learning(&mut program, &options);
            learnt.executions += first;
        }
        learnt
    };
    match program.misfit {
        Some(Misfit::Stopped) | None => {}
        Some(misfit) => return Err(misfit.into()),
    }
    if let Some(methods) = program.refuted(&control.cancel) {
        return Err(Unfit::Specification(methods));
    }
    Ok(outcome(model, program, learnt, control))
}

/// Whether threads wait for ever, and none that failed holds the others up.
fn is_stuck(found: &Found, program: &ModelThreads<'_>) -> bool {
    match &found.fault {
        Fault::Deadlock(blocked) | Fault::Livelock(blocked) => {
            !blocked.iter().any(|one| program.has_failed(&one.op))
        }
        _ => false,
    }
}

/// Whether threads wait for ever, whatever holds them up.
fn is_wait(found: &Found) -> bool {
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
    match (&learnt.incomplete, control.check()) {
        (_, Err(stopped)) => limits.push(Limit::from(stopped.0)),
        (None, Ok(())) => {}
        (Some(Incomplete::Executions), _) => limits.push(Limit::Executions),
        (Some(Incomplete::Stopped(reason)), _) => limits.push(Limit::from(*reason)),
        (Some(_), _) => limits.push(Limit::Algorithm),
    }
    let is_one = |found: &&Found| !is_wait(found) || is_stuck(found, &program);
    let mut faults: Vec<&Found> = learnt.faults.iter().filter(is_one).collect();
    // Each takes a run, and threads that can each wait at several places multiply.
    faults.sort_by_key(|found| is_wait(found));
    if faults.len() > FAULTS_MAX {
        faults.truncate(FAULTS_MAX);
        limits.push(Limit::Deadlocks);
    }
    let mut paths = Paths::new(machine, &mut program);
    let mut violations = Vec::new();
    let mut all_shown = true;
    let daemons = &machine.program().daemons;
    let has_daemons = !daemons.threads.is_empty() || !daemons.functions.is_empty();
    for found in faults {
        match paths.violation(found) {
            Some(Some(one)) => {
                let is_known = |known: &Violation<Machine>| known.property == one.property;
                if !violations.iter().any(is_known) {
                    violations.push(one);
                }
            }
            Some(None) if is_wait(found) && has_daemons => {}
            Some(None) | None => all_shown = false,
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
