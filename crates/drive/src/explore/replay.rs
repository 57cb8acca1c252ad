//! Replays a schedule of any task system.

use super::program::{TaskProgram, cannot_start};
use super::rerun::{Rerun, rerun};
use super::task_words::TaskWords;
use crate::Failure;
use crate::schedules::{Shows, reference_of};
use crate::states::{ReplayVerdict, Replayed};
use anyorder_system::{self as system, RunError, Schedule, TaskSystem};

/// Runs a schedule of a program given as tasks.
///
/// # Errors
///
/// Fails when the program cannot be started.
pub fn replay_run<P: TaskProgram>(program: &P, schedule: &Schedule) -> Result<Replayed, Failure> {
    let failed = |error: RunError| cannot_start(program.name(), error);
    let mut system = program.start(None).map_err(failed)?;
    replay(program, &mut system, schedule).map_err(failed)
}

fn replay<P: TaskProgram>(
    program: &P,
    system: &mut P::System,
    schedule: &Schedule,
) -> Result<Replayed, RunError> {
    let mut made = rerun(system, &schedule.choices, program.words())?;
    let ends_wrong = program.wrong_end(&made.observation).is_some();
    let mut wrong = !made.failures.is_empty() || ends_wrong;
    let fails = |is_it: &dyn Fn(&system::Failure) -> bool| {
        made.failures.iter().any(|(_, failure)| is_it(failure))
    };
    let same = match Shows::of(schedule) {
        None => wrong,
        Some(Shows::Difference(parts)) => {
            let differs =
                made.lost.is_none() && differs(system, schedule, (&made, &parts), program.words())?;
            wrong |= differs;
            differs
        }
        Some(Shows::Failure(claimed)) => fails(&|failure| claimed.is(failure)),
        Some(other) => fails(&|failure| Shows::of_failure(failure) == other) || ends_wrong,
    };
    let verdict = match (same, &made.lost, wrong) {
        (true, _, _) => ReplayVerdict::Reproduced,
        (false, Some(_), _) => ReplayVerdict::Diverged,
        (false, None, true) => ReplayVerdict::OtherViolation,
        (false, None, false) if Shows::of(schedule).is_none() => ReplayVerdict::Possible,
        (false, None, false) => ReplayVerdict::NotReproduced,
    };
    let lost = made.lost.map(|task| format!("`{task}` cannot run when its turn comes"));
    made.run.end = lost.unwrap_or_default();
    Ok(Replayed { run: made.run, verdict })
}

/// Returns whether all given parts differ between the run and the run that the schedule names.
fn differs<S: TaskSystem>(
    system: &mut S,
    schedule: &Schedule,
    (made, parts): (&Rerun, &[String]),
    words: &dyn TaskWords,
) -> Result<bool, RunError> {
    let Some(against) = reference_of(schedule) else { return Ok(false) };
    let other = rerun(system, &against.choices, words)?;
    let found = other.observation.difference(&made.observation);
    let differs = |part: &String| found.iter().any(|one| one.path.to_string() == *part);
    Ok(other.lost.is_none() && !found.is_empty() && parts.iter().all(differs))
}
