//! Schedules in files: as they are, or in the findings of a result.

use crate::failure::Failure;
use anyorder_common::text::escape;
use anyorder_common::text::shown;
use anyorder_finding::{Outcome, Witness, WitnessPlace};
use anyorder_system::Schedule;
use std::path::Path;

/// The most bytes of a file that is read as a schedule.
pub(crate) const SCHEDULE_BYTES_MAX: u64 = 1 << 30;

/// A schedule, and the finding that it shows.
pub(crate) struct Stored {
    pub(crate) schedule: Schedule,
    /// The id and title of the finding; `None` for a schedule by itself.
    pub(crate) finding: Option<(String, String)>,
}

/// Reads the schedules of a text; of a result those of all its findings, or of the one with the id given.
pub(crate) fn schedules_of(
    path: &Path,
    text: &str,
    id: Option<&str>,
) -> Result<Vec<Stored>, Failure> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| {
        let message = format!("{}: not a schedule or a result: {error}", shown(path));
        Failure::new(escape(&message).into_owned())
    })?;
    if value.get("findings").is_none() {
        let schedule = parse(path, text)?;
        return Ok(vec![Stored { schedule, finding: None }]);
    }
    let result: Outcome = serde_json::from_value(value).map_err(|error| {
        Failure::new(format!("{}: not a result: {}", shown(path), escape(&error.to_string())))
    })?;
    let mut stored = Vec::new();
    for finding in result.findings {
        if id.is_some_and(|id| !finding.id.starts_with(id)) {
            continue;
        }
        let Some(Witness { format, place }) = finding.witness else { continue };
        if format != "schedule" {
            continue;
        }
        let schedule = match place {
            WitnessPlace::Inline(value) => parse(path, &value.to_string())?,
            // No path that stands in an input is opened.
            WitnessPlace::Path(beside) => {
                let what = format!("the schedule of {} is in another file", escape(&finding.id));
                let hint = format!("give that file: {}", escape(&beside));
                return Err(Failure::new(format!("{}: {what}", shown(path))).with_hint(hint));
            }
        };
        stored.push(Stored { schedule, finding: Some((finding.id, finding.title)) });
    }
    if stored.is_empty() {
        let what =
            id.map_or_else(|| "a finding".to_owned(), |id| format!("finding `{}`", escape(id)));
        return Err(Failure::new(format!("{}: {what} with a schedule is not there", shown(path))));
    }
    Ok(stored)
}

fn parse(path: &Path, text: &str) -> Result<Schedule, Failure> {
    Schedule::from_json(text)
        .map_err(|error| Failure::new(format!("{}: {}", shown(path), escape(&error.to_string()))))
}
