//! Schedules of programs given as tasks, checked by running the program
//! (`docs/formats/schedule.md`).
//!
//! Nothing but another run of the program can check them. What holds is what the program did this
//! time.

use super::model::{certify_schedules, options, read, written_out};
use crate::explore::{TaskProgram, cannot_start};
use crate::failure::{Failure, Hint};
use crate::schedules::{Shows, reference_of};
use crate::verdict::{CertificateFault, CertificateVerdict, CertifiedFile};
use anyorder_common::numbers::plural;
use anyorder_system::{
    Control, EnabledDetail, Failure as RunFailure, JobWatch, Observation, ProgramIdentity,
    RunError, Schedule, TaskSystem,
};
use serde_json::Value;

/// Checks the certificates of a file about a program that can only be run again. `name` is what
/// results call the program: a finding that names another input is left out.
///
/// # Errors
///
/// Fails when the program cannot be started, and when it is lost in the middle of a run.
pub fn certify_program<P: TaskProgram>(
    program: &P,
    name: &str,
    text: &str,
    control: &Control<'_>,
) -> Result<CertifiedFile, Failure> {
    certify_schedules("program", name, text, &mut |value| {
        let _watched = JobWatch::of(control).enter();
        let checked = schedule(program, value, control);
        match (control.check(), checked) {
            (Err(stopped), _) => Ok(stopped.into()),
            (Ok(()), Ok(verdict)) => Ok(verdict),
            (Ok(()), Err(Refused::Verdict(verdict))) => Ok(verdict),
            (Ok(()), Err(Refused::Lost(error))) => Err(cannot_start(program.name(), error)),
        }
    })
}

/// Why a schedule is not followed to its end.
enum Refused {
    Verdict(CertificateVerdict),
    /// The program was lost.
    Lost(RunError),
}

impl From<CertificateVerdict> for Refused {
    fn from(verdict: CertificateVerdict) -> Refused {
        Refused::Verdict(verdict)
    }
}

impl From<RunError> for Refused {
    fn from(error: RunError) -> Refused {
        Refused::Lost(error)
    }
}

/// What a run of a schedule showed.
struct Ran {
    /// The failures, each with the number of its step, from 1.
    failures: Vec<(usize, RunFailure)>,
    observation: Observation,
}

fn schedule<P: TaskProgram>(
    program: &P,
    value: &Value,
    control: &Control<'_>,
) -> Result<CertificateVerdict, Refused> {
    let schedule = read(value).map_err(CertificateVerdict::unreadable)?;
    written_out(value)?;
    options(&schedule, read)?;
    let shows = Shows::of(&schedule);
    if let Some(other) = &shows
        && !matches!(other, Shows::Failure(_) | Shows::Difference(_))
    {
        let what = format!("`shows`: `{other}` is a claim about a model, and this is a program");
        return Err(CertificateVerdict::unreadable(what).into());
    }
    if schedule.options.contains_key(crate::model::GRANULARITY) {
        let what = format!("`{}`: a program has its own steps", crate::model::GRANULARITY);
        return Err(CertificateVerdict::unreadable(what).into());
    }
    let mut system = program.start(None)?;
    identity(system.program(), &schedule)?;
    let ran = followed(&mut system, &schedule, control)?;
    let steps = plural(schedule.choices.len() as u64, "step");
    let wrong = |reason: &str| Err(CertificateVerdict::fails("`shows`", reason).into());
    match shows {
        Some(Shows::Failure(wanted)) => {
            let failed = ran.failures.iter().find(|(_, failure)| wanted.is_in_some_folder(failure));
            let Some((step, failure)) = failed else { return wrong("no step of the run fails so") };
            let claim = format!("the program runs these {steps}, and step {step} fails: {failure}");
            Ok(CertificateVerdict::holds(claim))
        }
        Some(Shows::Difference(parts)) => {
            // [`options`] refuses a difference without the other run.
            let Some(against) = reference_of(&schedule) else { return wrong("no other run") };
            let other = followed(&mut system, &against, control)?;
            let found = other.observation.difference(&ran.observation);
            let differs = |part: &String| found.iter().any(|one| one.path.to_string() == *part);
            if parts.is_empty() || !parts.iter().all(differs) {
                return wrong("the runs do not differ so");
            }
            let parts: Vec<String> = parts.iter().map(|part| format!("`{part}`")).collect();
            let parts = parts.join(", ");
            Ok(CertificateVerdict::holds(format!(
                "the program runs these {steps}, and then: it ends in another state than the run in `against`, in {parts}"
            )))
        }
        _ => {
            let failed = ran.failures.first();
            let end = failed.map(|(step, failure)| format!("; step {step} fails: {failure}"));
            let end = end.unwrap_or_default();
            Ok(CertificateVerdict::holds(format!("the program can run these {steps}{end}")))
        }
    }
}

/// Refuses a schedule of another version of the program. Its name is no part of the claim.
fn identity(known: &ProgramIdentity, schedule: &Schedule) -> Result<(), CertificateVerdict> {
    let given = &schedule.program;
    let fault = if given.hash.is_some() && given.hash != known.hash {
        CertificateFault::at("`hash`", "made for another text of the program")
    } else if !given.version.is_empty() && given.version != known.version {
        CertificateFault::at("`version`", "the program has another version")
    } else {
        return Ok(());
    };
    Err(CertificateVerdict::Fails(fault.with_hint(Hint::RunOnProgram)))
}

/// Runs the program along a schedule. A program goes on after a step that fails.
fn followed<S: TaskSystem>(
    system: &mut S,
    schedule: &Schedule,
    control: &Control<'_>,
) -> Result<Ran, Refused> {
    system.reset()?;
    let detail = system.capabilities().enabled;
    let mut failures = Vec::new();
    for (number, choice) in (1..).zip(&schedule.choices) {
        control.check().map_err(CertificateVerdict::from)?;
        let place = format!("step {number}");
        let refused = |what: String| CertificateVerdict::fails(place.clone(), what);
        if detail != EnabledDetail::Unknown {
            let known = system.enabled()?.into_iter().find(|task| task.task == choice.task);
            match known {
                None if detail == EnabledDetail::Exact => {
                    return Err(refused(format!("`{}` cannot run", choice.task)).into());
                }
                Some(known) if !choice.handler.is_empty() && choice.handler != known.handler => {
                    let (is, wanted) = (&choice.handler, &known.handler);
                    return Err(refused(format!("`handler` is `{is}`, expected `{wanted}`")).into());
                }
                _ => {}
            }
        }
        match system.execute(choice) {
            Ok(ran) => {
                failures.extend(ran.failures.into_iter().map(|one| (number, one)));
            }
            Err(RunError::Diverged(_)) => {
                let what = match choice.alternative {
                    0 => format!("`{}` cannot run", choice.task),
                    other => format!("`{}` cannot run, or has no alternative {other}", choice.task),
                };
                return Err(refused(what).into());
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Ran { failures, observation: system.observe()? })
}
