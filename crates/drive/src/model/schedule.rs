//! Converts between paths and schedules.
//!
//! A search gives a path as indices of successors, which are valid for one version of a model only.
//! A schedule names tasks, and these names survive changes of the model. The conversion runs the
//! machine along the path and compares states.

use anyorder_search::Path;
use anyorder_system::{
    Choice, Divergence, ProgramIdentity, RunError, Schedule, Snapshots as _, StateSystem,
    TaskSystem,
};
use anyorder_vm::{Machine, MachineRun};
use std::sync::Arc;

/// Returns the schedule of a path; `None` if the machine does not reproduce the path, which is a
/// bug in anyorder.
pub(super) fn schedule_of(
    machine: &Arc<Machine>,
    path: &Path<Machine>,
    program: &ProgramIdentity,
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
            let same = ran.is_ok_and(|ran| ran.failures.first() == step.failure.as_ref())
                && machine.fingerprint(run.state()) == wanted
                && choice.alternative == step.action.alternative();
            same || run.restore(before).is_err()
        })?;
        run.forget(before);
        schedule.choices.push(found);
    }
    Some(schedule)
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
            one.failure.as_ref() == ran.failures.first()
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
