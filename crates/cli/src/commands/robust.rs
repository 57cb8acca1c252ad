//! `anyorder robust`: whether models and recorded runs are robust against concurrency.

use crate::args::{Global, RobustArgs};
use crate::commands::check::AcceptedFindings;
use crate::commands::render::{self, Form, set_elapsed};
use crate::failure::{Failure, Usage};
use crate::guard::{Document, Kind};
use crate::input::{self, PeekedInput};
use crate::load::{Read, read};
use crate::watch::Watch;
use anyorder_drive::model::Model;
use anyorder_drive::{robust_model, robust_trace, robust_verdict};
use anyorder_finding::Input;
use anyorder_trace::Trace;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// The name of the command.
const COMMAND: &str = "robust";

/// Checks all inputs, prints the findings, and returns the exit status.
pub(crate) fn run(args: &RobustArgs, global: &Global, watch: &Watch) -> Result<ExitCode, Failure> {
    let peeked = refuse_useless(args, global)?;
    let policy = args.counting.policy(args.options().filters());
    watch.begin(Document {
        command: COMMAND,
        out: args.out.clone(),
        max_findings: args.list.max_findings,
        policy: policy.clone(),
        kind: Kind::Robustness,
    });
    let accepted = Arc::new(AcceptedFindings::read(&args.counting)?);
    watch.draft().accept(&accepted);
    let (mut last, mut failures) = (None, Vec::new());
    for (path, peeked) in args.inputs.iter().zip(peeked) {
        match one(path, peeked, args, global, watch) {
            Ok(trace) => last = trace,
            Err(failure) => failures.push(failure),
        }
    }
    watch.done();
    if let Some(failure) = Failure::join(failures) {
        return Err(failure);
    }
    let (mut outcome, runs) = watch.draft().take(COMMAND).finish();
    accepted.judge(&mut outcome, &policy, global);
    outcome.verdict = robust_verdict(&outcome, &policy);
    set_elapsed(&mut outcome, watch.started);
    let done = watch.draft().finish(outcome, runs);
    accepted.write(&done.outcome.findings)?;
    // A timeline shows one run.
    let trace = last.filter(|_| args.inputs.len() == 1);
    let max_findings = args.list.max_findings;
    let form = Form { out: &args.out, max_findings, remarks: "", runs: &done.runs };
    render::finish(&form, &done.outcome, &policy, trace.as_ref())
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
    global: &Global,
    watch: &Watch,
) -> Result<Option<Trace>, Failure> {
    let peeked = peeked.map_or_else(|| input::peek(path), Ok)?;
    if peeked.is_model(global) {
        return model(path, peeked, args, global, watch).map(|()| None);
    }
    let Read { trace, input } = read(path, peeked, global, watch)?;
    watch.draft().working_on(std::slice::from_ref(&input));
    let result = robust_trace(&trace, &args.options(), &watch.control())?;
    watch.done();
    global.remark(&result.remarks);
    watch.draft().add(vec![input], result);
    watch.draft().change(|outcome| {
        outcome.options.set("strict", args.counting.strict);
        watch.asked.set(&mut outcome.options);
    });
    Ok(Some(trace.trace))
}

/// Checks one model, and adds the result to the draft.
fn model(
    path: &Path,
    peeked: PeekedInput,
    args: &RobustArgs,
    global: &Global,
    watch: &Watch,
) -> Result<(), Failure> {
    let text = peeked.model_text(path)?;
    let input = Input::new(path, "model");
    watch.draft().working_on(std::slice::from_ref(&input));
    let model = Model::compile(&path.to_string_lossy(), &text)?;
    global.warn_of(model.warnings());
    let result = robust_model(&model, &args.model_options(), &watch.control())?;
    watch.draft().add(vec![input], result);
    watch.draft().change(|outcome| {
        outcome.options.set("strict", args.counting.strict);
        watch.asked.set(&mut outcome.options);
    });
    Ok(())
}
