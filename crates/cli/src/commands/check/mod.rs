//! `anyorder check`: reads the inputs, runs the engine, prints what it found.

pub(crate) use aside::Aside;
pub(crate) use models::set_limits;

mod aside;

mod models;

mod predictions;

mod varied;

use crate::args::{CheckArgs, Global, ProcedureArg};
use crate::commands::consistency;
use crate::commands::predict::UNCONFIRMED;
use crate::commands::read::{Read, read_begun};
use crate::commands::render::{self, Form};
use crate::consistent::{Question, Verdict, examine};
use crate::engine;
use crate::failure::{Failure, print_messages};
use crate::input::Begun;
use crate::watch::Watch;
use crate::witness::{Replay, place_for};
use anyorder_common::text::quote;
use anyorder_drive::{JobResult, add_stats};
use anyorder_finding::run::{Run, Runs};
use anyorder_finding::{Finding, Input, Outcome};
use anyorder_trace::{Trace, TraceOrder};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;
use varied::Given;

/// How many reasons of an inconsistency are told; `anyorder consistency` tells more.
const REASONS_MAX: usize = 20;

/// Checks all inputs, prints the findings, and returns the exit status they give.
pub(crate) fn run(args: &CheckArgs, global: &Global) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    let aside = Aside::read(&args.counting)?;
    let watch = Watch::start(global, &args.limits)?;
    let mut outcome = Outcome::new("check", env!("CARGO_PKG_VERSION"));
    let mut failures = Vec::new();
    let mut shown_trace = None;
    // The run of each finding, where it has one, in the order of the findings.
    let mut told: Vec<Option<Run>> = Vec::new();
    match varied::split(args, global) {
        Err(failure) => failures.push(failure),
        Ok(Given::Varied(varied)) => {
            let (inputs, result) = varied::check(varied, args, global, &watch)?;
            outcome.inputs = inputs;
            add(&mut outcome, &mut told, result, args, global, &watch);
        }
        Ok(Given::Inputs(inputs)) => {
            for (path, begun) in inputs {
                let known = outcome.findings.len();
                match begun.and_then(|begun| {
                    one(&path, begun, args, global, &watch, &mut outcome, &mut told)
                }) {
                    Ok(trace) => shown_trace = trace,
                    Err(failure) => failures.push(failure),
                }
                if args.inputs.len() > 1 {
                    let input = path.to_string_lossy().into_owned();
                    let found = outcome.findings.iter_mut().skip(known);
                    found.for_each(|finding| finding.input = Some(input.clone()));
                }
            }
        }
    }
    watch.done();
    if let Some(failure) = Failure::join(failures) {
        return Err(failure);
    }
    let policy = args.counting.policy(vec![UNCONFIRMED.to_owned()]);
    predictions::number(&mut outcome.findings);
    predictions::name_again(&mut outcome.findings);
    let ids = outcome.findings.iter().map(|finding| finding.id.clone());
    let runs: Runs = ids.zip(told).filter_map(|(id, run)| Some((id, run?))).collect();
    let again = command(args);
    place_for(&mut outcome.findings, replay(args, &again), args.program.as_deref())?;
    aside.apply(&mut outcome.findings, global.quiet);
    outcome.findings.sort_by(Finding::rank);
    outcome.judge(&policy);
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    outcome.stats.set("elapsed_ms", elapsed_ms);
    aside.write(&outcome.findings)?;
    // A timeline shows one recorded run; with several inputs the report has the findings only.
    let observed = |trace: &Trace| trace.tables().meta.order == TraceOrder::Observed;
    let trace = shown_trace.filter(|trace| args.inputs.len() == 1 && observed(trace));
    let form = Form { out: &args.out, max_findings: args.max_findings, remarks: "", runs: &runs };
    render::finish(&form, &outcome, &policy, trace.as_ref())
}

/// Reads and checks one input; adds what was found to the result.
fn one(
    path: &Path,
    begun: Begun,
    args: &CheckArgs,
    global: &Global,
    watch: &Watch,
    outcome: &mut Outcome,
    runs: &mut Vec<Option<Run>>,
) -> Result<Option<Trace>, Failure> {
    if begun.is_model(global) {
        let several = args.inputs.len() > 1;
        if several && (args.search.checkpoint.is_some() || args.search.resume.is_some()) {
            return Err(Failure::new("`--checkpoint` and `--resume` are for one model at a time"));
        }
        let text = begun.model_text(path)?;
        let result = models::check(path, &text, args, global, watch)?;
        add(outcome, runs, result, args, global, watch);
        let path = path.to_string_lossy().into_owned();
        outcome.inputs.push(Input { path, format: "model".to_owned() });
        return Ok(None);
    }
    let control = watch.control();
    let Read { trace, format, damaged, not_understood, warnings } =
        read_begun(path, begun, global, watch)?;
    outcome.warnings.extend(warnings);
    if let Some(reason) = watch.stopped() {
        outcome.cut_by(reason.word());
    }
    if damaged {
        outcome.cut_by("salvage");
    }
    if trace.tables().meta.order == TraceOrder::Partial {
        partial(path, &trace, args, global, watch, outcome)?;
        let path = path.to_string_lossy().into_owned();
        outcome.inputs.push(Input { path, format: format.word().to_owned() });
        return Ok(Some(trace));
    }
    let mut analysis = engine::check(&trace, args, &control);
    for finding in &mut analysis.findings {
        if finding.replay.is_none() {
            finding.replay = why_command(path, finding);
        }
    }
    add_stats(&mut outcome.stats, &analysis.stats);
    if predictions::fits(&trace, &analysis, args) {
        let races = std::mem::take(&mut analysis.findings);
        predictions::add(
            path,
            &trace,
            races,
            args,
            global,
            &control,
            outcome,
            runs,
            not_understood,
        )?;
    } else {
        not_understood.mark_by_sites(&trace, analysis.findings.iter_mut());
    }
    runs.resize(runs.len().max(outcome.findings.len()), None);
    outcome.findings.append(&mut analysis.findings);
    runs.resize(outcome.findings.len(), None);
    if let Some(limit) = analysis.limit {
        outcome.cut_by(limit);
    }
    let path = path.to_string_lossy().into_owned();
    outcome.inputs.push(Input { path, format: format.word().to_owned() });
    set_options(outcome, args, analysis.rules, analysis.coverage);
    Ok(Some(trace))
}

/// Adds what a job found to a result.
fn add(
    outcome: &mut Outcome,
    runs: &mut Vec<Option<Run>>,
    result: JobResult,
    args: &CheckArgs,
    global: &Global,
    watch: &Watch,
) {
    watch.done();
    if !global.quiet {
        print_messages(&result.remarks);
    }
    result.limits.iter().for_each(|limit| outcome.cut_by(limit));
    result.bounds.iter().for_each(|bound| outcome.bounded_by(bound));
    add_stats(&mut outcome.stats, &result.stats);
    for (name, value) in result.options.iter() {
        outcome.options.set(name, value.clone());
    }
    outcome.options.set("strict", args.counting.strict);
    set_limits(&mut outcome.options, &args.limits);
    runs.resize(outcome.findings.len(), None);
    for found in result.findings {
        outcome.findings.push(found.finding);
        runs.push(found.run);
    }
}

/// Checks a partial trace: what it can be asked is whether it is consistent.
fn partial(
    path: &Path,
    trace: &Trace,
    args: &CheckArgs,
    global: &Global,
    watch: &Watch,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let question = Question {
        mailbox: None,
        procedure: ProcedureArg::Auto,
        infer_co: global.infer_co,
        max_conflicts: None,
        whole_proof: false,
    };
    let examined = examine(trace, &question, &watch.control())
        .map_err(|refused| consistency::failure(path, trace, &refused))?;
    match &examined.verdict {
        Verdict::Consistent(_) => {}
        Verdict::Unknown(limit) => outcome.cut_by(limit),
        Verdict::Inconsistent(_) => {
            let mut finding = consistency::inconsistency(trace, &examined, REASONS_MAX);
            let quoted = quote(&path.to_string_lossy());
            finding.replay = Some(format!("anyorder consistency {quoted}"));
            outcome.findings.push(finding);
        }
    }
    let mut stats = anyorder_finding::Stats::new();
    consistency::set_stats(&mut stats, &examined);
    add_stats(&mut outcome.stats, &stats);
    set_options(outcome, args, "consistency", "");
    Ok(())
}

fn set_options(outcome: &mut Outcome, args: &CheckArgs, rules: &str, coverage: &str) {
    let options = &mut outcome.options;
    // Several inputs may differ in what `auto` chose; then each word that was chosen is named.
    for (name, word) in [("rules", rules), ("coverage", coverage)] {
        if word.is_empty() {
            continue;
        }
        let before = match options.get(name) {
            Some(anyorder_finding::OptionValue::Text(before)) => before.clone(),
            _ => String::new(),
        };
        if before.is_empty() {
            options.set(name, word.to_owned());
        } else if !before.split('+').any(|one| one == word) {
            options.set(name, format!("{before}+{word}"));
        }
    }
    options.set("group-by", engine::group_by(args).word().to_owned());
    options.set("max-pairs", args.max_pairs as u64);
    options.set("no-filters", args.no_filters);
    options.set("strict", args.counting.strict);
    set_limits(options, &args.limits);
}

/// Returns the command that explains the first pair of a race.
fn why_command(path: &Path, finding: &Finding) -> Option<String> {
    let [a, b] = finding.pairs.first()?;
    let quoted = [path.to_string_lossy().as_ref(), a, b].map(quote);
    Some(format!("anyorder why {}", quoted.join(" ")))
}

/// Returns how the findings of models are replayed.
fn replay<'a>(args: &'a CheckArgs, command: &'a str) -> Replay<'a> {
    Replay::of(args.search.schedules.as_deref(), &args.out, command)
}

/// Returns the command that prints the same findings as JSON.
fn command(args: &CheckArgs) -> String {
    let inputs: Vec<String> =
        args.inputs.iter().map(|path| quote(&path.to_string_lossy())).collect();
    let first = if args.search.first { " --first" } else { "" };
    let program = args.program.iter().map(|program| format!(" --program {}", quote(program)));
    let program: String = program.collect();
    let reduction = if args.search.no_reduction { " --no-reduction" } else { "" };
    let bounds = [
        ("max-states", args.search.max_states),
        ("max-depth", args.search.max_depth.map(u64::from)),
    ];
    let bounds = bounds.iter().filter_map(|(name, most)| Some(format!(" --{name} {}", (*most)?)));
    let bounds: String = bounds.collect();
    let inputs = inputs.iter().map(|input| format!(" {input}")).collect::<String>();
    format!("anyorder check{inputs}{program}{first}{reduction}{bounds} --format json")
}
