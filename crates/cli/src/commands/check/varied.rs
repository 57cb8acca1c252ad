//! What is checked by varying one run: a program behind a pipe, and a model with a schedule beside it.

use super::models::set_limits;
use crate::args::{BoundArg, CheckArgs, Global, ReversalArgs};
use crate::commands::check::print_warnings;
use crate::commands::explore::{cores, reversal_options};
use crate::failure::Failure;
use crate::input::{self, Begun};
use crate::model::{self, SCHEDULE_BYTES_MAX, schedules_of};
use crate::reversal::{Asked, Target, command_of, explored, pipe_options};
use crate::watch::Watch;
use anyorder_common::text::shown;
use anyorder_finding::run::Run;
use anyorder_finding::{Input, Outcome};
use anyorder_pipe::PipeFactory;
use anyorder_system::Schedule;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// How often a run is tried that the program loses, and the most tasks that it goes on with.
const ATTEMPTS: NonZeroU32 = NonZeroU32::MIN.saturating_add(4);
const ALTERNATIVES: NonZeroU32 = NonZeroU32::MIN.saturating_add(15);
const STEPS_MAX: u64 = 1_000;

/// What was given.
pub(super) enum Given {
    /// A run to vary.
    Varied(Varied),
    /// Inputs that are checked one by one; what cannot be read is told with the others.
    Inputs(Vec<(PathBuf, Result<Begun, Failure>)>),
}

/// A run to vary.
pub(super) struct Varied {
    model: Option<(PathBuf, String)>,
    recording: Option<(PathBuf, Schedule)>,
}

/// Looks at the beginning of all inputs, and tells which kind of check they ask for.
pub(super) fn split(args: &CheckArgs, global: &Global) -> Result<Given, Failure> {
    let begun: Vec<_> = args.inputs.iter().map(|path| (path.clone(), input::begin(path))).collect();
    let is_schedule = |begun: &Result<Begun, Failure>| {
        begun.as_ref().is_ok_and(|begun| begun.is_schedule(global))
    };
    if args.program.is_none() && !begun.iter().any(|(_, begun)| is_schedule(begun)) {
        return Ok(Given::Inputs(begun));
    }
    let mut varied = Varied { model: None, recording: None };
    for (path, begun) in begun {
        let begun = begun?;
        if begun.is_schedule(global) && varied.recording.is_none() {
            let text = begun.text(&path, SCHEDULE_BYTES_MAX)?;
            let schedule = schedules_of(&path, &text, None)?.swap_remove(0).schedule;
            varied.recording = Some((path, schedule));
        } else if begun.is_model(global) && varied.model.is_none() && args.program.is_none() {
            let text = begun.model_text(&path)?;
            varied.model = Some((path, text));
        } else {
            let what = "expected one schedule, and one model or `--program`, and nothing else";
            let failure = Failure::new(format!("{}: {what}", shown(&path)));
            return Err(failure.with_hint("`anyorder replay` runs several schedules"));
        }
    }
    if varied.model.is_none() && args.program.is_none() {
        let path = varied.recording.map(|(path, _)| path).unwrap_or_default();
        let what = "a schedule, and the model it is for is not among the inputs";
        return Err(Failure::new(format!("{}: {what}", shown(&path))));
    }
    Ok(Given::Varied(varied))
}

/// Varies a run; adds what was found to the result.
pub(super) fn check(
    varied: Varied,
    args: &CheckArgs,
    global: &Global,
    watch: &Watch,
    outcome: &mut Outcome,
    told: &mut Vec<Option<Run>>,
) -> Result<(), Failure> {
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
    let options = reversal_options(&reversals, recording, workers);
    let explore = |target: Target<'_>| {
        outcome.inputs.push(target.input());
        if let Some(path) = &beside {
            let path = path.to_string_lossy().into_owned();
            outcome.inputs.push(Input { path, format: "schedule".to_owned() });
        }
        outcome.options.set("algorithm", "r4");
        let (executions_max, steps_max) = (None, Some(STEPS_MAX));
        let quiet = global.quiet;
        let asked = Asked { target, options, executions_max, steps_max, repeats: 1, quiet };
        explored(&asked, watch, outcome)
    };
    let found = match (&varied.model, &args.program) {
        (Some((path, text)), _) => {
            let model = model::load_text(path, text)?;
            print_warnings(&model, global);
            explore(Target::Model(&model, &path.to_string_lossy()))?
        }
        (None, Some(command)) => {
            let factory = PipeFactory { command: command_of(command)?, options: pipe_options() };
            explore(Target::Program(&factory, command))?
        }
        (None, None) => return Ok(()),
    };
    told.extend(found.runs);
    outcome.options.set("strict", args.counting.strict);
    set_limits(&mut outcome.options, &args.limits);
    Ok(())
}
