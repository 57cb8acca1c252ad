//! `anyorder explore`: one algorithm on a model or a program, with all its options.

use super::page;
use super::runner::{Ending, Runner};
use crate::args::{BoundArg, ExploreAlgorithm, ExploreArgs, Global, ReversalArgs, cores};
use crate::failure::{Failure, JobFailure, Usage};
use crate::guard::{Document, Kind};
use crate::input::{SCHEDULE_BYTES_MAX, load_model, peek};
use crate::reading::watched;
use crate::watch::Watch;
use crate::witness::Replay;
use anyorder_common::text::{escape, quote};
use anyorder_drive::explore::{
    Deepening, ExploreOptions, Swaps, explore_program, pipe_program, program_file,
};
use anyorder_drive::model::{Model, check_model, explore_model};
use anyorder_drive::states::{Algorithm, CheckOptions};
use anyorder_drive::{JobControl, JobResult, first_schedule};
use anyorder_finding::{Input, OptionValues, Policy, Stat, option};
use anyorder_system::Schedule;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

/// Explores, prints the findings, and returns the exit status.
pub(crate) fn run(args: &ExploreArgs, global: &Global, watch: &Watch) -> Result<ExitCode, Failure> {
    let algorithm = algorithm(args)?;
    let document = Document {
        command: "explore",
        out: args.out.clone(),
        max_findings: args.list.max_findings,
        policy: Policy { strict: args.strict, ..Policy::default() },
        kind: Kind::Search,
    };
    let runner = Runner::begin(document, global, watch);
    watch.draft().change(|outcome| {
        outcome.options.set(option::ALGORITHM, algorithm.word());
    });
    let (input, result) = match (&args.model, &args.program) {
        (Some(path), _) => {
            page::refuse(std::slice::from_ref(path), "explore")?;
            let model = load_model(path)?;
            global.warn_of(model.warnings());
            runner.working_on(&Input::new(path, "model"));
            let result = match algorithm {
                ExploreAlgorithm::Reversals => {
                    let explore = |options: &ExploreOptions, control: &JobControl<'_>| {
                        explore_model(&model, options, control)
                    };
                    vary(&explore, cores().get(), args, watch)?
                }
                ExploreAlgorithm::States(algorithm) => {
                    states(&model, algorithm, args, global, watch)?
                }
            };
            (Input::new(path, "model"), result)
        }
        (None, Some(command)) => {
            let input = program_input(command);
            runner.working_on(&input);
            let program = pipe_program(command)?;
            let explore = |options: &ExploreOptions, control: &JobControl<'_>| {
                explore_program(&program, options, control)
            };
            (input, vary(&explore, 1, args, watch)?)
        }
        (None, None) => return Err(Usage::NothingToExplore.into()),
    };
    runner.ended(&result);
    let mut inputs = vec![input];
    if let (ExploreAlgorithm::Reversals, Some(path)) = (algorithm, &args.reversals.recording) {
        inputs.push(Input::new(path, "schedule"));
    }
    let is_r4 = result.stats.get("algorithm") == Some(&Stat::from("r4"));
    runner.add(inputs, result, |given| options(args, is_r4, given));
    let rerun_command = command(args);
    let replay = Replay::of(args.placed.schedules.as_deref(), &args.out, &rerun_command);
    let subject = args.program.as_ref().map(|program| format!("--program {}", quote(program)));
    runner.finish(Ending { replay: Some((replay, subject.as_deref())), ..Ending::default() })
}

/// The input that a command starts.
pub(crate) fn program_input(command: &str) -> Input {
    // What cannot be asked about is there: only a word without a file is none.
    let is_file = |word: &str| match fs::metadata(word) {
        Ok(found) => found.is_file(),
        Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    };
    Input::program(command, program_file(command, is_file))
}

/// Returns the chosen algorithm, or the default for the input.
fn algorithm(args: &ExploreArgs) -> Result<ExploreAlgorithm, Usage> {
    let recorded = args.program.is_some() || args.reversals.recording.is_some();
    match args.algorithm {
        None if recorded => Ok(ExploreAlgorithm::Reversals),
        None => Ok(ExploreAlgorithm::States(Algorithm::Stateful)),
        Some(one) if recorded && one != ExploreAlgorithm::Reversals => {
            let of_program = args.program.is_some();
            Err(Usage::Algorithm { word: one.word(), of_program })
        }
        Some(one) => Ok(one),
    }
}

/// Searches the states of a model.
fn states(
    model: &Model,
    algorithm: Algorithm,
    args: &ExploreArgs,
    global: &Global,
    watch: &Watch,
) -> Result<JobResult, Failure> {
    let options = CheckOptions {
        algorithm: Some(algorithm),
        threads: args.threads.unwrap_or_else(cores),
        first: args.first,
        values: args.reversals.values.unwrap_or(true),
        states_max: args.max_states,
        ..CheckOptions::default()
    };
    global.remark(&options.plan(model).1);
    let mut control = watch.control();
    control.limits.executions = args.max_executions;
    Ok(check_model(model, &options, &control)?.result)
}

/// Explores the runs of a program.
type Explore<'a> = &'a dyn Fn(&ExploreOptions, &JobControl<'_>) -> Result<JobResult, JobFailure>;

/// Varies a run of a model or a program. `workers` is the default number of threads.
fn vary(
    explore: Explore<'_>,
    workers: usize,
    args: &ExploreArgs,
    watch: &Watch,
) -> Result<JobResult, Failure> {
    let recording = args.reversals.recording.as_deref().map(|path| read_schedule(path, None));
    let recording = recording.transpose()?;
    let workers = args.threads.map_or(workers, |threads| threads.get());
    let mut reversals = args.reversals.options(recording, workers);
    if args.model.is_some() {
        reversals.swaps = Swaps::default();
    }
    let repeats = args.reversals.repeats.unwrap_or(1);
    let deepen = deepening(&args.reversals, watch)?;
    let options = ExploreOptions { reversals, repeats, deepen };
    let mut control = watch.control();
    control.limits.executions = args.max_executions;
    control.limits.steps = Some(args.reversals.max_steps);
    Ok(explore(&options, &control)?)
}

/// Returns how far to go beyond one reversal; `None` if the bound is given.
fn deepening(reversals: &ReversalArgs, watch: &Watch) -> Result<Option<Deepening>, Failure> {
    if reversals.bound.is_some() {
        return Ok(None);
    }
    let within = Deepening::within(watch.budget(reversals.budget)?);
    Ok(Some(Deepening {
        other_inputs: reversals.user_events.is_none(),
        repeats_max: reversals.repeats.unwrap_or(within.repeats_max),
        ..within
    }))
}

/// Reads a schedule, or the first of a result: of its findings whose ids begin with `id`.
pub(crate) fn read_schedule(path: &Path, id: Option<&str>) -> Result<Schedule, JobFailure> {
    let text = peek(path)?.text(path, SCHEDULE_BYTES_MAX)?;
    let _watched = watched();
    Ok(first_schedule(path, &text, id)?.schedule)
}

/// Returns the command that prints the same findings as JSON.
fn command(args: &ExploreArgs) -> String {
    let mut words = vec!["anyorder explore".to_owned()];
    words.extend(args.model.as_ref().map(|path| quote(&path.to_string_lossy())));
    words.extend(args.program.as_ref().map(|program| format!("--program {}", quote(program))));
    words.extend(args.algorithm.map(|one| format!("--algorithm {}", one.word())));
    let reversals = &args.reversals;
    match reversals.bound {
        None => {}
        Some(BoundArg(Some(bound))) => words.push(format!("--bound {bound}")),
        Some(BoundArg(None)) => words.push("--bound none".to_owned()),
    }
    if let Some(repeats) = reversals.repeats {
        words.push(format!("--repeats {repeats}"));
    }
    if let Some(path) = &reversals.recording {
        words.push(format!("--recording {}", quote(&path.to_string_lossy())));
    }
    if let Some(user_events) = &reversals.user_events {
        words.push(format!("--user-events {}", quote(&escape(user_events))));
    }
    words.push("--format json".to_owned());
    words.join(" ")
}

fn options(args: &ExploreArgs, is_r4: bool, options: &mut OptionValues) {
    let reversals = &args.reversals;
    if is_r4 {
        options.set(option::PAPER_ORDER, reversals.paper_order);
        options.set(option::NO_SLEEP, reversals.no_sleep);
        options.set(option::USER_EVENTS, reversals.user_events.as_deref().unwrap_or("declared"));
        if reversals.bound.is_none() {
            options.set(option::BUDGET, format!("{:?}", reversals.budget));
        }
        if args.program.is_some() {
            options.set(option::SWAPS, reversals.swaps);
            options.set(option::SEED, reversals.seed);
        }
        options.set(option::ATTEMPTS, u64::from(reversals.attempts.get()));
        options.set(option::MAX_STEPS, reversals.max_steps);
        options.set(option::ALTERNATIVES, u64::from(reversals.alternatives.get()));
    } else {
        options.set(option::FIRST, args.first);
    }
    options
        .set_some(option::VALUES, reversals.values)
        .set_some(option::MAX_STATES, args.max_states)
        .set_some(option::MAX_EXECUTIONS, args.max_executions)
        .set(option::STRICT, args.strict);
}
