//! Shrinking as a whole.

use super::gather::gather;
use super::minimize::minimize;
use super::options::{Error, ShrinkOptions, Shrunk, Symptom};
use super::order::{inversions, straighten};
use super::runner::{NoRun, Ran, Runner};
use crate::r4;
use crate::systems::Systems;
use anyorder_system::{Choice, Control, JobWatch, RunError, Schedule, SystemFactory, TaskSystem};

/// Makes a schedule that shows a symptom as small as possible; see the module's documentation. The
/// result keeps the options of the schedule.
///
/// # Errors
///
/// Fails if the program cannot be run, or if the schedule does not show the symptom. If the limit
/// on runs is reached, or the job is stopped, the smallest schedule so far is returned.
pub fn shrink<F>(
    factory: &F,
    failing: &Schedule,
    symptom: Symptom<'_>,
    options: &ShrinkOptions,
    control: &Control<'_>,
) -> Result<Shrunk, Error>
where
    F: SystemFactory,
    F::System: TaskSystem,
{
    shrink_watched(factory, failing, symptom, options, control, &mut |_| {})
}

/// Like [`shrink`], and gives the choices of the best run so far to `on_better`, for a caller that
/// may have to end the job.
///
/// # Errors
///
/// Like [`shrink`].
pub fn shrink_watched<F>(
    factory: &F,
    failing: &Schedule,
    symptom: Symptom<'_>,
    options: &ShrinkOptions,
    control: &Control<'_>,
    on_better: &mut dyn FnMut(&[Choice]),
) -> Result<Shrunk, Error>
where
    F: SystemFactory,
    F::System: TaskSystem,
{
    shrink_any(factory, failing, symptom, (options, control), on_better)
}

fn shrink_any(
    factory: &dyn Systems,
    failing: &Schedule,
    symptom: Symptom<'_>,
    (options, control): (&ShrinkOptions, &Control<'_>),
    on_better: &mut dyn FnMut(&[Choice]),
) -> Result<Shrunk, Error> {
    let _entered = JobWatch::of(control).enter();
    let system = factory.make_any().map_err(|error| match error {
        RunError::Stopped(reason) => Error::Stopped(reason),
        error => Error::Run(error),
    })?;
    let mut runner = Runner::new(system, symptom, (options, control), on_better);
    let first = run_or_fail(&mut runner, &failing.choices, false)?;
    if !first.shows {
        return Err(Error::NotShown);
    }
    let length_before = first.choices.len();
    runner.improved(&first);
    let (best, reversals, minimal) = smaller(factory, &mut runner, symptom, first, options)?;
    let mut schedule = failing.clone();
    schedule.program = runner.system.program().clone();
    schedule.choices = best.choices;
    Ok(Shrunk {
        schedule,
        reversals: reversals.0,
        fewest: reversals.1,
        minimal,
        length_before,
        executions: runner.executions,
    })
}

/// Returns a smaller run, the number of its reversals and whether this is the least, and whether
/// the run is minimal. A stopped job keeps the best run so far.
fn smaller(
    factory: &dyn Systems,
    runner: &mut Runner<'_>,
    symptom: Symptom<'_>,
    first: Ran,
    options: &ShrinkOptions,
) -> Result<(Ran, (u32, bool), bool), Error> {
    let control = runner.control.clone();
    let recorded = options.recording.as_ref().map_or(&[][..], |schedule| &schedule.choices);
    let recording = match runner.run(recorded, true) {
        Ok(recording) => recording,
        Err(NoRun::Lost(error)) => return Err(Error::Run(error)),
        Err(NoRun::Stopped(_)) => return Ok((first, (0, false), false)),
    };
    let (mut best, fewest) = if recording.shows {
        (recording.clone(), Some(0))
    } else {
        match by_reversals(factory, runner, symptom, (options, &control)) {
            Some((ran, depth)) => (ran, Some(depth)),
            None => (first, None),
        }
    };
    runner.improved(&best);
    let mut minimal = false;
    if fewest.is_some() || straighten(runner, &mut best, &recording).is_ok() {
        minimal = matches!(minimize(runner, &mut best), Ok(true));
    }
    if fewest.is_none() && minimal {
        let _ = straighten(runner, &mut best, &recording);
    }
    let _ = gather(runner, &mut best);
    let reversals = fewest.unwrap_or_else(|| inversions(&best, &recording, &control));
    Ok((best, (reversals, fewest.is_some()), minimal))
}

fn run_or_fail(runner: &mut Runner<'_>, plan: &[Choice], run_tail: bool) -> Result<Ran, Error> {
    runner.run(plan, run_tail).map_err(|error| match error {
        NoRun::Lost(error) => Error::Run(error),
        NoRun::Stopped(reason) => {
            Error::Stopped(reason.unwrap_or(anyorder_system::StopReason::Interrupted))
        }
    })
}

/// Searches for a run with the fewest reversals that shows the symptom; `None` if it finds none
/// within the limit on runs.
fn by_reversals(
    factory: &dyn Systems,
    runner: &mut Runner<'_>,
    symptom: Symptom<'_>,
    (options, control): (&ShrinkOptions, &Control<'_>),
) -> Option<(Ran, u32)> {
    let budget = runner.executions
        + (options.executions_max - runner.executions.min(options.executions_max)) / 2;
    for bound in 1..=options.reversals_max {
        let left = budget.checked_sub(runner.executions).filter(|left| *left > 0)?;
        let mut control = control.clone();
        control.limits.executions = Some(left);
        control.limits.steps.get_or_insert(options.tail_max);
        let r4_options = r4::ReversalOptions {
            bound: Some(bound),
            recording: options.recording.clone(),
            attempts: options.attempts,
            tail_max: options.tail_max,
            confirm: false,
            ..r4::ReversalOptions::default()
        };
        let outcome = r4::explore_any(factory, &r4_options, &control).ok()?;
        runner.executions += outcome.counts.runs();
        let shows = |run: &r4::RunInfo| {
            run.failures.iter().any(symptom.failure)
                || symptom.end.is_some_and(|end| !run.cut && end(&run.observation))
        };
        let mut found: Vec<(u32, usize, usize)> = (0..)
            .zip(&outcome.runs)
            .filter(|(_, run)| shows(run))
            .map(|(number, run)| (run.depth, run.length, number))
            .collect();
        found.sort_unstable();
        for (depth, _, number) in found {
            if let Ok(ran) = runner.run(&outcome.choices(number), false)
                && ran.shows
            {
                return Some((ran, depth));
            }
        }
        if outcome.exhausted || !outcome.complete {
            return None;
        }
    }
    None
}
