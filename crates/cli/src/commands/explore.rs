//! `anyorder explore`: one algorithm on a model or a program, with all its options.

use super::render::{self, Form, set_elapsed};
use crate::args::{BoundArg, ExploreAlgorithm, ExploreArgs, Global, cores};
use crate::failure::{Failure, JobFailure, Usage};
use crate::guard::{Document, Kind};
use crate::input::{SCHEDULE_BYTES_MAX, load_model, peek};
use crate::reading::watched;
use crate::watch::Watch;
use crate::witness::{Replay, name_replays, write_schedules};
use anyorder_common::text::{escape, quote};
use anyorder_drive::explore::{ExploreOptions, Swaps, explore_program, pipe_program, program_file};
use anyorder_drive::model::{Model, check_model, explore_model};
use anyorder_drive::states::{Algorithm, CheckOptions};
use anyorder_drive::{JobResult, first_schedule};
use anyorder_finding::{Finding, Input, Outcome, Policy};
use anyorder_system::{Control, Schedule};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

/// The name of the command.
const COMMAND: &str = "explore";

/// Explores, prints the findings, and returns the exit status.
pub(crate) fn run(args: &ExploreArgs, global: &Global, watch: &Watch) -> Result<ExitCode, Failure> {
    let algorithm = algorithm(args)?;
    watch.begin(Document {
        command: COMMAND,
        out: args.out.clone(),
        max_findings: args.list.max_findings,
        policy: policy(args),
        kind: Kind::Search,
    });
    watch.draft().change(|outcome| {
        outcome.options.set("algorithm", algorithm.word());
    });
    let (input, result) = match (&args.model, &args.program) {
        (Some(path), _) => {
            let model = load_model(path)?;
            global.warn_of(model.warnings());
            watch.draft().working_on(&[Input::new(path, "model")]);
            let result = match algorithm {
                ExploreAlgorithm::Reversals => {
                    let explore = |options: &ExploreOptions, control: &Control<'_>| {
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
            watch.draft().working_on(std::slice::from_ref(&input));
            let program = pipe_program(command)?;
            let explore = |options: &ExploreOptions, control: &Control<'_>| {
                explore_program(&program, options, control)
            };
            (input, vary(&explore, 1, args, watch)?)
        }
        (None, None) => return Err(Usage::NothingToExplore.into()),
    };
    watch.done();
    global.remark(&result.remarks);
    let mut inputs = vec![input];
    if let (ExploreAlgorithm::Reversals, Some(path)) = (algorithm, &args.reversals.recording) {
        inputs.push(Input::new(path, "schedule"));
    }
    watch.draft().add(inputs, result);
    finish(args, watch)
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

/// Judges a result, writes its schedules, and prints it.
fn finish(args: &ExploreArgs, watch: &Watch) -> Result<ExitCode, Failure> {
    let (mut outcome, runs) = watch.draft().take(COMMAND).finish();
    options(args, &mut outcome);
    watch.asked.set(&mut outcome.options);
    let policy = policy(args);
    let rerun_command = command(args);
    let replay = Replay::of(args.placed.schedules.as_deref(), &args.out, &rerun_command);
    name_replays(&mut outcome.findings, replay, args.program.as_deref());
    outcome.findings.sort_by(Finding::rank);
    outcome.judge(&policy);
    set_elapsed(&mut outcome, watch.started);
    let done = watch.draft().finish(outcome, runs);
    write_schedules(&done.outcome.findings, replay)?;
    let max_findings = args.list.max_findings;
    let form = Form { out: &args.out, max_findings, remarks: "", runs: &done.runs };
    render::finish(&form, &done.outcome, &policy, None)
}

fn policy(args: &ExploreArgs) -> Policy {
    Policy { strict: args.strict, ..Policy::default() }
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
type Explore<'a> = &'a dyn Fn(&ExploreOptions, &Control<'_>) -> Result<JobResult, JobFailure>;

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
    let deepen = args.reversals.deepening(watch)?;
    let options = ExploreOptions { reversals, repeats, deepen };
    let mut control = watch.control();
    control.limits.executions = args.max_executions;
    control.limits.steps = Some(args.reversals.max_steps);
    Ok(explore(&options, &control)?)
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

fn options(args: &ExploreArgs, outcome: &mut Outcome) {
    let options = &mut outcome.options;
    let reversals = &args.reversals;
    if outcome.stats.get("algorithm") == Some(&anyorder_finding::Stat::from("r4")) {
        options.set("paper-order", reversals.paper_order);
        options.set("no-sleep", reversals.no_sleep);
        options.set("user-events", reversals.user_events.as_deref().unwrap_or("declared"));
        if reversals.bound.is_none() {
            options.set("budget", format!("{:?}", reversals.budget));
        }
        if args.program.is_some() {
            options.set("swaps", reversals.swaps);
            options.set("seed", reversals.seed);
        }
        options.set("attempts", u64::from(reversals.attempts.get()));
        options.set("max-steps", reversals.max_steps);
        options.set("alternatives", u64::from(reversals.alternatives.get()));
    } else {
        options.set("first", args.first);
    }
    options
        .set_some("values", reversals.values)
        .set_some("max-states", args.max_states)
        .set_some("max-executions", args.max_executions)
        .set("strict", args.strict);
}
