//! Shrinks a schedule that shows a finding.

use super::program::{Repeats, TaskProgram, by_names, cannot_start};
use super::rerun::{Rerun, rerun};
use crate::failure::{Missing, NotShrinkable, Request};
use crate::schedules::{ClaimedFailure, Shows, reference_of};
use crate::verdict::CertificateVerdict;
use crate::{Failure, JobControl};
use anyorder_common::text::escape;
use anyorder_explore::shrink::{self, Error, ShrinkOptions, Shrunk, Symptom};
use anyorder_system::{self as system, Choice, Control, JobWatch, Observation, Schedule};

/// Shrinks the run of a schedule to a minimal one; `None` if the schedule does not show its
/// finding.
///
/// # Errors
///
/// Fails when the program cannot be started, and when the finding is an infinite run.
///
/// ```
/// use anyorder_drive::explore::{ShrinkOptions, shrink};
/// use anyorder_drive::model::{Model, check_model};
/// use anyorder_drive::states::{SimulateOptions, simulate};
/// use anyorder_drive::{JobControl, schedule_of};
///
/// let text = "
///     model late
///     var script = false;
///     event idle {}
///     event loaded { script = true; }
///     event click { assert script, \"not loaded\"; }";
/// let model = Model::compile("late.any", text)?;
/// let options = SimulateOptions { runs: 3, ..SimulateOptions::default() };
/// let found = simulate(&model, &options, &JobControl::default())?;
/// let schedule = schedule_of(&found.findings[0].finding).expect("a schedule");
/// let shrunk = shrink(&model, &schedule, &ShrinkOptions::default(), &JobControl::default())?;
/// assert_eq!(shrunk.map(|small| small.schedule.choices.len()), Some(1));
/// # Ok::<(), anyorder_drive::Failure>(())
/// ```
pub fn shrink<P: TaskProgram>(
    program: &P,
    failing: &Schedule,
    options: &ShrinkOptions,
    control: &JobControl<'_, Schedule>,
) -> Result<Option<Shrunk>, Failure> {
    let _watched = JobWatch::of(control).enter();
    let failing = &by_names(program, failing.clone());
    // The runs made here count, too.
    let (target, shows, runs) = kept(program, failing)?;
    let executions_max = options.executions_max.saturating_sub(runs);
    let options = &ShrinkOptions { executions_max, ..options.clone() };
    let failure = |found: &system::Failure| target.is_failure(found);
    let end = |observation: &Observation| target.is_end(program, observation);
    let by_end = !matches!(target, Target::Failure(_) | Target::Broken(_));
    let symptom = Symptom { failure: &failure, end: by_end.then_some(&end) };
    let events = failing.choices.iter().filter(|choice| choice.task.creator().is_none());
    let most = events.map(|choice| choice.task.segment().ordinal).max().unwrap_or(1).max(1);
    let make = || program.start(Some(&Repeats::at_most(most)));
    control.progress.phase("runs");
    let written = |choices: Vec<Choice>| {
        let mut schedule = failing.clone();
        schedule.choices = choices;
        // The run is made on the program as it is now.
        if let Some(identity) = program.identity() {
            schedule.program = identity.clone();
        }
        shows.set(&mut schedule);
        schedule
    };
    let certified = |schedule: &Schedule, control: &Control<'_>| {
        let value = serde_json::to_value(schedule).unwrap_or_default();
        program.certify_run(&value, control)
    };
    let mut on_better = |choices: &[Choice]| {
        let schedule = written(choices.to_vec());
        if let None | Some(CertificateVerdict::Holds { .. }) = certified(&schedule, control) {
            control.publish(schedule);
        }
    };
    match shrink::shrink_watched(&make, failing, symptom, options, control, &mut on_better) {
        Ok(mut shrunk) => {
            shrunk.executions += runs;
            shrunk.schedule = written(std::mem::take(&mut shrunk.schedule.choices));
            holds(match certified(&shrunk.schedule, control) {
                // The run was just made: to check it takes no longer.
                Some(CertificateVerdict::Stopped(_)) => {
                    certified(&shrunk.schedule, &Control::default())
                }
                verdict => verdict,
            })?;
            Ok(Some(shrunk))
        }
        Err(Error::NotShown) => Ok(None),
        Err(Error::Stopped(reason)) => Err(Failure::stopped(reason, Missing::Schedule)),
        Err(Error::Run(error)) => Err(cannot_start(program.name(), error)),
    }
}

/// Returns what a smaller run must keep, what its schedule shows, and the number of runs made to
/// learn that.
fn kept<P: TaskProgram>(program: &P, failing: &Schedule) -> Result<(Target, Shows, u64), Failure> {
    let not = |why| Err(Request::NotShrinkable(why).into());
    match Shows::of(failing) {
        Some(Shows::Response(_)) => not(NotShrinkable::Response),
        Some(Shows::Livelock) => not(NotShrinkable::Livelock),
        Some(Shows::State(_)) => not(NotShrinkable::Serial),
        Some(shows) => {
            let target = Target::of(&shows, failing, program)?;
            let runs = u64::from(matches!(target, Target::Difference(..)));
            Ok((target, shows, runs))
        }
        None => {
            let (target, shows) = observed(program, rerun_schedule(program, failing)?);
            Ok((target, shows, 1))
        }
    }
}

/// Fails for a smaller schedule that does not hold.
fn holds(verdict: Option<CertificateVerdict>) -> Result<(), Failure> {
    match verdict {
        None | Some(CertificateVerdict::Holds { .. }) => Ok(()),
        Some(CertificateVerdict::Stopped(reason)) => {
            Err(Failure::stopped(reason, Missing::SmallerSchedule))
        }
        Some(CertificateVerdict::Fails(fault) | CertificateVerdict::Unreadable(fault)) => {
            let reason = escape(&fault.reason);
            Err(Failure::Bug(format!("the smaller schedule does not hold: {reason}")))
        }
    }
}

/// The property that a smaller run must keep.
enum Target {
    /// A failure of the same kind and place as this one.
    Failure(ClaimedFailure),
    /// The same broken property.
    Broken(Shows),
    /// The same wrong end; `None` where nothing is wrong.
    End(Option<Shows>),
    /// These parts differ from the outcome of another run.
    Difference(Observation, Vec<String>),
}

impl Target {
    /// Returns whether a failure is the one to keep.
    fn is_failure(&self, found: &system::Failure) -> bool {
        match self {
            Target::Failure(wanted) => wanted.has_kind_and_place_of(found),
            Target::Broken(wanted) => Shows::of_failure(found) == *wanted,
            Target::End(_) | Target::Difference(..) => false,
        }
    }

    /// Returns whether the end of a run is the one to keep.
    fn is_end<P: TaskProgram>(&self, program: &P, observation: &Observation) -> bool {
        match self {
            Target::Failure(_) | Target::Broken(_) => false,
            Target::End(wanted) => {
                program.wrong_end(observation).is_some_and(|end| Some(end.shows) == *wanted)
            }
            Target::Difference(against, parts) => {
                let found = against.difference(observation);
                parts.iter().all(|part| found.iter().any(|one| one.path.to_string() == *part))
            }
        }
    }

    fn of<P: TaskProgram>(
        shows: &Shows,
        failing: &Schedule,
        program: &P,
    ) -> Result<Target, Failure> {
        Ok(match shows {
            Shows::Difference(parts) => {
                let against = reference_of(failing).filter(|_| !parts.is_empty());
                let against = against.ok_or(Request::NoReference)?;
                Target::Difference(rerun_schedule(program, &against)?.observation, parts.clone())
            }
            Shows::Deadlock | Shows::Final => Target::End(Some(shows.clone())),
            Shows::Failure(claimed) => Target::Failure(claimed.clone()),
            other => Target::Broken(other.clone()),
        })
    }
}

fn rerun_schedule<P: TaskProgram>(program: &P, schedule: &Schedule) -> Result<Rerun, Failure> {
    let system = program.start(None);
    let made = system.and_then(|mut system| rerun(&mut system, &schedule.choices, program.words()));
    made.map_err(|error| cannot_start(program.name(), error))
}

/// Returns the finding of a run whose schedule names none.
fn observed<P: TaskProgram>(program: &P, made: Rerun) -> (Target, Shows) {
    match made.failures.into_iter().next() {
        Some((_, failure)) => {
            let target = match failure.broken {
                None => Target::Failure(ClaimedFailure::of(&failure)),
                Some(_) => Target::Broken(Shows::of_failure(&failure)),
            };
            (target, Shows::of_failure(&failure))
        }
        None => {
            let end = program.wrong_end(&made.observation).map(|end| end.shows);
            // If nothing is wrong, no run matches.
            (Target::End(end.clone()), end.unwrap_or(Shows::Other(String::new())))
        }
    }
}
