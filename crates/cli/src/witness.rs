//! Where the schedules of findings go, and the commands that replay them.

use crate::args::OutputArgs;
use crate::failure::Failure;
use crate::output::to_file;
use anyorder_common::text::quote;
use anyorder_finding::{Finding, Witness, WitnessPlace};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// How a finding can be replayed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Replay<'a> {
    /// Its schedule is written into this folder.
    Folder(&'a Path),
    /// The result, as JSON, is written to this file.
    Result(&'a Path),
    /// By this command, which prints the result as JSON.
    Command(&'a str),
}

impl<'a> Replay<'a> {
    /// Returns the first that there is: the folder of schedules, or else of the report; the result;
    /// the command.
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

    /// Returns the command that replays the finding with an id on `subject`, quoted: a model, a
    /// program, a trace.
    pub(crate) fn command(self, subject: &str, id: &str) -> String {
        match self {
            Replay::Folder(folder) => {
                let path = folder.join(format!("{id}.json"));
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

/// Writes the schedules of findings, and sets the commands that replay them: on a program that a
/// command starts, where there is one, else on a model. Ids must have been set.
pub(crate) fn place(
    findings: &mut [Finding],
    replay: Replay<'_>,
    program: Option<&str>,
) -> Result<(), Failure> {
    for finding in findings {
        let Some(Witness { format, place: WitnessPlace::Inline(value) }) = &finding.witness else {
            continue;
        };
        if format != "schedule" {
            continue;
        }
        let id = &finding.id;
        let model = program
            .map_or_else(|| model_of(value), |program| format!("--program {}", quote(program)));
        finding.replay = Some(replay.command(&model, id));
        if let Replay::Folder(folder) = replay {
            write_in(folder, id, &|out| writeln!(out, "{value}"))?;
        }
    }
    Ok(())
}

/// Writes the file of a finding into a folder. An id is 16 hexadecimal digits: nothing of the input
/// is in the path.
pub(crate) fn write_in(
    folder: &Path,
    id: &str,
    write: &dyn Fn(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, &error))?;
    let path = folder.join(format!("{id}.json"));
    to_file(&path, |out| write(out).map_err(|error| Failure::writing(&path, &error)))
}

/// Returns the model that a schedule of ours was made for, for a command; a placeholder where it
/// was read from a pipe.
fn model_of(schedule: &serde_json::Value) -> String {
    let name = schedule.pointer("/program/name").and_then(serde_json::Value::as_str);
    name.filter(|name| *name != "-").map_or_else(|| "MODEL".to_owned(), quote)
}
