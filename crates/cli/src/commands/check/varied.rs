//! Checks by varying one run: of a program behind a pipe, or of a model with a schedule.

use crate::args::{BoundArg, CheckArgs, Global, ReversalArgs, cores};
use crate::failure::{Failure, print_messages};
use crate::input::{self, PeekedInput, SCHEDULE_BYTES_MAX};
use crate::watch::Watch;
use anyorder_common::text::shown;
use anyorder_drive::explore::{ExploreOptions, explore, pipe_program};
use anyorder_drive::model::Model;
use anyorder_drive::{JobResult, first_schedule};
use anyorder_finding::Input;
use anyorder_system::Schedule;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// The limits on attempts at a lost run, on alternatives of a choice, and on tasks of a run.
const ATTEMPTS: NonZeroU32 = NonZeroU32::MIN.saturating_add(4);
const ALTERNATIVES: NonZeroU32 = NonZeroU32::MIN.saturating_add(15);
const STEPS_MAX: u64 = 1_000;

/// The inputs of the command, by kind.
pub(super) enum CheckInputs {
    /// A run to vary.
    Varied(Varied),
    /// Inputs to check one by one. Unreadable inputs are reported together.
    Inputs(Vec<(PathBuf, Result<PeekedInput, Failure>)>),
}

/// A run to vary.
pub(super) struct Varied {
    model: Option<(PathBuf, String)>,
    recording: Option<(PathBuf, Schedule)>,
}

/// Reads the beginning of all inputs, and decides which kind of check they need.
pub(super) fn split(args: &CheckArgs, global: &Global) -> Result<CheckInputs, Failure> {
    let peeked: Vec<_> = args.inputs.iter().map(|path| (path.clone(), input::peek(path))).collect();
    let is_schedule = |peeked: &Result<PeekedInput, Failure>| {
        peeked.as_ref().is_ok_and(|peeked| peeked.is_schedule(global))
    };
    if args.program.is_none() && !peeked.iter().any(|(_, peeked)| is_schedule(peeked)) {
        return Ok(CheckInputs::Inputs(peeked));
    }
    let mut varied = Varied { model: None, recording: None };
    for (path, peeked) in peeked {
        let peeked = peeked?;
        if peeked.is_schedule(global) && varied.recording.is_none() {
            let text = peeked.text(&path, SCHEDULE_BYTES_MAX)?;
            let schedule = first_schedule(&path, &text, None)?.schedule;
            varied.recording = Some((path, schedule));
        } else if peeked.is_model(global) && varied.model.is_none() && args.program.is_none() {
            let text = peeked.model_text(&path)?;
            varied.model = Some((path, text));
        } else {
            let what = "unexpected input; expected one schedule, and one model or `--program`";
            let failure = Failure::new(format!("{}: {what}", shown(&path)));
            return Err(failure.with_hint("`anyorder replay` runs several schedules"));
        }
    }
    if varied.model.is_none() && args.program.is_none() {
        let path = varied.recording.map(|(path, _)| path).unwrap_or_default();
        let what = "a schedule without its model; give the model, too";
        return Err(Failure::new(format!("{}: {what}", shown(&path))));
    }
    Ok(CheckInputs::Varied(varied))
}

/// Varies a run. Returns the inputs, the program first, and the result.
pub(super) fn check(
    varied: Varied,
    args: &CheckArgs,
    global: &Global,
    watch: &Watch,
) -> Result<(Vec<Input>, JobResult), Failure> {
    let reversals = ReversalArgs {
        bound: BoundArg(Some(1)),
        recording: None,
        paper_order: false,
        no_sleep: false,
        values: None,
        user_events: "declared".to_owned(),
        max_steps: STEPS_MAX,
        repeats: 1,
        alternatives: ALTERNATIVES,
        attempts: ATTEMPTS,
    };
    let workers = match (args.search.threads, &args.program) {
        (Some(threads), _) => threads.get(),
        (None, Some(_)) => 1,
        (None, None) => cores().get(),
    };
    let (beside, recording) = varied.recording.unzip();
    let options = ExploreOptions { reversals: reversals.options(recording, workers), repeats: 1 };
    let mut control = watch.control();
    control.limits.steps = Some(STEPS_MAX);
    let (path, format, result) = match (varied.model, &args.program) {
        (Some((path, text)), _) => {
            let path = path.to_string_lossy().into_owned();
            let model = Model::compile(&path, &text)?;
            if !global.quiet {
                print_messages(model.warnings());
            }
            (path, "model", explore(&model, &options, &control)?)
        }
        (None, command) => {
            let command = command.clone().unwrap_or_default();
            let program = pipe_program(&command)?;
            (command, "program", explore(&program, &options, &control)?)
        }
    };
    let mut inputs = vec![Input { path, format: format.to_owned() }];
    inputs.extend(beside.map(|path| {
        let path = path.to_string_lossy().into_owned();
        Input { path, format: "schedule".to_owned() }
    }));
    Ok((inputs, result))
}
