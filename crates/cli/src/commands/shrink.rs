//! `anyorder shrink`: a smaller run that shows the same.

use super::together::{self, Given, warn_if_changed};
use crate::args::{Global, ShrinkArgs};
use crate::commands::explore::recording;
use crate::failure::{Failure, note, warn};
use crate::model::{self, SCHEDULE_BYTES_MAX, Stored, schedules_of};
use crate::output::{to_file, to_stdout};
use crate::reversal::{Target, command_of, pipe_options, shrunk};
use crate::watch::Watch;
use anyorder_common::numbers::plural;
use anyorder_common::text::shown;
use anyorder_explore::shrink::{Options, Shrunk};
use anyorder_finding::exit;
use anyorder_pipe::PipeFactory;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Shrinks a schedule, and writes what is left.
pub(crate) fn run(args: &ShrinkArgs, global: &Global) -> Result<ExitCode, Failure> {
    let watch = Watch::start(global, &args.limits)?;
    if let Some(command) = &args.program {
        let factory = PipeFactory { command: command_of(command)?, options: pipe_options() };
        let [path] = &args.inputs[..] else {
            return Err(Failure::new("with `--program`, one schedule or result was expected"));
        };
        let text = crate::input::begin(path)?.text(path, SCHEDULE_BYTES_MAX)?;
        let stored = first(path, &text, args)?;
        return one(Target::Program(&factory, command), path, &stored, args, global, &watch);
    }
    let given = together::read(&args.inputs, global)?;
    let [(path, text)] = &given.others[..] else {
        let failure = Failure::new("a model and one schedule or result were expected");
        return Err(failure.with_hint("`anyorder check MODEL --schedules DIR` writes schedules"));
    };
    let stored = first(path, text, args)?;
    let Some((model_path, model)) = given.model_of(&stored.schedule) else {
        return Err(Given::no_model(path, &stored.schedule));
    };
    warn_if_changed(model_path, model, &stored.schedule, global);
    let name = model_path.to_string_lossy();
    one(Target::Model(model, &name), path, &stored, args, global, &watch)
}

fn first(path: &Path, text: &str, args: &ShrinkArgs) -> Result<Stored, Failure> {
    let mut all = schedules_of(path, text, args.finding.as_deref())?;
    if all.is_empty() {
        return Err(Failure::new(format!("{}: there is no schedule", shown(path))));
    }
    Ok(all.swap_remove(0))
}

fn one(
    target: Target<'_>,
    path: &Path,
    stored: &Stored,
    args: &ShrinkArgs,
    global: &Global,
    watch: &Watch,
) -> Result<ExitCode, Failure> {
    let recording = args.recording.as_ref().map(|path: &PathBuf| recording(path)).transpose()?;
    let options = Options { recording, executions_max: args.max_executions, ..Options::default() };
    let control = watch.control();
    control.progress.phase("runs");
    let result = shrunk(target, &stored.schedule, &options, &control);
    watch.done();
    let Some(shrunk) = result? else {
        warn(&format!("{}: it does not occur when it runs again: nothing to shrink", shown(path)));
        return Ok(ExitCode::from(exit::LIMIT));
    };
    let mut schedule = shrunk.schedule.clone();
    schedule.program = stored.schedule.program.clone();
    let text = schedule.to_json();
    match &args.output {
        Some(file) => to_file(file, |out| {
            writeln!(out, "{text}").map_err(|error| Failure::writing(file, &error))
        })?,
        None => to_stdout(|out| writeln!(out, "{text}"))?,
    }
    if !global.quiet {
        note(&words(&shrunk));
        if let Some(file) = &args.output {
            let file = model::quote(&file.to_string_lossy());
            note(&format!("anyorder replay {} {file}", target.arguments()));
        }
    }
    Ok(ExitCode::from(exit::CLEAN))
}

/// Says how small it became.
fn words(shrunk: &Shrunk) -> String {
    let tasks = |count: usize| plural(count as u64, "task");
    let (before, after) = (tasks(shrunk.length_before), tasks(shrunk.schedule.choices.len()));
    let reversals = match shrunk.fewest {
        true => format!(
            "with {} of the recording, the fewest",
            plural(u64::from(shrunk.reversals), "reversal")
        ),
        false => "the fewest reversals are not known".to_owned(),
    };
    let minimal = if shrunk.minimal { "no task can be left out" } else { "cut before it was done" };
    let runs = plural(shrunk.executions, "run");
    format!("{before} became {after}; {reversals}; {minimal}; {runs}")
}
