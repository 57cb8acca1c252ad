//! Schedules of models, checked by running the machine: `docs/formats/schedule.md`.

use super::fields::Fields;
use super::{Content, recognised, result, without_mark};
use crate::failure::{Failure, Hint};
use crate::json::parse_strictly;
use crate::model::{GRANULARITY, Model, replay_model};
use crate::schedules::{Shows, reference_of};
use crate::states::{ReplayVerdict, StateProgram as _};
use crate::verdict::{CertificateFault, CertificateKind, CertificateVerdict, CertifiedFile};
use anyorder_common::numbers::plural;
use anyorder_system::{
    Control, Failure as RunFailure, JobWatch, RunError, Schedule, TaskName, TaskSystem,
};
use anyorder_vm::MachineRun;
use serde_json::Value;
use std::sync::Arc;

/// Checks the certificates of a file about a model. `name` is the path of the model: a finding of a
/// result that names another input is left out.
///
/// # Errors
///
/// Fails when the model is not deterministic.
///
/// ```
/// use anyorder_drive::model::{Model, check_model};
/// use anyorder_drive::states::CheckOptions;
/// use anyorder_drive::{CertificateVerdict, JobControl, certify_model, schedule_of};
///
/// let text = "model late\nvar script = false;\nevent click { assert script; }";
/// let model = Model::compile("late.any", text)?;
/// let control = JobControl::default();
/// let found = check_model(&model, &CheckOptions::default(), &control)?.result;
/// let schedule = schedule_of(&found.findings[0].finding).expect("a schedule").to_json();
/// let checked = certify_model(&model, "late.any", &schedule, &control)?;
/// assert!(matches!(checked.certificates[0].verdict, CertificateVerdict::Holds { .. }));
/// # Ok::<(), anyorder_drive::Failure>(())
/// ```
pub fn certify_model(
    model: &Model,
    name: &str,
    text: &str,
    control: &Control<'_>,
) -> Result<CertifiedFile, Failure> {
    certify_schedules("model", name, text, &mut |value| schedule(model, value, control))
}

/// Checks the schedules of a file about an input that runs: a model or a program.
pub(super) fn certify_schedules(
    input: &str,
    name: &str,
    text: &str,
    check: &mut dyn FnMut(&Value) -> Result<CertificateVerdict, Failure>,
) -> Result<CertifiedFile, Failure> {
    let of_a_trace = || {
        let what = format!("a certificate about a trace, and the input is a {input}");
        CertificateVerdict::Unreadable(CertificateFault::new(what).with_hint(Hint::CertifyTrace))
    };
    let value = match recognised(without_mark(text)) {
        Ok(Content::Json(value)) => value,
        Ok(_) => return Ok(CertifiedFile::one(None, of_a_trace())),
        Err(what) => return Ok(CertifiedFile::one(None, CertificateVerdict::unreadable(what))),
    };
    let mut failed = None;
    let mut check = |value: &Value| {
        check(value).unwrap_or_else(|failure| {
            failed = Some(failure);
            CertificateVerdict::unreadable(format!("the {input} cannot be run"))
        })
    };
    let file = if value.get("findings").is_some() {
        result::check_all(&value, name, |format, inline| match format {
            "schedule" => (Some(CertificateKind::Schedule), check(inline)),
            "reordering" => (Some(CertificateKind::Reordering), of_a_trace()),
            _ => (None, CertificateVerdict::unreadable("a certificate of an unknown format")),
        })
    } else if value.get("schedule").is_some() {
        CertifiedFile::one(Some(CertificateKind::Schedule), check(&value))
    } else if value.get("reordering").is_some() {
        CertifiedFile::one(Some(CertificateKind::Reordering), of_a_trace())
    } else {
        let what = "an object that is no schedule and no result";
        CertifiedFile::one(None, CertificateVerdict::unreadable(what))
    };
    failed.map_or(Ok(file), Err)
}

/// Checks a schedule of a model.
pub(crate) fn certify_schedule(
    model: &Model,
    value: &Value,
    control: &Control<'_>,
) -> CertificateVerdict {
    schedule(model, value, control)
        .unwrap_or_else(|failure| CertificateVerdict::unreadable(failure.to_string()))
}

fn schedule(
    model: &Model,
    value: &Value,
    control: &Control<'_>,
) -> Result<CertificateVerdict, Failure> {
    let _watched = JobWatch::of(control).enter();
    let checked = schedule_watched(model, value, control);
    // A run that was stopped looks like one that cannot go on.
    Ok(match control.check() {
        Err(stopped) => stopped.into(),
        Ok(()) => checked?,
    })
}

fn schedule_watched(
    model: &Model,
    value: &Value,
    control: &Control<'_>,
) -> Result<CertificateVerdict, Failure> {
    let schedule = match read_of_model(value) {
        Ok(schedule) => schedule,
        Err(what) => return Ok(CertificateVerdict::unreadable(what)),
    };
    if let Err(verdict) = written_out(value).and_then(|()| match schedule.options.get("against") {
        Some(other) => parse_strictly(other).map_or(Ok(()), |value| written_out(&value)),
        None => Ok(()),
    }) {
        return Ok(verdict);
    }
    if let Err(verdict) =
        identity(model, &schedule).and_then(|()| options(&schedule, read_of_model))
    {
        return Ok(verdict);
    }
    let other = model.with_steps_of(&schedule)?;
    let model = other.as_ref().unwrap_or(model);
    let failure = match followed(model, &schedule, control) {
        Ok(failure) => failure,
        Err(verdict) => return Ok(verdict),
    };
    let steps = plural(schedule.choices.len() as u64, "step");
    let shows = Shows::of(&schedule);
    if let Some(verdict) = by_failure(shows.as_ref(), failure, &steps) {
        return Ok(verdict);
    }
    by_end(model, &schedule, shows, (&steps, control))
}

/// Decides a claim by the failure of the run; `None` where its end decides. `steps` counts them.
fn by_failure(
    shows: Option<&Shows>,
    failure: Option<anyorder_system::Failure>,
    steps: &str,
) -> Option<CertificateVerdict> {
    let wrong = |reason: String| Some(CertificateVerdict::fails("`shows`", reason));
    match (shows, failure) {
        (None, failure) => {
            let end = failure.map(|failure| format!("; the last one fails: {failure}"));
            let end = end.unwrap_or_default();
            Some(CertificateVerdict::holds(format!("the model can run these {steps}{end}")))
        }
        (Some(Shows::Failure(wanted)), Some(failure)) => {
            if wanted.is_in_some_folder(&failure) {
                let claim = format!("the model runs these {steps}, and fails: {failure}");
                return Some(CertificateVerdict::holds(claim));
            }
            wrong(format!("the run fails with another failure: {failure}"))
        }
        (Some(Shows::Failure(_)), None) => wrong("no step of the run fails".to_owned()),
        // The end of a run that fails can differ, too.
        (Some(Shows::Difference(_)), _) | (Some(_), None) => None,
        (Some(_), Some(failure)) => wrong(format!("a step fails: {failure}")),
    }
}

/// Decides a claim on the end of the run.
fn by_end(
    model: &Model,
    schedule: &Schedule,
    shows: Option<Shows>,
    (steps, control): (&str, &Control<'_>),
) -> Result<CertificateVerdict, Failure> {
    if let Some(against) = reference_of(schedule)
        && let Err(verdict) = followed(model, &against, control)
    {
        return Ok(verdict);
    }
    let replayed = replay_model(model, schedule)?;
    if replayed.verdict != ReplayVerdict::Reproduced {
        return Ok(CertificateVerdict::fails("`shows`", "the run does not end so"));
    }
    let end = match shows {
        Some(Shows::Difference(parts)) => {
            let parts: Vec<String> = parts.iter().map(|part| format!("`{part}`")).collect();
            format!("it ends in another state than the run in `against`, in {}", parts.join(", "))
        }
        _ => replayed.run.end,
    };
    Ok(CertificateVerdict::holds(format!("the model runs these {steps}, and then: {end}")))
}

/// Reads a schedule of a model strictly.
fn read_of_model(value: &Value) -> Result<Schedule, String> {
    let schedule = read(value)?;
    let mut choices = value.get("choices").and_then(Value::as_array).into_iter().flatten();
    match choices.position(|choice| choice.get("inject").is_some()) {
        None => Ok(schedule),
        Some(at) => Err(format!("step {}: a model takes no injected values", at + 1)),
    }
}

/// Reads a schedule strictly.
pub(super) fn read(value: &Value) -> Result<Schedule, String> {
    let mut fields = Fields::of(value, "the schedule")?;
    if fields.number("schedule")? != u64::from(Schedule::VERSION) {
        return Err(format!("expected version {} as `schedule`", Schedule::VERSION));
    }
    let program = fields.get("program").ok_or("the schedule: expected an object as `program`")?;
    let mut program = Fields::of(program, "`program`")?;
    program.text("name")?;
    program.text_if("version")?;
    program.text_if("hash")?;
    program.end()?;
    if let Some(options) = fields.get("options") {
        let mut options = Fields::of(options, "`options`")?;
        options.text_if("shows")?;
        options.text_if("repeats-from")?;
        options.text_if("against")?;
        options.text_if(GRANULARITY)?;
        options.end()?;
    }
    for (number, choice) in (1..).zip(fields.list("choices")?) {
        let mut choice = Fields::of(choice, format!("step {number}"))?;
        choice.text("task")?;
        choice.text_if("handler")?;
        choice.number_if("alternative")?;
        // [`Schedule::from_json`] reads the injected values.
        choice.get("inject");
        choice.end()?;
    }
    fields.end()?;
    Schedule::from_json(&value.to_string()).map_err(|error| error.to_string())
}

/// Refuses names that are not written as certificates write them: a handler that is there has a
/// name, and a task has one form.
pub(super) fn written_out(value: &Value) -> Result<(), CertificateVerdict> {
    let choices = value.get("choices").and_then(Value::as_array);
    for (number, choice) in (1..).zip(choices.into_iter().flatten()) {
        let text = |key: &str| choice.get(key).and_then(Value::as_str);
        if text("handler") == Some("") {
            let what = "`handler` is empty, expected its name, or no `handler`";
            return Err(CertificateVerdict::fails(format!("step {number}"), what));
        }
        let task = text("task").unwrap_or_default();
        let form = task.parse::<TaskName>().map(|name| name.to_string());
        if form.as_deref() != Ok(task) {
            let form = form.unwrap_or_default();
            let what = format!("step {number}: `task` is `{task}`, expected `{form}`");
            return Err(CertificateVerdict::unreadable(what));
        }
    }
    Ok(())
}

/// Refuses a schedule of another version of the model. Its name, a path, is no part of the claim.
fn identity(model: &Model, schedule: &Schedule) -> Result<(), CertificateVerdict> {
    let (known, given) = (model.program(), &schedule.program);
    if given.hash.is_some() && given.hash != known.hash {
        let what = "made for another text of the model";
        return Err(CertificateVerdict::Fails(
            CertificateFault::at("`hash`", what).with_hint(Hint::RunOnModel),
        ));
    }
    if !given.version.is_empty() && given.version != known.version {
        return Err(CertificateVerdict::fails("`version`", "the model has another version"));
    }
    Ok(())
}

/// Refuses options that the claim does not use, and claims that are not known.
pub(super) fn options(
    schedule: &Schedule,
    read: fn(&Value) -> Result<Schedule, String>,
) -> Result<(), CertificateVerdict> {
    let shows = Shows::of(schedule);
    let has = |key: &str| schedule.options.contains_key(key);
    if let Some(Shows::Other(text)) = &shows {
        return Err(CertificateVerdict::unreadable(format!("`shows`: unknown claim `{text}`")));
    }
    if let Some(granularity) = schedule.options.get(GRANULARITY)
        && granularity != "access"
    {
        let what = format!("`{GRANULARITY}`: expected `access`, not `{granularity}`");
        return Err(CertificateVerdict::unreadable(what));
    }
    // The text is the one form in which the claim is written.
    if let (Some(shows), Some(text)) = (&shows, schedule.options.get("shows"))
        && shows.to_string() != *text
    {
        return Err(CertificateVerdict::unreadable(format!("`shows`: unknown claim `{text}`")));
    }
    let loops = matches!(shows, Some(Shows::Response(_) | Shows::Livelock));
    if has("repeats-from") && !loops {
        let what = "only a run that shows a missing response or a livelock repeats";
        return Err(CertificateVerdict::fails("`repeats-from`", what));
    }
    if let Some(from) = schedule.options.get("repeats-from") {
        let steps = schedule.choices.len();
        if !from.parse::<usize>().is_ok_and(|at| at <= steps && at.to_string() == *from) {
            let what = format!("expected a number from 0 to {steps}");
            return Err(CertificateVerdict::fails("`repeats-from`", what));
        }
    }
    if shows == Some(Shows::Livelock) && !has("repeats-from") {
        let what = "`repeats-from`: expected the step from which the livelock repeats";
        return Err(CertificateVerdict::unreadable(what));
    }
    match (has("against"), matches!(shows, Some(Shows::Difference(_)))) {
        (true, false) => {
            let what = "only a run that shows a difference is compared with another";
            Err(CertificateVerdict::fails("`against`", what))
        }
        (false, true) => Err(CertificateVerdict::unreadable("`against`: expected the other run")),
        (true, true) => {
            let text = schedule.options.get("against").map_or("", String::as_str);
            let other = parse_strictly(text).map_err(|error| error.to_string());
            let other = other.and_then(|value| read(&value));
            let other = other
                .map_err(|what| CertificateVerdict::unreadable(format!("`against`: {what}")))?;
            match other.options.keys().all(|key| key == "shows") {
                true => Ok(()),
                false => Err(CertificateVerdict::unreadable("`against`: expected a plain run")),
            }
        }
        (false, false) => Ok(()),
    }
}

/// Runs the machine along a schedule. Returns the failure of the last step, if it fails.
fn followed(
    model: &Model,
    schedule: &Schedule,
    control: &Control<'_>,
) -> Result<Option<RunFailure>, CertificateVerdict> {
    let mut run = MachineRun::new(Arc::clone(&model.machine));
    let mut failure = None;
    for (number, choice) in (1..).zip(&schedule.choices) {
        control.check()?;
        let place = format!("step {number}");
        if let Some(failure) = failure {
            let what = format!("the step before it fails, so nothing can run: {failure}");
            return Err(CertificateVerdict::fails(place, what));
        }
        let enabled = run.enabled().unwrap_or_default();
        let known = enabled.into_iter().find(|task| task.task == choice.task);
        let Some(known) = known else {
            let what = format!("`{}` cannot run", choice.task);
            return Err(CertificateVerdict::fails(place, what));
        };
        if !choice.handler.is_empty() && choice.handler != known.handler {
            let what = format!("`handler` is `{}`, expected `{}`", choice.handler, known.handler);
            return Err(CertificateVerdict::fails(place, what));
        }
        let ran = match run.execute(choice) {
            Ok(ran) => ran,
            Err(RunError::Diverged(_)) => {
                let what = format!("`{}` has no alternative {}", choice.task, choice.alternative);
                return Err(CertificateVerdict::fails(place, what));
            }
            Err(error) => return Err(CertificateVerdict::fails(place, error.to_string())),
        };
        failure = ran.failures.into_iter().next();
    }
    Ok(failure)
}
