//! Schedules as text, alone or in the findings of a result, and the findings that they show.

use crate::failure::{Failure, Missing, Unusable};
use crate::json;
use anyorder_finding::{Finding, Outcome, Witness, WitnessPlace};
use anyorder_system::{JobWatch, Schedule, Stopped};
use std::path::Path;

mod claimed;
mod shows;

pub use claimed::ClaimedFailure;
pub use shows::Shows;

/// The schedule option that holds the step from which the schedule repeats.
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
    let stopped = |stopped: Stopped| Failure::stopped(stopped.0, Missing::Input(path.to_owned()));
    let value = json::parse(text).map_err(|error| match watch.check() {
        Err(reason) => stopped(reason),
        Ok(()) => Failure::input(path, Unusable::NotASchedule(error)),
    })?;
    if value.get("findings").is_none() {
        let schedule = parse(path, text)?;
        return Ok(vec![Stored { schedule, finding: None }]);
    }
    let result: Outcome = serde_json::from_value(value)
        .map_err(|error| Failure::input(path, Unusable::NotAResult(error)))?;
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
                let why = Unusable::ScheduleElsewhere { finding: finding.id, path: other };
                return Err(Failure::input(path, why));
            }
        };
        stored.push(Stored { schedule, finding: Some((finding.id, finding.title)) });
    }
    if stored.is_empty() {
        let finding = id.map(str::to_owned);
        return Err(Failure::input(path, Unusable::NoSchedule { finding }));
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
    Schedule::from_json(text).map_err(|error| Failure::input(path, Unusable::Schedule(error)))
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
