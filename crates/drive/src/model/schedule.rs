//! Paths as schedules and back.
//!
//! A search gives a path by places among successors, which mean something in one version of one
//! model only. A schedule gives it by names of tasks, which survive changes of the model. The way
//! from one to the other is to run the machine beside the path, and to compare states.

use anyorder_search::Path;
use anyorder_system::{
    Choice, Divergence, Failure, Program, RunError, Schedule, Snapshots as _, StateSystem,
    TaskSystem,
};
use anyorder_vm::{Machine, MachineRun};
use std::sync::Arc;

/// Returns the schedule of a path, or `None` where the machine does not run it again: a bug of
/// ours.
pub(super) fn schedule_of(
    machine: &Arc<Machine>,
    path: &Path<Machine>,
    program: &Program,
) -> Option<Schedule> {
    let mut schedule = Schedule::new(program.clone());
    let mut run = MachineRun::new(Arc::clone(machine));
    for step in &path.steps {
        let wanted = machine.fingerprint(&step.state);
        let before = run.save().ok()?;
        let mut candidates = Vec::new();
        for task in run.enabled().ok()? {
            let choice = |alternative| Choice {
                handler: task.handler.clone(),
                alternative,
                ..Choice::of(task.task.clone())
            };
            candidates.extend((0..task.alternatives).map(choice));
        }
        let found = candidates.into_iter().find(|choice| {
            let ran = run.execute(choice);
            let same = ran
                .is_ok_and(|ran| ran.failures.first().cloned().map(Failure::from) == step.failure)
                && machine.fingerprint(run.state()) == wanted
                && choice.alternative == step.action.alternative();
            same || run.restore(before).is_err()
        })?;
        run.forget(before);
        schedule.choices.push(found);
    }
    Some(schedule)
}

/// Runs a schedule; returns the places among successors that do the same, and how they part where a
/// choice is not there.
pub(super) fn follow(
    machine: &Arc<Machine>,
    schedule: &Schedule,
) -> (Vec<u32>, Option<Divergence>) {
    let mut run = MachineRun::new(Arc::clone(machine));
    let mut places = vec![0];
    for (number, choice) in schedule.choices.iter().enumerate() {
        let mut successors = Vec::new();
        machine.successors(run.state(), &mut successors);
        let lost =
            || Divergence { choice: number, wanted: choice.task.clone(), enabled: Vec::new() };
        let ran = match run.execute(choice) {
            Ok(ran) => ran,
            Err(RunError::Diverged(divergence)) => return (places, Some(divergence)),
            Err(_) => return (places, Some(lost())),
        };
        let state = machine.fingerprint(run.state());
        let same = |one: &anyorder_system::Successor<_, anyorder_vm::Action>| {
            one.failure == ran.failures.first().cloned().map(Failure::from)
                && one.action.alternative() == choice.alternative
                && machine.fingerprint(&one.state) == state
        };
        let Some(place) = successors.iter().position(same) else {
            return (places, Some(lost()));
        };
        places.push(place as u32);
    }
    (places, None)
}
