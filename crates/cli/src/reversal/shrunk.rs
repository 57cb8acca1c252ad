//! Shrinks a schedule that shows something wrong.

use super::checked::{Checked, END, INVARIANT, Repeats, UPDATE};
use super::replay::{AGAINST, DIFFERENCE, failing_word};
use super::target::{Target, WithSystem, cannot_start, with_system};
use super::told::tell;
use crate::failure::Failure;
use crate::model::{SHOWS, alike, place_in};
use anyorder_common::text::escape;
use anyorder_common::text::shown;
use anyorder_explore::shrink::{self, Error, Options, Shrunk, Symptom};
use anyorder_system::{Control, Observation, PartPath, RunError, Schedule, TaskSystem};
use std::path::Path;

/// Shrinks a schedule; `None` where it does not show what it says when it runs.
pub(crate) fn shrunk(
    target: Target<'_>,
    failing: &Schedule,
    options: &Options,
    control: &Control<'_>,
) -> Result<Option<Shrunk>, Failure> {
    let shows = failing.options.get(SHOWS).map(String::as_str);
    if shows.is_some_and(|shows| shows.starts_with("response ")) {
        let what = "a response that never comes is shown by a run without end";
        return Err(Failure::new(format!("{what}: it cannot be shrunk")));
    }
    let (meant, known) = match shows {
        Some(shows) => meant(shows, failing, target)?,
        None => observed(target, failing)?,
    };
    let failure = |text: &str| match &meant {
        Meant::Failure(wanted) => is_same(wanted, text),
        Meant::End(_) | Meant::Difference(..) => false,
    };
    let end = |observation: &Observation| match &meant {
        Meant::Failure(_) => false,
        Meant::End(word) => {
            let part = observation.part(&PartPath::new([END]));
            part.is_some_and(|part| part.text.as_deref() == Some(word.as_str()))
        }
        Meant::Difference(against, parts) => {
            let found = against.difference(observation);
            parts.iter().all(|part| found.iter().any(|one| one.path.to_string() == *part))
        }
    };
    let by_end = !matches!(meant, Meant::Failure(_));
    let symptom = Symptom { failure: &failure, end: by_end.then_some(&end) };
    let events = failing.choices.iter().filter(|choice| choice.task.creator().is_none());
    let repeats = events.map(|choice| choice.task.segment().ordinal).max().unwrap_or(1).max(1);
    let result = match target {
        Target::Model(model, _) => {
            let make = || -> Result<Checked, RunError> {
                Ok(Checked::new(&model.machine, &model.program, Some(Repeats::of(repeats))))
            };
            shrink::shrink(&make, failing, symptom, options, control)
        }
        Target::Program(factory, _) => shrink::shrink(factory, failing, symptom, options, control),
    };
    match result {
        Ok(mut shrunk) => {
            let options = &mut shrunk.schedule.options;
            options.insert(SHOWS.to_owned(), known);
            Ok(Some(shrunk))
        }
        Err(Error::NotShown) => Ok(None),
        Err(Error::Run(error)) => Err(cannot_start(target.name(), &error)),
        Err(error) => {
            let error = escape(&error.to_string()).into_owned();
            Err(Failure::new(format!("{}: {error}", shown(Path::new(target.name())))))
        }
    }
}

/// What a smaller run must show.
enum Meant {
    /// A failure like this.
    Failure(String),
    /// This wrong end.
    End(String),
    /// That these parts differ from what another run amounts to.
    Difference(Observation, Vec<String>),
}

/// Reads off a schedule what it shows.
fn meant(shows: &str, failing: &Schedule, target: Target<'_>) -> Result<(Meant, String), Failure> {
    let known = shows.to_owned();
    if let Some(parts) = shows.strip_prefix(DIFFERENCE) {
        let parts: Vec<String> = serde_json::from_str(parts).unwrap_or_default();
        let against = failing.options.get(AGAINST);
        let against = against.and_then(|text| Schedule::from_json(text).ok());
        let Some(against) = against.filter(|_| !parts.is_empty()) else {
            return Err(Failure::new("the schedule does not say which run it differs from"));
        };
        let other = with_system(target, Observe { schedule: &against })?;
        let other = other.map_err(|error| cannot_start(target.name(), &error))?;
        return Ok((Meant::Difference(other, parts), known));
    }
    let meant = match shows {
        "deadlock" | "final" => Meant::End(shows.to_owned()),
        shows => Meant::Failure(failing_word(failing).unwrap_or(shows).to_owned()),
    };
    Ok((meant, known))
}

/// Runs a schedule that does not say what it shows, to see.
fn observed(target: Target<'_>, failing: &Schedule) -> Result<(Meant, String), Failure> {
    let told = with_system(target, Look { schedule: failing })?;
    let (failure, observation) = told.map_err(|error| cannot_start(target.name(), &error))?;
    if let Some(failure) = failure {
        let says = if failure.starts_with(INVARIANT) || failure.starts_with(UPDATE) {
            failure.clone()
        } else {
            format!("failure {failure}")
        };
        return Ok((Meant::Failure(failure), says));
    }
    let end = observation.part(&PartPath::new([END])).and_then(|part| part.text.clone());
    // Nothing is wrong: what is asked for then is a run that fails with nothing, which there is not.
    let word = end.unwrap_or_default();
    Ok((Meant::End(word.clone()), word))
}

struct Observe<'a> {
    schedule: &'a Schedule,
}

impl WithSystem for Observe<'_> {
    type Result = Result<Observation, RunError>;

    fn run<S: TaskSystem>(self, mut system: S) -> Self::Result {
        Ok(tell(&mut system, &self.schedule.choices)?.observation)
    }
}

struct Look<'a> {
    schedule: &'a Schedule,
}

impl WithSystem for Look<'_> {
    type Result = Result<(Option<String>, Observation), RunError>;

    fn run<S: TaskSystem>(self, mut system: S) -> Self::Result {
        let told = tell(&mut system, &self.schedule.choices)?;
        let failure = told.failures.into_iter().next().map(|(_, text)| text);
        Ok((failure, told.observation))
    }
}

/// Whether two failures are of one kind at one place. Without a place they are the same text.
fn is_same(a: &str, b: &str) -> bool {
    match (place_in(a), place_in(b)) {
        (Some((_, place)), Some((_, other))) => place == other && alike(a, b),
        _ => a == b,
    }
}
