//! Schedules as text, alone or in the findings of a result, and the findings that they show.

use crate::Failure;
use crate::json;
use anyorder_common::text::{escape, shown};
use anyorder_finding::{Finding, Outcome, Witness, WitnessPlace};
use anyorder_system::{JobWatch, Schedule, Stopped};
use std::fmt;
use std::path::Path;

/// The schedule options that hold the finding, and the step from which the schedule repeats.
const SHOWS: &str = "shows";
const REPEATS: &str = "repeats-from";

/// The option of a schedule that holds the schedule of the run that it is compared with.
const AGAINST: &str = "against";

/// A schedule, and the finding that it shows.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The schedule.
    pub schedule: Schedule,
    /// The id and title of the finding; `None` for a schedule alone.
    pub finding: Option<(String, String)>,
}

/// Reads the schedules of a text. For a result, reads those of all its findings, or of those whose
/// ids begin with `id`. `path` is named in failures only.
///
/// # Errors
///
/// Fails when the text is neither a schedule nor a result, when no finding has a schedule, and when
/// the job of this thread is stopped: see [`JobWatch`].
pub fn read_schedules(path: &Path, text: &str, id: Option<&str>) -> Result<Vec<Stored>, Failure> {
    let watch = JobWatch::current();
    let stopped =
        |stopped: Stopped| Failure::stopped(stopped.0, &format!("{} was not read", shown(path)));
    let value = json::parse(text).map_err(|error| match watch.check() {
        Err(reason) => stopped(reason),
        Ok(()) => Failure::at(path, escape(&format!("not a schedule or a result: {error}"))),
    })?;
    if value.get("findings").is_none() {
        let schedule = parse(path, text)?;
        return Ok(vec![Stored { schedule, finding: None }]);
    }
    let result: Outcome = serde_json::from_value(value).map_err(|error| {
        Failure::at(path, format!("not a result: {}", escape(&error.to_string())))
    })?;
    let mut stored = Vec::new();
    for finding in result.findings {
        watch.check().map_err(stopped)?;
        if id.is_some_and(|id| !finding.id.starts_with(id)) {
            continue;
        }
        let Some(Witness { format, place }) = finding.witness else { continue };
        if format != "schedule" {
            continue;
        }
        let schedule = match place {
            WitnessPlace::Inline(value) => parse(path, &value.to_string())?,
            // Paths inside inputs are never opened.
            WitnessPlace::Path(other) => {
                let what = format!("the schedule of {} is in another file", escape(&finding.id));
                let hint = format!("give that file: {}", escape(&other));
                return Err(Failure::at(path, what).with_hint(hint));
            }
        };
        stored.push(Stored { schedule, finding: Some((finding.id, finding.title)) });
    }
    if stored.is_empty() {
        let what =
            id.map_or_else(|| "a finding".to_owned(), |id| format!("finding `{}`", escape(id)));
        return Err(Failure::at(path, format!("{what} with a schedule was not found")));
    }
    Ok(stored)
}

/// Reads the schedule of a text. For a result, reads that of its first finding.
///
/// # Errors
///
/// Like [`read_schedules`].
pub fn first_schedule(path: &Path, text: &str, id: Option<&str>) -> Result<Stored, Failure> {
    // [`read_schedules`] returns at least one.
    Ok(read_schedules(path, text, id)?.swap_remove(0))
}

fn parse(path: &Path, text: &str) -> Result<Schedule, Failure> {
    Schedule::from_json(text).map_err(|error| Failure::at(path, escape(&error.to_string())))
}

/// Returns the schedule of a finding, if the finding contains it.
#[must_use]
pub fn schedule_of(finding: &Finding) -> Option<Schedule> {
    match &finding.witness.as_ref()?.place {
        WitnessPlace::Inline(value) => Schedule::from_json(&value.to_string()).ok(),
        WitnessPlace::Path(_) => None,
    }
}

/// Returns a schedule as the witness of a finding.
pub(crate) fn witness(schedule: &Schedule) -> Option<Witness> {
    let value = serde_json::to_value(schedule).ok()?;
    Some(Witness { format: "schedule".to_owned(), place: WitnessPlace::Inline(value) })
}

/// The finding that a schedule shows. The schedule stores it as text: `failure MESSAGE`, `invariant
/// NAME`, `deadlock`, `final`, `response NAME`, `livelock`, `update_conflict ATTRIBUTE COMPONENT
/// COMPONENT`, `difference [PART, ...]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shows {
    /// A step fails with this message.
    Failure(String),
    /// An invariant is broken at the end.
    Invariant(String),
    /// A deadlock at the end.
    Deadlock,
    /// A wrong end: all tasks are done, and the final condition does not hold.
    Final,
    /// A response never comes.
    Response(String),
    /// From the loop on, no run can end.
    Livelock,
    /// Two components update one attribute to different values, the second in the last step.
    Conflict(String, [String; 2]),
    /// These parts of the observation differ from those of another run.
    Difference(Vec<String>),
    /// A text that this version does not know.
    Other(String),
}

impl Shows {
    /// Reads the finding that a schedule shows, if it names one.
    pub(crate) fn of(schedule: &Schedule) -> Option<Shows> {
        schedule.options.get(SHOWS).map(|text| Shows::parse(text))
    }

    /// Returns the finding of a failing step of a task system. Such a system also fails at a broken
    /// invariant or an update conflict.
    pub(crate) fn of_failure(text: &str) -> Shows {
        match Shows::parse(text) {
            shows @ (Shows::Invariant(_) | Shows::Conflict(..)) => shows,
            _ => Shows::Failure(text.to_owned()),
        }
    }

    /// Reads the text of a schedule.
    pub(crate) fn parse(text: &str) -> Shows {
        let rest = |word: &str| text.strip_prefix(word).map(str::to_owned);
        let conflict = || {
            // The key of a map may have spaces in it.
            let mut words =
                text.strip_prefix("update_conflict ")?.rsplitn(3, ' ').map(str::to_owned);
            let (b, a, attribute) = (words.next()?, words.next()?, words.next()?);
            Some(Shows::Conflict(attribute, [a, b]))
        };
        let parts = |list: String| serde_json::from_str(&list).unwrap_or_default();
        match text {
            "deadlock" => Shows::Deadlock,
            "final" => Shows::Final,
            "livelock" => Shows::Livelock,
            _ => rest("failure ")
                .map(Shows::Failure)
                .or_else(|| rest("invariant ").map(Shows::Invariant))
                .or_else(|| rest("response ").map(Shows::Response))
                .or_else(|| rest("difference ").map(|list| Shows::Difference(parts(list))))
                .or_else(conflict)
                .unwrap_or_else(|| Shows::Other(text.to_owned())),
        }
    }

    /// Writes it into a schedule.
    pub(crate) fn set(&self, schedule: &mut Schedule) {
        schedule.options.insert(SHOWS.to_owned(), self.to_string());
    }
}

impl fmt::Display for Shows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shows::Failure(message) => write!(f, "failure {message}"),
            Shows::Invariant(name) => write!(f, "invariant {name}"),
            Shows::Deadlock => f.write_str("deadlock"),
            Shows::Final => f.write_str("final"),
            Shows::Livelock => f.write_str("livelock"),
            Shows::Response(name) => write!(f, "response {name}"),
            Shows::Conflict(attribute, [a, b]) => write!(f, "update_conflict {attribute} {a} {b}"),
            Shows::Difference(parts) => {
                let parts = serde_json::to_string(parts).map_err(|_| fmt::Error)?;
                write!(f, "difference {parts}")
            }
            Shows::Other(text) => f.write_str(text),
        }
    }
}

/// Returns the number of steps after which a schedule repeats for ever, if it does.
pub(crate) fn repeats_from(schedule: &Schedule) -> Option<usize> {
    schedule.options.get(REPEATS)?.parse().ok()
}

pub(crate) fn set_repeats_from(schedule: &mut Schedule, from: usize) {
    schedule.options.insert(REPEATS.to_owned(), from.to_string());
}

/// Returns the reference schedule of a schedule.
pub(crate) fn reference_of(schedule: &Schedule) -> Option<Schedule> {
    Schedule::from_json(schedule.options.get(AGAINST)?).ok()
}

pub(crate) fn set_reference(schedule: &mut Schedule, other: &Schedule) {
    schedule.options.insert(AGAINST.to_owned(), other.to_json());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_schedule_shows_is_read_as_it_is_written() {
        let text = str::to_owned;
        for shows in [
            Shows::Failure(text("assertion: x at m.any:3:5")),
            Shows::Invariant(text("safe")),
            Shows::Deadlock,
            Shows::Final,
            Shows::Livelock,
            Shows::Response(text("answered")),
            Shows::Conflict(text("lamps[\"a b\"]"), [text("night"), text("party")]),
            Shows::Difference(vec![text("dom/list"), text("a \"b\"")]),
            Shows::Other(text("something new")),
        ] {
            assert_eq!(Shows::parse(&shows.to_string()), shows);
        }
        assert_eq!(Shows::parse("update_conflict x"), Shows::Other(text("update_conflict x")));
        assert_eq!(Shows::parse("difference x"), Shows::Difference(Vec::new()));
    }
}
