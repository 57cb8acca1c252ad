//! `anyorder shrink`: a smaller run that shows the same finding.

use super::model_inputs::{self, ModelInputs, warn_if_changed};
use super::page;
use crate::args::{Global, ShrinkArgs};
use crate::commands::explore::read_schedule;
use crate::failure::{Failure, JobFailure, Usage, note, warn};
use crate::guard::LastWords;
use crate::output::to;
use crate::reading::watched;
use crate::watch::Watch;
use anyorder_common::numbers::plural;
use anyorder_common::text::{quote, shown};
use anyorder_drive::explore::{ShrinkOptions, Shrunk, pipe_program, shrink_program};
use anyorder_drive::model::shrink_model;
use anyorder_drive::{JobControl, first_schedule};
use anyorder_finding::exit;
use anyorder_system::Schedule;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Shrinks a schedule, and writes the result.
pub(crate) fn run(args: &ShrinkArgs, global: &Global, watch: &Watch) -> Result<ExitCode, Failure> {
    let id = args.finding.as_deref();
    let _watched = watched();
    if let Some(command) = &args.program {
        let program = pipe_program(command)?;
        let [path] = &args.inputs[..] else {
            return Err(Usage::OneSchedule.into());
        };
        let schedule = read_schedule(path, id)?;
        let words = format!("--program {}", quote(command));
        let shrink =
            |failing: &Schedule, options: &ShrinkOptions, control: &JobControl<'_, Schedule>| {
                shrink_program(&program, failing, options, control)
            };
        return one(&shrink, &words, (path, &schedule), args, global, watch);
    }
    page::refuse(&args.inputs, "shrink")?;
    let is_of_page = |path: &&PathBuf| matches!(page::saved_page(path, id), Ok(Some(_)));
    if let Some(path) = args.inputs.iter().filter(|path| path.is_file()).find(is_of_page) {
        return Err(Usage::NotForPages { path: path.clone(), command: "shrink" }.into());
    }
    let given = model_inputs::read(&args.inputs, global)?;
    let [(path, text)] = &given.others[..] else {
        return Err(Usage::ModelAndSchedule.into());
    };
    let schedule = first_schedule(path, text, id)?.schedule;
    let Some((model_path, model)) = given.model_of(&schedule) else {
        return Err(ModelInputs::no_model(path, &schedule));
    };
    warn_if_changed(model_path, model, &schedule, global);
    let words = quote(&model_path.to_string_lossy());
    let shrink =
        |failing: &Schedule, options: &ShrinkOptions, control: &JobControl<'_, Schedule>| {
            shrink_model(model, failing, options, control)
        };
    one(&shrink, &words, (path, &schedule), args, global, watch)
}

/// Shrinks a run of a program.
type Shrink<'a> = &'a dyn Fn(
    &Schedule,
    &ShrinkOptions,
    &JobControl<'_, Schedule>,
) -> Result<Option<Shrunk>, JobFailure>;

/// Shrinks one schedule of a program; `words` name the program on a command line.
fn one(
    shrink: Shrink<'_>,
    words: &str,
    (path, schedule): (&Path, &Schedule),
    args: &ShrinkArgs,
    global: &Global,
    watch: &Watch,
) -> Result<ExitCode, Failure> {
    let recording = args.recording.as_deref().map(|path| read_schedule(path, None)).transpose()?;
    let executions_max = args.max_executions;
    let options = ShrinkOptions { recording, executions_max, ..ShrinkOptions::default() };
    let line = |schedule: &Schedule| format!("{}\n", schedule.to_json()).into_bytes();
    watch.draft().say_at_last(LastWords {
        file: args.output.clone(),
        make: Box::new(move |_, best| Some((line(best?), exit::LIMIT))),
    });
    let smaller = |so_far| watch.draft().publish_schedule(so_far);
    let control = JobControl::new(watch.control().control, &smaller);
    let result = shrink(schedule, &options, &control);
    watch.done();
    let Some(shrunk) = result? else {
        warn(&format!("{}: it does not occur when it runs again: nothing to shrink", shown(path)));
        return Ok(ExitCode::from(exit::LIMIT));
    };
    let text = shrunk.schedule.to_json();
    to(args.output.as_deref(), |out| writeln!(out, "{text}"))?;
    if !global.quiet {
        note(&size(&shrunk));
        if let Some(file) = &args.output {
            note(&format!("anyorder replay {words} {}", quote(&file.to_string_lossy())));
        }
    }
    // What a limit left is smaller, perhaps, but not as small as it gets.
    Ok(ExitCode::from(if shrunk.minimal { exit::CLEAN } else { exit::LIMIT }))
}

/// Reports the old and the new size.
fn size(shrunk: &Shrunk) -> String {
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
