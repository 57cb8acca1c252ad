//! Writes the schedules of findings, and builds the commands that replay them.

use crate::args::OutputArgs;
use crate::failure::{Failure, warn};
use crate::guard::is_late;
use crate::output::to_folder;
use anyorder_common::text::{escape_json, quote};
use anyorder_finding::{Finding, Witness, WitnessPlace};
use std::path::Path;

/// How a finding can be replayed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Replay<'a> {
    /// The schedule is in this folder.
    Folder(&'a Path),
    /// The JSON result is in this file.
    Result(&'a Path),
    /// This command prints the result as JSON.
    Command(&'a str),
}

impl<'a> Replay<'a> {
    /// Returns the first available source: the folder of schedules, that of the report, the JSON
    /// result, or the command.
    pub(crate) fn of(
        schedules: Option<&'a Path>,
        out: &'a OutputArgs,
        command: &'a str,
    ) -> Replay<'a> {
        match (schedules.or(out.report.as_deref()), out.json_file()) {
            (Some(folder), _) => Replay::Folder(folder),
            (None, Some(file)) => Replay::Result(file),
            (None, None) => Replay::Command(command),
        }
    }

    /// Returns the command that replays the finding with an id on `subject`, which is quoted: a
    /// model, a program or a trace.
    pub(crate) fn command(self, subject: &str, id: &str) -> String {
        match self {
            Replay::Folder(folder) => {
                let path = folder.join(file_name(id));
                format!("anyorder replay {subject} {}", quote(&path.to_string_lossy()))
            }
            Replay::Result(file) => {
                let file = quote(&file.to_string_lossy());
                format!("anyorder replay {subject} {file} --finding {id}")
            }
            Replay::Command(command) => {
                format!("{command} | anyorder replay {subject} - --finding {id}")
            }
        }
    }
}

/// Sets the commands that replay findings: on the subject, words of a command, if there is one,
/// else on a model. The findings must have their ids.
pub(crate) fn name_replays(findings: &mut [Finding], replay: Replay<'_>, subject: Option<&str>) {
    for finding in findings {
        let Some(schedule) = schedule_in(finding) else { continue };
        let subject = subject.map_or_else(|| model_of(schedule), str::to_owned);
        finding.replay = Some(replay.command(&subject, &finding.id));
    }
}

/// Writes the schedules of findings, if they have a folder. `complete` adds to each what only its
/// own file has.
pub(crate) fn write_schedules(
    findings: &[Finding],
    replay: Replay<'_>,
    complete: &dyn Fn(&mut serde_json::Value),
) -> Result<(), Failure> {
    let Replay::Folder(folder) = replay else { return Ok(()) };
    to_folder(folder, |out| {
        for finding in findings {
            if is_late() {
                warn("not all schedules were written, to end in time");
                break;
            }
            if let Some(schedule) = schedule_in(finding) {
                let mut schedule = schedule.clone();
                complete(&mut schedule);
                let text = schedule.to_string();
                out.file(&file_name(&finding.id), &mut |file| {
                    writeln!(file, "{}", escape_json(&text))
                })?;
            }
        }
        Ok(())
    })
}

fn schedule_in(finding: &Finding) -> Option<&serde_json::Value> {
    match &finding.witness {
        Some(Witness { format, place: WitnessPlace::Inline(value) }) if format == "schedule" => {
            Some(value)
        }
        _ => None,
    }
}

/// Returns the name of the file of a finding. An id is 16 hexadecimal digits, so the name contains
/// no text of the input.
pub(crate) fn file_name(id: &str) -> String {
    format!("{id}.json")
}

/// Returns the model of a schedule, for a command; a placeholder if the model was read from a pipe.
fn model_of(schedule: &serde_json::Value) -> String {
    let name = schedule.pointer("/program/name").and_then(serde_json::Value::as_str);
    name.filter(|name| *name != "-").map_or_else(|| "MODEL".to_owned(), quote)
}
