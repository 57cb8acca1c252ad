//! Schedules in files: as they are, or in the findings of a result.

use crate::escape::escape;
use crate::failure::Failure;
use crate::output::shown;
use anyorder_finding::{Outcome, Witness, WitnessPlace};
use anyorder_system::Schedule;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes of a file that is read as a schedule.
const BYTES_MAX: u64 = 1 << 30;

/// A schedule, and the finding that it shows.
pub(crate) struct Stored {
    pub(crate) schedule: Schedule,
    /// The id and title of the finding; `None` for a schedule by itself.
    pub(crate) finding: Option<(String, String)>,
}

/// Reads the schedules of a file; of a result those of all its findings, or of the one with the id given.
pub(crate) fn read_schedules(path: &Path, id: Option<&str>) -> Result<Vec<Stored>, Failure> {
    let text = read_text(path)?;
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| {
        let message = format!("{}: not a schedule or a result: {error}", shown(path));
        Failure::new(escape(&message).into_owned())
    })?;
    if value.get("findings").is_none() {
        let schedule = parse(path, &text)?;
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

fn read_text(path: &Path) -> Result<String, Failure> {
    let failed = |error: &io::Error| Failure::reading(path, error);
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().take(BYTES_MAX).read_to_end(&mut bytes).map_err(|e| failed(&e))?;
    } else {
        let file = File::open(path).map_err(|e| failed(&e))?;
        file.take(BYTES_MAX).read_to_end(&mut bytes).map_err(|e| failed(&e))?;
    }
    String::from_utf8(bytes)
        .map_err(|_| Failure::new(format!("{}: not UTF-8, expected JSON", shown(path))))
}

fn parse(path: &Path, text: &str) -> Result<Schedule, Failure> {
    Schedule::from_json(text)
        .map_err(|error| Failure::new(format!("{}: {}", shown(path), escape(&error.to_string()))))
}
