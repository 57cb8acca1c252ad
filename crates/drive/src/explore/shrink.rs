//! Shrinks a schedule that shows a finding.

use super::program::{END, Repeats, TaskProgram, by_names, cannot_start};
use super::rerun::{Rerun, rerun};
use crate::schedules::{Shows, reference_of};
use crate::{CertificateVerdict, Failure};
use anyorder_common::text::escape;
use anyorder_explore::shrink::{self, Error, ShrinkOptions, Shrunk, Symptom};
use anyorder_system::{
    self as system, Choice, Control, JobWatch, Observation, PartPath, Progress, Schedule,
};
use std::any::Any;

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
/// use anyorder_drive::schedule_of;
/// use anyorder_drive::states::{SimulateOptions, simulate};
/// use anyorder_system::Control;
///
/// let text = "
///     model late
///     var script = false;
///     event idle {}
///     event loaded { script = true; }
///     event click { assert script, \"not loaded\"; }";
/// let (model, control) = (Model::compile("late.any", text)?, Control::default());
/// let options = SimulateOptions { runs: 3, ..SimulateOptions::default() };
/// let found = simulate(&model, &options, &control)?;
/// let schedule = schedule_of(&found.findings[0].finding).expect("a schedule");
/// let shrunk = shrink(&model, &schedule, &ShrinkOptions::default(), &control)?;
/// assert_eq!(shrunk.map(|small| small.schedule.choices.len()), Some(1));
/// # Ok::<(), anyorder_drive::Failure>(())
/// ```
pub fn shrink<P: TaskProgram>(
    program: &P,
    failing: &Schedule,
    options: &ShrinkOptions,
    control: &Control<'_>,
) -> Result<Option<Shrunk>, Failure> {
    let _watched = JobWatch::of(control).enter();
    let failing = &by_names(program, failing.clone());
    // The runs made here count, too.
    let (target, shows, runs) = match Shows::of(failing) {
        Some(Shows::Response(_)) => {
            let what = "only an infinite run shows a missing response";
            return Err(Failure::new(format!("{what}: it cannot be shrunk")));
        }
        Some(Shows::Livelock) => {
            let what = "a livelock is a verdict on all runs from a state, not on one run";
            return Err(Failure::new(format!("{what}: it cannot be shrunk")));
        }
        Some(shows) => {
            let target = Target::of(&shows, failing, program)?;
            let runs = u64::from(matches!(target, Target::Difference(..)));
            (target, shows, runs)
        }
        None => {
            let (target, shows) = observed(rerun_schedule(program, failing)?);
            (target, shows, 1)
        }
    };
    let executions_max = options.executions_max.saturating_sub(runs);
    let options = &ShrinkOptions { executions_max, ..options.clone() };
    let failure = |found: &system::Failure| match &target {
        Target::Failure(wanted) => is_same(wanted, found),
        Target::End(_) | Target::Difference(..) => false,
    };
    let end = |observation: &Observation| match &target {
        Target::Failure(_) => false,
        Target::End(word) => {
            let part = observation.part(&PartPath::new([END]));
            part.is_some_and(|part| part.text.as_deref() == Some(word.as_str()))
        }
        Target::Difference(against, parts) => {
            let found = against.difference(observation);
            parts.iter().all(|part| found.iter().any(|one| one.path.to_string() == *part))
        }
    };
    let by_end = !matches!(target, Target::Failure(_));
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
    let best = Best {
        inner: control.progress,
        take: &|choices| {
            let schedule = written(choices);
            match certified(&schedule, control) {
                None | Some(CertificateVerdict::Holds { .. }) => Some(schedule),
                Some(_) => None,
            }
        },
    };
    let watched = Control { progress: &best, ..control.clone() };
    match shrink::shrink(&make, failing, symptom, options, &watched) {
        Ok(mut shrunk) => {
            shrunk.executions += runs;
            shrunk.schedule = written(std::mem::take(&mut shrunk.schedule.choices));
            let verdict = match certified(&shrunk.schedule, control) {
                // The run was just made: to check it takes no longer.
                Some(CertificateVerdict::Stopped(_)) => {
                    certified(&shrunk.schedule, &Control::default())
                }
                verdict => verdict,
            };
            match verdict {
                None | Some(CertificateVerdict::Holds { .. }) => Ok(Some(shrunk)),
                Some(CertificateVerdict::Stopped(reason)) => {
                    Err(Failure::stopped(reason, "the smaller schedule was not checked"))
                }
                Some(CertificateVerdict::Fails(fault) | CertificateVerdict::Unreadable(fault)) => {
                    let reason = escape(&fault.reason);
                    Err(Failure::bug(&format!("the smaller schedule does not hold: {reason}")))
                }
            }
        }
        Err(Error::NotShown) => Ok(None),
        Err(Error::Stopped(reason)) => {
            Err(Failure::stopped(reason, "the schedule was not run to its end"))
        }
        Err(Error::Run(error)) => Err(cannot_start(program.name(), &error)),
    }
}

/// Passes on the best schedule so far, if it holds.
struct Best<'a> {
    inner: &'a dyn Progress,
    take: &'a (dyn Fn(Vec<Choice>) -> Option<Schedule> + Sync),
}

impl Progress for Best<'_> {
    fn report(&self, done: u64, total: Option<u64>) {
        self.inner.report(done, total);
    }

    fn phase(&self, name: &'static str) {
        self.inner.phase(name);
    }

    fn note(&self, text: &str) {
        self.inner.note(text);
    }

    fn found(&self, so_far: Box<dyn Any + Send>) {
        if let Ok(choices) = so_far.downcast::<Vec<Choice>>()
            && let Some(schedule) = (self.take)(*choices)
        {
            self.inner.found(Box::new(schedule));
        }
    }
}

/// The property that a smaller run must keep.
enum Target {
    /// A failure of the same kind and place as the failure with this text.
    Failure(String),
    /// The same wrong end.
    End(String),
    /// These parts differ from the outcome of another run.
    Difference(Observation, Vec<String>),
}

impl Target {
    fn of<P: TaskProgram>(
        shows: &Shows,
        failing: &Schedule,
        program: &P,
    ) -> Result<Target, Failure> {
        Ok(match shows {
            Shows::Difference(parts) => {
                let against = reference_of(failing).filter(|_| !parts.is_empty());
                let unknown =
                    || Failure::new("the schedule does not say which run it differs from");
                let against = against.ok_or_else(unknown)?;
                Target::Difference(rerun_schedule(program, &against)?.observation, parts.clone())
            }
            Shows::Deadlock | Shows::Final => Target::End(shows.to_string()),
            Shows::Failure(text) => Target::Failure(text.clone()),
            other => Target::Failure(other.to_string()),
        })
    }
}

fn rerun_schedule<P: TaskProgram>(program: &P, schedule: &Schedule) -> Result<Rerun, Failure> {
    let system = program.start(None);
    let made = system.and_then(|mut system| rerun(&mut system, &schedule.choices));
    made.map_err(|error| cannot_start(program.name(), &error))
}

/// Returns the finding of a run whose schedule names none.
fn observed(made: Rerun) -> (Target, Shows) {
    match made.failures.into_iter().next() {
        Some((_, failure)) => {
            let text = failure.to_string();
            (Target::Failure(text.clone()), Shows::of_failure(&text))
        }
        None => {
            let end = made.observation.part(&PartPath::new([END]));
            // If nothing is wrong, no run matches the empty end that this returns.
            let word = end.and_then(|part| part.text.clone()).unwrap_or_default();
            (Target::End(word.clone()), Shows::parse(&word))
        }
    }
}

/// Whether a failure has the kind and the place of the wanted text. Without a known place, its text
/// must be equal.
fn is_same(wanted: &str, found: &system::Failure) -> bool {
    match &found.site {
        Some(site) => {
            wanted.starts_with(found.kind.word()) && wanted.ends_with(&format!(" at {site}"))
        }
        None => found.to_string() == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::is_same;
    use anyorder_system::{Failure, FailureKind, FailureSite};

    #[test]
    fn a_failure_is_the_same_by_kind_and_place() {
        let site = FailureSite { file: "a b.any".to_owned(), line: 3, column: 14 };
        let (kind, message) = (FailureKind::Assertion, "y is 2".to_owned());
        let found = Failure { kind, message, site: Some(site) };
        assert!(is_same("assertion: y at 1 at a b.any:3:14", &found), "another value");
        assert!(!is_same("failure: y at a b.any:3:14", &found), "another kind");
        assert!(!is_same("assertion: y at a b.any:3:15", &found), "another place");
        let plain = Failure::from("out of paper");
        assert!(is_same("out of paper", &plain) && !is_same("out", &plain));
    }
}
