//! Checks by varying one run: of a program behind a pipe, or of a model with a schedule.

use crate::args::{CheckArgs, Global, cores};
use crate::commands::explore::{program_input, read_schedule};
use crate::commands::page::{GivenPage, keep_steps, saved_page};
use crate::failure::{Failure, JobFailure, Usage};
use crate::input::{self, PeekedInput, SCHEDULE_BYTES_MAX};
use crate::reading::{stopped, watched};
use crate::watch::Watch;
use anyorder_drive::explore::{
    Deepening, ExploreOptions, ReversalOptions, Swaps, explore_program, pipe_program,
};
use anyorder_drive::model::{Model, explore_model};
use anyorder_drive::page::{PageProgram, explore_page};
use anyorder_drive::{JobControl, JobResult, first_schedule};
use anyorder_finding::{Input, option};
use anyorder_system::{Control, Schedule};
use std::path::PathBuf;

/// The most inputs that are kept open.
const OPEN_MAX: usize = 64;

/// The maximum number of tasks of a run.
const STEPS_MAX: u64 = 1_000;

/// The number of runs that swap two tasks of a program, in search of what it does not report.
const SWAPS: u64 = 64;

/// The inputs of the command, by kind.
pub(super) enum CheckInputs {
    /// A run to vary.
    Varied(Varied),
    /// Inputs to check one by one. Unreadable inputs are reported together. An input without its
    /// beginning is opened again at its turn.
    Inputs(Vec<(PathBuf, Option<Result<PeekedInput, JobFailure>>)>),
}

/// A run to vary.
pub(super) struct Varied {
    model: Option<(PathBuf, String)>,
    recording: Option<(PathBuf, Schedule)>,
}

/// Reads the beginning of all inputs, and decides which kind of check they need.
pub(super) fn split(args: &CheckArgs, global: &Global) -> Result<CheckInputs, Failure> {
    let mut has_schedule = false;
    let mut peeked = Vec::with_capacity(args.inputs.len());
    for path in &args.inputs {
        let one = input::peek(path);
        has_schedule |= one.as_ref().is_ok_and(|one| one.is_schedule(global));
        let keep = peeked.len() < OPEN_MAX || !one.as_ref().is_ok_and(PeekedInput::is_file);
        peeked.push((path.clone(), keep.then_some(one)));
        if peeked.len() > 1 && stopped().is_err() {
            break;
        }
    }
    if args.program.is_none() && !has_schedule {
        return Ok(CheckInputs::Inputs(peeked));
    }
    let mut varied = Varied { model: None, recording: None };
    for (path, peeked) in peeked {
        let peeked = peeked.unwrap_or_else(|| input::peek(&path))?;
        if peeked.is_schedule(global) && varied.recording.is_none() {
            let text = peeked.text(&path, SCHEDULE_BYTES_MAX)?;
            let watched = watched();
            let schedule = first_schedule(&path, &text, None)?.schedule;
            drop(watched);
            varied.recording = Some((path, schedule));
        } else if peeked.is_model(global) && varied.model.is_none() && args.program.is_none() {
            let text = peeked.model_text(&path)?;
            varied.model = Some((path, text));
        } else {
            return Err(Usage::Unexpected { path }.into());
        }
    }
    if varied.model.is_none() && args.program.is_none() {
        let path = varied.recording.map(|(path, _)| path).unwrap_or_default();
        return Err(Usage::ScheduleAlone { path }.into());
    }
    Ok(CheckInputs::Varied(varied))
}

/// The number of runs of a page that swap two events, in search of what is not reported.
const PAGE_SWAPS: u64 = 16;

/// The most browsers that run at once without `--threads`.
const BROWSERS_MAX: usize = 4;

/// Varies a run of a page. Returns the inputs beside it, and the result.
pub(super) fn check_page(
    mut page: GivenPage,
    args: &CheckArgs,
    global: &Global,
    watch: &Watch,
) -> Result<(PageProgram, Vec<Input>, JobResult), Failure> {
    let (mut recording, mut saved) = (None, None);
    let mut inputs = Vec::new();
    for path in std::mem::take(&mut page.others) {
        if recording.is_some() {
            return Err(Usage::Unexpected { path }.into());
        }
        recording = Some(read_schedule(&path, None)?);
        saved = saved_page(&path, None)?;
        inputs.push(Input::new(&path, "schedule"));
    }
    let usual = (cores().get() / 2).clamp(1, BROWSERS_MAX);
    let workers = args.search.threads.map_or(usual, |threads| threads.get());
    let watched = watched();
    let crawl = args.steps.crawl.map(usize::from);
    let program = page.open(&args.page, crawl, saved.as_ref())?;
    drop(watched);
    keep_steps(&program, &args.steps, global)?;
    let swaps = Swaps { count: PAGE_SWAPS, seed: 1 };
    let reversals = ReversalOptions { recording, workers, swaps, ..ReversalOptions::default() };
    let deepen = Some(Deepening::within(watch.budget(args.budget)?));
    let options = ExploreOptions { reversals, deepen, ..ExploreOptions::default() };
    let watched = watch.control();
    // What a limit leaves is as complete as the rest.
    let publish = |mut so_far: JobResult| {
        program.add_sources(&mut so_far);
        program.describe_page(&mut so_far);
        watched.publish(so_far);
    };
    // On a busy machine, a page does not end its event at once.
    let cancel = watch.early()?;
    let mut control = JobControl::new(Control { cancel, ..watched.control.clone() }, &publish);
    control.limits.steps = Some(STEPS_MAX);
    let mut result = explore_page(&program, &options, &control)?;
    program.add_sources(&mut result);
    if args.out.report.is_some() {
        program.add_evidence(&mut result, &control);
    }
    program.describe_page(&mut result);
    result.options.set(option::BUDGET, format!("{:?}", args.budget));
    Ok((program, inputs, result))
}

/// Varies a run. Returns the inputs, the program first, and the result.
pub(super) fn check(
    varied: Varied,
    args: &CheckArgs,
    global: &Global,
    watch: &Watch,
) -> Result<(Vec<Input>, JobResult), Failure> {
    let workers = match (args.search.threads, &args.program) {
        (Some(threads), _) => threads.get(),
        (None, Some(_)) => 1,
        (None, None) => cores().get(),
    };
    let (schedule_path, recording) = varied.recording.unzip();
    let swaps = Swaps { count: if args.program.is_some() { SWAPS } else { 0 }, seed: 1 };
    let reversals = ReversalOptions { recording, workers, swaps, ..ReversalOptions::default() };
    let deepen = Some(Deepening::within(watch.budget(args.budget)?));
    let options = ExploreOptions { reversals, deepen, ..ExploreOptions::default() };
    let mut control = watch.control();
    control.limits.steps = Some(STEPS_MAX);
    let (input, result) = match (varied.model, &args.program) {
        (Some((path, text)), _) => {
            let model = Model::compile(&path.to_string_lossy(), &text)?;
            global.warn_of(model.warnings());
            (Input::new(&path, "model"), explore_model(&model, &options, &control)?)
        }
        (None, command) => {
            let command = command.as_deref().unwrap_or_default();
            let program = pipe_program(command)?;
            (program_input(command), explore_program(&program, &options, &control)?)
        }
    };
    let mut result = result;
    result.options.set(option::BUDGET, format!("{:?}", args.budget));
    let mut inputs = vec![input];
    inputs.extend(schedule_path.map(|path| Input::new(&path, "schedule")));
    Ok((inputs, result))
}
