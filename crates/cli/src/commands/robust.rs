//! `anyorder robust`: whether models and recorded runs are robust against concurrency.

use crate::args::{Global, RobustArgs};
use crate::commands::runner::{Ending, Judgement, Runner};
use crate::failure::{Failure, Usage};
use crate::guard::{Document, Kind};
use crate::input::{self, PeekedInput};
use crate::load::{Read, read};
use crate::watch::Watch;
use anyorder_drive::model::Model;
use anyorder_drive::{JobResult, robust_model, robust_trace, robust_verdict};
use anyorder_finding::{Input, option};
use anyorder_trace::Trace;
use std::path::Path;
use std::process::ExitCode;

/// Checks all inputs, prints the findings, and returns the exit status.
pub(crate) fn run(args: &RobustArgs, global: &Global, watch: &Watch) -> Result<ExitCode, Failure> {
    let peeked = refuse_useless(args, global)?;
    let policy = args.counting.policy(args.options().filters());
    let document = Document {
        command: "robust",
        out: args.out.clone(),
        max_findings: args.list.max_findings,
        policy: policy.clone(),
        kind: Kind::Robustness,
    };
    let runner = Runner::begin(document, global, watch).accepting(&args.counting)?;
    let (mut last, mut failures) = (None, Vec::new());
    for (path, peeked) in args.inputs.iter().zip(peeked) {
        match one(path, peeked, args, &runner) {
            Ok(trace) => last = trace,
            Err(failure) => failures.push(failure),
        }
    }
    watch.done();
    if let Some(failure) = Failure::join(failures) {
        return Err(failure);
    }
    // A timeline shows one run.
    let trace = last.filter(|_| args.inputs.len() == 1);
    runner.finish(Ending {
        judgement: Judgement::RankedThen(&|outcome| {
            outcome.verdict = robust_verdict(outcome, &policy);
        }),
        trace: trace.as_ref(),
        ..Ending::default()
    })
}

/// Refuses the options of a kind of input that is not there, before any work. Returns the inputs
/// that were peeked at for that and cannot be opened again.
fn refuse_useless(args: &RobustArgs, global: &Global) -> Result<Vec<Option<PeekedInput>>, Failure> {
    let (of_traces, of_models) = (args.of_traces(), args.of_models());
    let mut kept: Vec<Option<PeekedInput>> = Vec::new();
    kept.resize_with(args.inputs.len(), || None);
    if of_traces.is_empty() && of_models.is_empty() {
        return Ok(kept);
    }
    let (mut models, mut traces, mut unreadable) = (0, 0, false);
    for (path, kept) in args.inputs.iter().zip(&mut kept) {
        let Ok(peeked) = input::peek(path) else {
            // It is reported when its turn comes.
            unreadable = true;
            continue;
        };
        *(if peeked.is_model(global) { &mut models } else { &mut traces }) += 1;
        *kept = (!peeked.is_file()).then_some(peeked);
    }
    if unreadable {
        return Ok(kept);
    }
    useless(&of_traces, traces, "traces", &args.inputs)?;
    useless(&of_models, models, "models", &args.inputs)?;
    Ok(kept)
}

/// Refuses options of a kind of input that is not there.
fn useless(
    options: &[&'static str],
    inputs: usize,
    kind: &'static str,
    given: &[std::path::PathBuf],
) -> Result<(), Usage> {
    match (options.first(), given.first()) {
        (Some(option), Some(path)) if inputs == 0 => {
            Err(Usage::OptionOf { path: path.clone(), option, kind })
        }
        _ => Ok(()),
    }
}

/// Reads and checks one input, and adds the result to the draft.
fn one(
    path: &Path,
    peeked: Option<PeekedInput>,
    args: &RobustArgs,
    runner: &Runner<'_>,
) -> Result<Option<Trace>, Failure> {
    let (global, watch) = (runner.global, runner.watch);
    let peeked = peeked.map_or_else(|| input::peek(path), Ok)?;
    if peeked.is_model(global) {
        return model(path, peeked, args, runner).map(|()| None);
    }
    let Read { trace, input } = read(path, peeked, global, watch)?;
    runner.working_on(&input);
    let result = robust_trace(&trace, &args.options(), &watch.control())?;
    add(input, result, args, runner);
    Ok(Some(trace.trace))
}

/// Checks one model, and adds the result to the draft.
fn model(
    path: &Path,
    peeked: PeekedInput,
    args: &RobustArgs,
    runner: &Runner<'_>,
) -> Result<(), Failure> {
    let text = peeked.model_text(path)?;
    let input = Input::new(path, "model");
    runner.working_on(&input);
    let model = Model::compile(&path.to_string_lossy(), &text)?;
    runner.global.warn_of(model.warnings());
    let result = robust_model(&model, &args.model_options(), &runner.watch.control())?;
    add(input, result, args, runner);
    Ok(())
}

fn add(input: Input, result: JobResult, args: &RobustArgs, runner: &Runner<'_>) {
    runner.ended(&result);
    runner.add(vec![input], result, |options| {
        options.set(option::STRICT, args.counting.strict);
    });
}
