//! Converts between paths and schedules.
//!
//! A search gives a path as indices of successors, which are valid for one version of a model only.
//! A schedule names tasks, and these names survive changes of the model. The conversion runs the
//! machine along the path, step by step, and compares what each step does.

use anyorder_search::Path;
use anyorder_system::{
    Choice, Divergence, Failure, Hash128, ProgramIdentity, RunError, Schedule, Snapshots as _,
    StateSystem, Successor, TaskSystem,
};
use anyorder_vm::{Action, Machine, MachineRun, State, Write};
use std::sync::Arc;

/// Returns the schedule of a path; `None` if the machine does not reproduce the path, which is a
/// bug in anyorder.
///
/// A path is its steps: two steps that end in one state are two choices.
pub(super) fn schedule_of(
    machine: &Arc<Machine>,
    path: &Path<Machine>,
    program: &ProgramIdentity,
) -> Option<Schedule> {
    let mut schedule = Schedule::new(program.clone());
    let mut run = MachineRun::new(Arc::clone(machine));
    for (number, step) in path.steps.iter().enumerate() {
        let wanted = Effect {
            failure: step.failure.as_ref(),
            state: machine.fingerprint(&step.state),
            writes: &machine.writes(path.state(number)?, &step.action),
        };
        let choice = run.choice_of(&step.action)?;
        schedule.choices.push(taken(&mut run, machine, &step.action, choice, &wanted)?);
    }
    Some(schedule)
}

/// What a step does, as far as findings depend on it.
struct Effect<'a> {
    failure: Option<&'a Failure>,
    state: Hash128,
    writes: &'a [Write],
}

/// Runs the alternative of a step that has an effect, and returns its choice. It usually has the
/// number of the action; only the threads that a `notify` may wake have two orders.
fn taken(
    run: &mut MachineRun,
    machine: &Machine,
    action: &Action,
    choice: Choice,
    wanted: &Effect<'_>,
) -> Option<Choice> {
    let before = run.save().ok()?;
    let own = action.alternative();
    let mut alternative = own;
    let mut others = None;
    loop {
        let choice = Choice { alternative, ..choice.clone() };
        if let Ok(ran) = run.execute(&choice)
            && ran.failures.first() == wanted.failure
            && machine.fingerprint(run.state()) == wanted.state
            && run.writes() == wanted.writes
        {
            run.forget(before);
            return Some(choice);
        }
        run.restore(before).ok()?;
        if others.is_none() {
            let enabled = run.enabled().ok()?;
            let task = enabled.into_iter().find(|task| task.task == choice.task)?;
            others = Some((0..task.alternatives).filter(move |other| *other != own));
        }
        alternative = others.as_mut()?.next()?;
    }
}

/// Runs a schedule. Returns the indices of the matching successors, and the divergence if a choice
/// is missing.
pub(super) fn follow(
    machine: &Arc<Machine>,
    schedule: &Schedule,
) -> (Vec<u32>, Option<Divergence>) {
    let mut run = MachineRun::new(Arc::clone(machine));
    let mut places = vec![0];
    for (number, choice) in schedule.choices.iter().enumerate() {
        let lost =
            || Divergence { choice: number, wanted: choice.task.clone(), enabled: Vec::new() };
        let Some(action) = run.action_of(&choice.task) else {
            return (places, Some(lost()));
        };
        let before = run.state().clone();
        let mut successors = Vec::new();
        machine.successors(&before, &mut successors);
        let ran = match run.execute(choice) {
            Ok(ran) => ran,
            Err(RunError::Diverged(divergence)) => return (places, Some(divergence)),
            Err(_) => return (places, Some(lost())),
        };
        let wanted = Effect {
            failure: ran.failures.first(),
            state: machine.fingerprint(run.state()),
            writes: run.writes(),
        };
        let same = |one: &Successor<State, Action>| {
            one.action.is_alternative_of(&action)
                && one.failure.as_ref() == wanted.failure
                && machine.fingerprint(&one.state) == wanted.state
                && machine.writes(&before, &one.action) == wanted.writes
        };
        let own = |one: &Successor<State, Action>| {
            one.action.alternative() == choice.alternative && same(one)
        };
        let place = successors.iter().position(own);
        let Some(place) = place.or_else(|| successors.iter().position(same)) else {
            return (places, Some(lost()));
        };
        places.push(place as u32);
    }
    (places, None)
}
