//! `anyorder check`: reads the inputs, checks each with its job, and prints the findings.

pub(crate) use accepted::AcceptedFindings;

mod accepted;
mod home;
mod varied;

use crate::args::{CheckArgs, Global};
use crate::commands::home as apps;
use crate::commands::page::{self, GivenPage};
use crate::commands::predict::{UNCONFIRMED, given_specifications};
use crate::commands::runner::{Ending, Runner};
use crate::failure::{Failure, Usage};
use crate::guard::{Document, Kind};
use crate::input::{self, PeekedInput};
use crate::load::{Read, read};
use crate::search_watch::SearchWatch;
use crate::source_lines::add_recorded_lines;
use crate::watch::Watch;
use crate::witness::Replay;
use anyorder_common::numbers::plural;
use anyorder_common::text::quote;
use anyorder_drive::home_assistant::{self, check_home};
use anyorder_drive::model::{Model, check_model_watched};
use anyorder_drive::page::PageProgram;
use anyorder_drive::states::CheckResult;
use anyorder_drive::stopped_by;
use anyorder_drive::{CheckTraceOptions, JobResult, check_trace};
use anyorder_drive::{Remark, Remarked};
use anyorder_finding::{Finding, Input, Outcome, Warning, WarningKind, option, stat};
use anyorder_system::StopReason;
use anyorder_trace::{Trace, TraceOrder};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use varied::CheckInputs;

/// Checks all inputs, prints the findings, and returns the exit status.
pub(crate) fn run(args: &CheckArgs, global: &Global, watch: &Watch) -> Result<ExitCode, Failure> {
    if let Some(file) = &args.steps.record_actions
        && let Some(page) = page::find(&args.inputs, &args.page, Some(&args.steps))?
    {
        page.record(&args.inputs, &args.page, file)?;
        return Ok(ExitCode::SUCCESS);
    }
    let policy = args.counting.policy(vec![UNCONFIRMED.to_owned()]);
    let document = Document {
        command: "check",
        out: args.out.clone(),
        max_findings: args.list.max_findings,
        policy,
        kind: Kind::Search,
    };
    let runner = Runner::begin(document, global, watch).accepting(&args.counting)?;
    let page = page::find(&args.inputs, &args.page, Some(&args.steps))?;
    let mut subject = args.program.as_ref().map(|program| format!("--program {}", quote(program)));
    if let Some(page) = &page {
        subject = Some(page.subject(&args.inputs, &args.page));
    }
    let mut complete = None;
    let trace = check_all(args, page, &mut complete, &runner)?;
    let rerun_command = command(args);
    let replay = Replay::of(args.search.schedules.as_deref(), &args.out, &rerun_command);
    // A timeline shows one recorded run; with several inputs the report has the findings only.
    let observed = |trace: &Trace| trace.tables().meta.order == TraceOrder::Observed;
    let trace = trace.filter(|trace| args.inputs.len() == 1 && observed(trace));
    runner.finish(Ending {
        replay: Some((replay, subject.as_deref())),
        change: &|outcome| {
            outcome.findings.iter_mut().for_each(|finding| set_replay(args, finding));
        },
        trace: trace.as_ref(),
        complete: &|schedule| {
            if let Some(page) = &complete {
                page.add_responses(schedule);
            }
        },
        ..Ending::default()
    })
}

/// Checks all inputs, and adds the results to the draft. Returns the last trace. A failure names
/// all unreadable inputs.
fn check_all(
    args: &CheckArgs,
    page: Option<GivenPage>,
    opened: &mut Option<PageProgram>,
    runner: &Runner<'_>,
) -> Result<Option<Trace>, Failure> {
    let (global, watch) = (runner.global, runner.watch);
    let add = |inputs: Vec<Input>, result: JobResult| {
        runner.ended(&result);
        runner.add(inputs, result, |options| {
            options.set(option::STRICT, args.counting.strict);
        });
    };
    let mut last = None;
    let options = args.trace_options(given_specifications(&args.types)?, global);
    if let Some(page) = page {
        args.inputs.iter().try_for_each(|path| refuse_specifications(path, args))?;
        let input = Input::new(&page.name, "page");
        runner.working_on(&input);
        let (program, mut inputs, result) = varied::check_page(page, args, global, watch)?;
        *opened = Some(program);
        inputs.insert(0, input);
        add(inputs, result);
        return Ok(None);
    }
    let (homes, others) = homes(&args.inputs, global);
    if let (Some(_), Some(path)) = (homes.first(), others.first()) {
        return Err(Usage::Unexpected { path: path.clone() }.into());
    }
    if !homes.is_empty() {
        for path in homes {
            refuse_specifications(&path, args)?;
            let input = Input::new(&path, "home_assistant");
            watch.draft().working_on(std::slice::from_ref(&input));
            let budget = watch.budget(args.budget)?;
            let states =
                args.search.max_states.map(|most| usize::try_from(most).unwrap_or(usize::MAX));
            let mut result = check_home(&path, states, &budget, &watch.control())?;
            result.options.set(option::BUDGET, format!("{:?}", args.budget));
            add(vec![input], result);
        }
        return Ok(None);
    }
    if let Some(apps) = apps::find(&args.inputs, &args.home)? {
        args.inputs.iter().try_for_each(|path| refuse_specifications(path, args))?;
        if args.home.pairs {
            let mut add = |inputs, result| add(inputs, result);
            let left = home::pairs(&apps, args, watch, &mut add)?;
            if let Some(reason) = watch.stopped().filter(|_| left > 0) {
                watch.draft().change(|outcome| leave_out(left, "pair", reason, outcome));
            }
        } else {
            let (inputs, result) = home::together(&apps, args, watch)?;
            add(inputs, result);
        }
        return Ok(None);
    }
    match varied::split(args, global)? {
        CheckInputs::Varied(varied) => {
            args.inputs.iter().try_for_each(|path| refuse_specifications(path, args))?;
            let (inputs, result) = varied::check(varied, args, global, watch)?;
            add(inputs, result);
        }
        CheckInputs::Inputs(inputs) => {
            let mut failures = Vec::new();
            for (done, (path, peeked)) in inputs.into_iter().enumerate() {
                if let Some(reason) = watch.stopped().filter(|_| done > 0) {
                    watch.draft().change(|outcome| {
                        leave_out(args.inputs.len() - done, "input", reason, outcome)
                    });
                    break;
                }
                let peeked = peeked.unwrap_or_else(|| input::peek(&path));
                match peeked
                    .map_err(Failure::from)
                    .and_then(|peeked| one(&path, peeked, (args, &options), global, watch))
                {
                    Ok((input, result, trace)) => {
                        add(vec![input], result);
                        last = trace;
                    }
                    Err(failure) => failures.push(failure),
                }
            }
            if let Some(failure) = Failure::join(failures) {
                watch.done();
                return Err(failure);
            }
        }
    }
    Ok(last)
}

/// Splits the inputs: configurations of Home Assistant, and others.
fn homes(inputs: &[PathBuf], global: &Global) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let is_home = |path: &&PathBuf| {
        home_assistant::is_home(path)
            || path.is_file() && input::peek(path).is_ok_and(|peeked| peeked.is_home(global))
    };
    let (homes, others): (Vec<_>, Vec<_>) = inputs.iter().partition(is_home);
    (homes.into_iter().cloned().collect(), others.into_iter().cloned().collect())
}

/// Tells that a limit came before the last inputs, or pairs of them, were read.
fn leave_out(count: usize, what: &str, reason: StopReason, outcome: &mut Outcome) {
    outcome.cut_by(stopped_by(reason));
    outcome.warnings.push(Warning {
        kind: WarningKind::Stopped,
        input: None,
        text: format!("{reason}: {} not read", plural(count as u64, what)),
        count: count as u64,
        places: Vec::new(),
    });
}

/// Reads and checks one input.
fn one(
    path: &Path,
    peeked: PeekedInput,
    (args, options): (&CheckArgs, &CheckTraceOptions),
    global: &Global,
    watch: &Watch,
) -> Result<(Input, JobResult, Option<Trace>), Failure> {
    if peeked.is_model(global) {
        refuse_specifications(path, args)?;
        let several = args.inputs.len() > 1;
        if several && (args.search.checkpoint.is_some() || args.search.resume.is_some()) {
            return Err(Usage::OneModel.into());
        }
        let text = peeked.model_text(path)?;
        let input = Input::new(path, "model");
        watch.draft().working_on(std::slice::from_ref(&input));
        let result = model(path, &text, args, global, watch)?;
        return Ok((input, result, None));
    }
    let Read { trace, input } = read(path, peeked, global, watch)?;
    watch.draft().working_on(std::slice::from_ref(&input));
    let mut result = check_trace(&trace, options, &watch.control())?;
    if trace.is_partial() {
        result.stats.set(stat::SOLVE_MS, watch.phase_ms("solving"));
    }
    add_recorded_lines(path, &trace.trace, &mut result);
    Ok((input, result, Some(trace.trace)))
}

/// Fails where specifications are given for what is no trace: a model has its own in it.
fn refuse_specifications(path: &Path, args: &CheckArgs) -> Result<(), Usage> {
    let option = if args.types.spec.is_some() { "--spec" } else { "--object" };
    let usage = || Usage::OptionOf { path: path.to_owned(), option, kind: "traces" };
    if args.types.is_given() { Err(usage()) } else { Ok(()) }
}

/// Checks a model: searches its states, and reports violated properties.
fn model(
    path: &Path,
    text: &str,
    args: &CheckArgs,
    global: &Global,
    watch: &Watch,
) -> Result<JobResult, Failure> {
    let model = Model::compile(&path.to_string_lossy(), text)?;
    let options = args.search.options();
    global.warn_of(model.warnings());
    global.remark(&options.plan(&model).1);
    let mut follower = SearchWatch::new(watch, &args.search);
    let checked = check_model_watched(&model, &options, &watch.control(), &mut follower)?;
    let CheckResult { mut result, never_run } = checked;
    if !never_run.is_empty() {
        result.stats.set(stat::NEVER_RUN, never_run.join("; ").as_str());
    }
    let warn = |words| Remark::on(path.to_string_lossy(), Remarked::NeverRun(words));
    result.remarks.extend(never_run.into_iter().map(warn));
    args.search.set(&mut result.options);
    Ok(result)
}

/// Sets the command that checks the witness of a prediction again.
fn set_replay(args: &CheckArgs, finding: &mut Finding) {
    let witness = finding.witness.as_ref();
    if finding.replay.is_some() || witness.is_none_or(|witness| witness.format != "reordering") {
        return;
    }
    let only = || args.inputs.first().map(|path| path.to_string_lossy().into_owned());
    let Some(trace) = finding.input.clone().or_else(only) else { return };
    let trace = quote(&trace);
    let types = args.types.words();
    let rerun_command = format!("anyorder check {trace}{types} --format json");
    let command = Replay::Command(&rerun_command).command(&trace, &finding.id);
    finding.replay = Some(command + &types);
}

/// Returns the command that prints the same findings as JSON.
fn command(args: &CheckArgs) -> String {
    let search = &args.search;
    let shown = |path: &Path| quote(&path.to_string_lossy());
    let mut words = vec!["anyorder check".to_owned()];
    words.extend(args.inputs.iter().map(|path| quote(&path.to_string_lossy())));
    words.extend(args.program.iter().map(|program| format!("--program {}", quote(program))));
    words.extend(args.page.serve.iter().map(|dir| format!("--serve {}", shown(dir))));
    words.extend(args.page.actions.iter().map(|file| format!("--actions {}", shown(file))));
    let stored = args.page.storage_state.iter();
    words.extend(stored.map(|file| format!("--storage-state {}", shown(file))));
    // What a header says may be secret.
    words.extend(args.page.header.iter().map(|(name, _)| format!("--header '{name}: ...'")));
    words.extend(args.page.browser.iter().map(|path| format!("--browser {}", shown(path))));
    words.extend(args.page.network_faults.then(|| "--network-faults".to_owned()));
    words.extend(args.page.slow_document.then(|| "--slow-document".to_owned()));
    words.extend(args.steps.crawl.map(|most| format!("--crawl {most}")));
    words.extend(args.home.pairs.then(|| "--pairs".to_owned()));
    words.extend(args.home.as_published.then(|| "--as-published".to_owned()));
    words.extend(args.home.is_queued().then(|| "--events queued".to_owned()));
    words.extend(search.first.then(|| "--first".to_owned()));
    words.extend(search.no_reduction.then(|| "--no-reduction".to_owned()));
    words.extend(search.algorithm_word().map(|word| format!("--algorithm {word}")));
    words.extend(search.max_states.map(|most| format!("--max-states {most}")));
    words.extend(search.max_depth.map(|most| format!("--max-depth {most}")));
    words.push("--format json".to_owned());
    words.join(" ")
}
