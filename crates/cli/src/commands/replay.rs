//! `anyorder replay`: runs the schedules of findings again.

use super::replay_witness;
use super::together::{self, Given, warn_if_changed};
use crate::args::{Global, ReplayArgs};
use crate::failure::{Failure, warn};
use crate::input::{self, Begun};
use crate::model::{self, End, Model, Replayed, Stored, schedules_of};
use crate::output::{to_stdout, width};
use crate::reversal::{
    self, Again, Target, cannot_start, command_of, is_difference, pipe_options, with_system,
};
use anyorder_common::text::escape;
use anyorder_common::text::shown;
use anyorder_finding::exit;
use anyorder_pipe::PipeFactory;
use anyorder_report::terminal;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs all schedules given; the status is 1 when one shows again what it should, else 3 when one cannot be followed.
pub(crate) fn run(args: &ReplayArgs, global: &Global) -> Result<ExitCode, Failure> {
    if let Some(command) = &args.program {
        return of_program(command, args);
    }
    let begun = args.inputs.iter().map(|path| Ok((path.clone(), input::begin(path)?)));
    let begun: Vec<(PathBuf, Begun)> = begun.collect::<Result<_, Failure>>()?;
    if let Some(at) = begun.iter().position(|(_, begun)| begun.trace_format(global).is_some()) {
        return of_trace(begun, at, args, global);
    }
    let given = together::read_begun(begun, global)?;
    if given.others.is_empty() {
        let failure = Failure::new("there is no schedule and no result among the inputs");
        return Err(failure.with_hint("`anyorder check MODEL --schedules DIR` writes schedules"));
    }
    let mut text = String::new();
    let (mut again, mut lost) = (false, false);
    for (path, content) in &given.others {
        let all = schedules_of(path, content, args.finding.as_deref())?;
        for (one, model_path, model) in runnable(path, &all, &given, global)? {
            warn_if_changed(model_path, model, &one.schedule, global);
            if is_difference(&one.schedule) {
                let name = model_path.to_string_lossy();
                let replayed = again_with(Target::Model(model, &name), one)?;
                again |= replayed.same;
                lost |= !replayed.same && (replayed.lost.is_some() || replayed.wrong);
                tell_again(&mut text, one, replayed);
                continue;
            }
            let replayed = model::replay(model, &one.schedule)
                .map_err(|error| model::failure(model_path, &error))?;
            again |= replayed.same;
            lost |= !replayed.same && (replayed.divergence.is_some() || replayed.shows.is_some());
            tell(&mut text, one, model, &replayed);
        }
    }
    to_stdout(|out| out.write_all(text.as_bytes()))?;
    Ok(status(again, lost))
}

/// Checks witnesses against the trace that they reorder: the input at a place of the list.
fn of_trace(
    mut all: Vec<(PathBuf, Begun)>,
    at: usize,
    args: &ReplayArgs,
    global: &Global,
) -> Result<ExitCode, Failure> {
    let (trace_path, trace) = all.remove(at);
    let expected = |path: &Path, what: &str| {
        let failure = Failure::new(format!("{}: {what}", shown(path)));
        let hint = "`anyorder predict TRACE --format json` and `anyorder check` write results; \
            `anyorder replay TRACE RESULT` checks their witnesses again";
        Err(failure.with_hint(hint))
    };
    let Some((path, text)) = all.pop() else {
        return expected(&trace_path, "a trace, expected a witness or a result beside it");
    };
    if let Some((path, _)) = all.first() {
        return expected(path, "expected one trace, and one witness or result, and nothing else");
    }
    if !text.is_json() {
        return expected(&path, "no witness and no result, expected JSON");
    }
    let content = text.text(&path, model::SCHEDULE_BYTES_MAX)?;
    replay_witness::run((&trace_path, trace), (&path, &content), args, global)
}

/// Runs the schedules of a program behind a pipe.
fn of_program(command: &str, args: &ReplayArgs) -> Result<ExitCode, Failure> {
    let factory = PipeFactory { command: command_of(command)?, options: pipe_options() };
    let mut text = String::new();
    let (mut again, mut lost) = (false, false);
    for path in &args.inputs {
        let content = input::begin(path)?.text(path, model::SCHEDULE_BYTES_MAX)?;
        for one in schedules_of(path, &content, args.finding.as_deref())? {
            let replayed = again_with(Target::Program(&factory, command), &one)?;
            again |= replayed.same;
            lost |= !replayed.same && (replayed.lost.is_some() || replayed.wrong);
            tell_again(&mut text, &one, replayed);
        }
    }
    to_stdout(|out| out.write_all(text.as_bytes()))?;
    Ok(status(again, lost))
}

fn status(again: bool, lost: bool) -> ExitCode {
    ExitCode::from(match (again, lost) {
        (true, _) => exit::FINDINGS,
        (false, true) => exit::LIMIT,
        (false, false) => exit::CLEAN,
    })
}

/// Runs a schedule on whatever it is for.
fn again_with(target: Target<'_>, stored: &Stored) -> Result<Again, Failure> {
    let replayed = with_system(target, reversal::replay(&stored.schedule))?;
    replayed.map_err(|error| cannot_start(target.name(), &error))
}

fn tell_again(text: &mut String, stored: &Stored, replayed: Again) {
    if let Some((id, title)) = &stored.finding {
        let _ = writeln!(text, "{} {}", escape(id), escape(title));
    }
    let mut run = replayed.run;
    let verdict = match (replayed.same, &replayed.lost, replayed.wrong) {
        (true, _, _) => "it occurs again",
        (false, Some(_), _) => "the schedule cannot be followed to its end",
        (false, None, true) => "something else goes wrong",
        (false, None, false) => "it does not occur",
    };
    run.end = replayed.lost.unwrap_or_default();
    text.push_str(&terminal::table(&run, width()));
    let _ = writeln!(text, "replay: {verdict}");
}

/// Returns the schedules of a file with their models. Of a result of several models those are left out whose models are not given.
fn runnable<'a>(
    path: &Path,
    all: &'a [Stored],
    given: &'a Given,
    global: &Global,
) -> Result<Vec<(&'a Stored, &'a Path, &'a Model)>, Failure> {
    let several = all.iter().any(|one| one.schedule.program.name != all[0].schedule.program.name);
    let mut runnable = Vec::new();
    let mut left_out = 0_u64;
    for one in all {
        match given.model_of(&one.schedule) {
            Some((model_path, model)) if !several || Given::is_named(model, &one.schedule) => {
                runnable.push((one, model_path, model));
            }
            _ => left_out += 1,
        }
    }
    if runnable.is_empty() {
        return Err(Given::no_model(path, &all[0].schedule));
    }
    if left_out > 0 && !global.quiet {
        let what = anyorder_common::numbers::plural(left_out, "finding");
        warn(&format!("{}: {what} of other models left out", shown(path)));
    }
    Ok(runnable)
}

fn tell(text: &mut String, stored: &Stored, model: &Model, replayed: &Replayed) {
    // Writing to a string does not fail.
    if let Some((id, title)) = &stored.finding {
        let _ = writeln!(text, "{} {}", escape(id), escape(title));
    }
    let end = match (&replayed.shows, &replayed.divergence) {
        (Some(shows), _) => shows.clone(),
        (None, Some(divergence)) => End::from(divergence.to_string()),
        (None, None) => End::default(),
    };
    let run = model::run_of(&model.machine, &replayed.path, &end);
    text.push_str(&terminal::table(&run, width()));
    let verdict = match (replayed.same, &replayed.divergence, &replayed.shows) {
        (true, _, _) => "it occurs again",
        (false, Some(_), None) => "the schedule cannot be followed to its end",
        (false, _, Some(_)) => "something else goes wrong",
        (false, None, None) => "it does not occur",
    };
    let _ = writeln!(text, "replay: {verdict}");
}
