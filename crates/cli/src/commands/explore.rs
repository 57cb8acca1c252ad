//! `anyorder explore`: one algorithm on a model or a program, with all its options.

use super::check::set_limits;
use super::render::{self, Form};
use crate::args::{AlgorithmArg, ExploreArgs, Global, ReversalArgs};
use crate::commands::check::{cut, print_warnings};
use crate::failure::{Failure, warn};
use crate::model::{self, Engine, Model, Question, Replay, quote, schedules_of};
use crate::reversal::{Asked, Target, command_of, explored, pipe_options};
use crate::watch::Watch;
use anyorder_common::text::escape;
use anyorder_common::text::shown;
use anyorder_commute::Declarations;
use anyorder_explore::r4;
use anyorder_finding::run::{Run, Runs};
use anyorder_finding::{Finding, Outcome, Policy, assign_ids};
use anyorder_pipe::PipeFactory;
use anyorder_system::Schedule;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

/// Explores, prints what was found, and returns the exit status that it gives.
pub(crate) fn run(args: &ExploreArgs, global: &Global) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    let watch = Watch::start(global, &args.limits)?;
    let mut outcome = Outcome::new("explore", env!("CARGO_PKG_VERSION"));
    let algorithm = algorithm(args)?;
    outcome.options.set("algorithm", algorithm.word());
    let runs = match (&args.model, &args.program) {
        (Some(path), _) => {
            let model = model::load(path)?;
            print_warnings(&model, global);
            let name = path.to_string_lossy();
            match algorithm {
                AlgorithmArg::R4 => {
                    let target = Target::Model(&model, &name);
                    vary(target, args, global, &watch, &mut outcome)?
                }
                _ => {
                    outcome.inputs.push(Target::Model(&model, &name).input());
                    states((path, &model), algorithm, args, global, &watch, &mut outcome)?
                }
            }
        }
        (None, Some(command)) => {
            let factory = PipeFactory { command: command_of(command)?, options: pipe_options() };
            vary(Target::Program(&factory, command), args, global, &watch, &mut outcome)?
        }
        (None, None) => return Err(Failure::new("a model or `--program` was expected")),
    };
    watch.done();
    options(args, &mut outcome);
    let policy = Policy { strict: args.strict, ..Policy::default() };
    finish(args, outcome, runs, &policy, started)
}

/// Judges a result, places its schedules, and writes it.
fn finish(
    args: &ExploreArgs,
    mut outcome: Outcome,
    runs: Vec<Option<Run>>,
    policy: &Policy,
    started: Instant,
) -> Result<ExitCode, Failure> {
    assign_ids(&mut outcome.findings);
    let ids = outcome.findings.iter().map(|finding| finding.id.clone());
    let runs: Runs = ids.zip(runs).filter_map(|(id, run)| Some((id, run?))).collect();
    let again = command(args);
    let replay = Replay::of(args.schedules.as_deref(), &args.out, &again);
    model::place_for(&mut outcome.findings, replay, args.program.as_deref())?;
    outcome.findings.sort_by(Finding::rank);
    outcome.judge(policy);
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    outcome.stats.set("elapsed_ms", elapsed_ms);
    let form = Form { out: &args.out, max_findings: args.max_findings, remarks: "", runs: &runs };
    render::finish(&form, &outcome, policy, None)
}

/// Returns the algorithm that was asked for, or the one that fits.
fn algorithm(args: &ExploreArgs) -> Result<AlgorithmArg, Failure> {
    let recorded = args.program.is_some() || args.reversals.recording.is_some();
    match args.algorithm {
        None if recorded => Ok(AlgorithmArg::R4),
        None => Ok(AlgorithmArg::Stateful),
        Some(one) if recorded && one != AlgorithmArg::R4 => {
            let what = if args.program.is_some() {
                "a program has no states to compare"
            } else {
                "a recording is for runs"
            };
            let failure = Failure::new(format!("--algorithm {}: {what}", one.word()));
            Err(failure.with_hint("`--algorithm r4` varies one run"))
        }
        Some(one) => Ok(one),
    }
}

/// Searches the states of a model.
fn states(
    (path, model): (&Path, &Model),
    algorithm: AlgorithmArg,
    args: &ExploreArgs,
    global: &Global,
    watch: &Watch,
    outcome: &mut Outcome,
) -> Result<Vec<Option<Run>>, Failure> {
    let responses = !model.machine.responses().is_empty();
    if responses && algorithm != AlgorithmArg::Full && !global.quiet {
        let what = "responses are not checked: `--algorithm full` does";
        warn(&format!("{}: {what}", shown(path)));
    }
    let components = !model.machine.program().components.is_empty();
    if components && algorithm == AlgorithmArg::Paper && !global.quiet {
        let what = "update conflicts are not looked for by `--algorithm paper`";
        warn(&format!("{}: {what}", shown(path)));
    }
    let question = Question {
        threads: args.threads.unwrap_or_else(cores),
        first: args.first,
        values: args.reversals.values.unwrap_or(true),
        states_max: args.max_states,
        executions_max: args.max_executions,
        engine: match algorithm {
            AlgorithmArg::Paper => Engine::Paper,
            _ => Engine::Stateful,
        },
    };
    let reported = if algorithm == AlgorithmArg::Full {
        model::full_states(path, model, question, watch, outcome)?
    } else {
        let found = model::reduced(path, model, question, watch)?;
        cut(&found, outcome);
        super::add_stats(&mut outcome.stats, &found.stats);
        let mut reported = model::report(model, &found.violations);
        reported.extend(model::report_conflicts(model, &found.conflicts));
        if responses || (components && algorithm == AlgorithmArg::Paper) {
            outcome.cut_by("algorithm");
        }
        reported
    };
    let mut runs = Vec::with_capacity(reported.len());
    for one in reported {
        outcome.findings.push(one.finding);
        runs.push(Some(one.run));
    }
    Ok(runs)
}

pub(crate) fn cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Varies a run of a model or a program.
fn vary(
    target: Target<'_>,
    args: &ExploreArgs,
    global: &Global,
    watch: &Watch,
    outcome: &mut Outcome,
) -> Result<Vec<Option<Run>>, Failure> {
    outcome.inputs.push(target.input());
    let recording = match &args.reversals.recording {
        Some(path) => Some(recording(path)?),
        None => None,
    };
    if let Some(path) = &args.reversals.recording {
        let path = path.to_string_lossy().into_owned();
        outcome.inputs.push(anyorder_finding::Input { path, format: "schedule".to_owned() });
    }
    let workers = match (args.threads, target) {
        (Some(threads), _) => threads.get(),
        (None, Target::Model(..)) => cores().get(),
        (None, Target::Program(..)) => 1,
    };
    let options = reversal_options(&args.reversals, recording, workers);
    let asked = Asked {
        target,
        options,
        executions_max: args.max_executions,
        steps_max: Some(args.reversals.max_steps),
        repeats: args.reversals.repeats,
        quiet: global.quiet,
    };
    Ok(explored(&asked, watch, outcome)?.runs)
}

/// Returns what an exploration by reversals is asked.
pub(crate) fn reversal_options(
    args: &ReversalArgs,
    recording: Option<Schedule>,
    workers: usize,
) -> r4::Options {
    r4::Options {
        bound: args.bound.0,
        order: if args.paper_order { r4::Order::DepthFirst } else { r4::Order::Levels },
        sleep: if args.no_sleep { r4::Sleep::Off } else { r4::Sleep::Exact },
        recording,
        user_events: match args.user_events.as_str() {
            "declared" => r4::UserEvents::Declared,
            "all" => r4::UserEvents::All,
            "none" => r4::UserEvents::None,
            kinds => r4::UserEvents::Kinds(
                kinds
                    .split(',')
                    .map(|kind| kind.trim().to_owned())
                    .filter(|kind| !kind.is_empty())
                    .collect(),
            ),
        },
        same_value: args.values.unwrap_or(false),
        updates: Declarations::default(),
        workers,
        attempts: args.attempts.get(),
        alternatives_max: args.alternatives.get(),
        ..r4::Options::default()
    }
}

/// Reads a schedule, or the first of a result.
pub(crate) fn recording(path: &Path) -> Result<Schedule, Failure> {
    let text = crate::input::begin(path)?.text(path, model::SCHEDULE_BYTES_MAX)?;
    let mut all = schedules_of(path, &text, None)?;
    if all.is_empty() {
        return Err(Failure::new(format!("{}: there is no schedule", shown(path))));
    }
    Ok(all.swap_remove(0).schedule)
}

/// Returns the command that prints the same findings as JSON.
fn command(args: &ExploreArgs) -> String {
    let mut words = vec!["anyorder explore".to_owned()];
    words.extend(args.model.as_ref().map(|path| quote(&path.to_string_lossy())));
    words.extend(args.program.as_ref().map(|program| format!("--program {}", quote(program))));
    words.extend(args.algorithm.map(|one| format!("--algorithm {}", one.word())));
    let reversals = &args.reversals;
    match reversals.bound.0 {
        Some(1) => {}
        Some(bound) => words.push(format!("--bound {bound}")),
        None => words.push("--bound none".to_owned()),
    }
    if let Some(path) = &reversals.recording {
        words.push(format!("--recording {}", quote(&path.to_string_lossy())));
    }
    if reversals.user_events != "declared" {
        words.push(format!("--user-events {}", quote(&escape(&reversals.user_events))));
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
        options.set("user-events", reversals.user_events.clone());
        options.set("attempts", u64::from(reversals.attempts.get()));
        options.set("max-steps", reversals.max_steps);
        options.set("alternatives", u64::from(reversals.alternatives.get()));
    } else {
        options.set("first", args.first);
    }
    if let Some(values) = reversals.values {
        options.set("values", values);
    }
    if let Some(most) = args.max_states {
        options.set("max-states", most);
    }
    if let Some(most) = args.max_executions {
        options.set("max-executions", most);
    }
    options.set("strict", args.strict);
    set_limits(options, &args.limits);
}
