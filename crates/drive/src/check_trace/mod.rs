//! Checks one trace: happens-before races, with predictions for traces of threads. A partial trace
//! is checked for consistency.

mod predictions;
mod transactions;

use crate::certify::keep_true_reorderings;
use crate::consistency::{ConsistencyOptions, consistency};
use crate::control::JobControl;
use crate::failure::Failure;
use crate::limits::stopped_by;
use crate::predict::{
    EventPairs, Specifications, WitnessOptions, group_findings, last_of, left_out, order_of_calls,
};
use crate::result::JobResult;
use crate::rules::fitting_rules;
use crate::trace_input::TraceInput;
use crate::words::{self, RaceFinding};
use anyorder_common::text::quote;
use anyorder_finding::run::Run;
use anyorder_finding::{
    CoverageLevel, Finding, Ordered, Stats, assign_groups_of_memory, assign_ids, option, stat,
};
use anyorder_hb::{GroupBy, RaceOptions, RuleSet, Statistics, check_with_calls};
use anyorder_system::Control;
use anyorder_trace::{EventId, TaskKind, Trace};

/// The options of [`check_trace`].
#[derive(Clone, Debug)]
pub struct CheckTraceOptions {
    /// The specifications of the objects in the trace; `None` means the built-in types.
    pub specifications: Option<Specifications>,
    /// The end of commands that explain a finding, with a blank before it: what tells them how the
    /// trace is meant.
    pub more_words: String,
    /// The rules that order events; `None` chooses them by the contents of the trace.
    pub rules: Option<RuleSet>,
    /// When a race counts as covered; `None` takes the default of the rules.
    pub coverage: Option<CoverageLevel>,
    /// How races are grouped into findings.
    pub group_by: GroupBy,
    /// The maximum number of event pairs listed for a finding; all are counted.
    pub max_pairs: usize,
    /// Whether late registrations and unload-like patterns are filtered out.
    pub filters: bool,
    /// Whether to predict other orders of a trace of threads.
    pub predict: bool,
    /// The limits of the search for witnesses.
    pub witnesses: WitnessOptions,
    /// Whether `begin` and `end` of threads mark atomic blocks, whose serializability is checked;
    /// `None` if the trace tells: where a thread begins more than twice.
    pub transactions: Option<bool>,
    /// Whether a partial trace may leave coherence orders open.
    pub infer_coherence: bool,
}

impl Default for CheckTraceOptions {
    fn default() -> CheckTraceOptions {
        CheckTraceOptions {
            specifications: None,
            more_words: String::new(),
            rules: None,
            coverage: None,
            group_by: GroupBy::Field,
            max_pairs: 1000,
            filters: true,
            predict: true,
            witnesses: WitnessOptions::default(),
            transactions: None,
            infer_coherence: false,
        }
    }
}

/// Checks a trace. A recorded run is checked for races. If it has threads and no posted tasks,
/// other orders of the run are predicted, too. A partial trace is checked for consistency.
///
/// A finding has a [`run`](crate::Reported::run) where another order of the recorded events shows
/// it. The `number` of a step is the label of its event.
///
/// ```
/// use anyorder_drive::{CheckTraceOptions, JobControl, TraceInput, check_trace};
/// use anyorder_formats::std::StdReader;
/// use anyorder_trace::{Problems, Trace};
///
/// let text = "T0|fork(T1)|1\nT0|w(x)|2\nT1|w(x)|3\n";
/// let control = JobControl::default();
/// let trace = Trace::read(&mut StdReader::new(text.as_bytes())).unwrap();
/// let input = TraceInput::new("run.std", trace, &Problems::default(), &control).unwrap();
/// let result = check_trace(&input, &CheckTraceOptions::default(), &control).unwrap();
/// assert_eq!(result.findings.len(), 1);
/// assert_eq!(result.findings[0].finding.pairs, [["2", "3"]]);
/// ```
///
/// # Errors
///
/// Fails when the trace lacks data that a decision about its consistency needs, or when the
/// specifications cannot be used.
///
/// # Panics
///
/// Panics when the independent checker rejects the answer about a partial trace.
pub fn check_trace(
    input: &TraceInput,
    options: &CheckTraceOptions,
    control: &JobControl<'_>,
) -> Result<JobResult, Failure> {
    let mut result = JobResult::default();
    if let Some(reason) = control.cancel.reason() {
        result.cut_by(stopped_by(reason));
    }
    if input.is_partial() {
        return check_partial(input, options, result, control);
    }
    input.describe(&mut result);
    let trace = &input.trace;
    let rules = options.rules.unwrap_or_else(|| fitting_rules(trace));
    let fitting = RaceOptions::new(rules);
    let predicts = options.predict && rules == RuleSet::Threads && !has_posts(trace);
    let of_engine = RaceOptions {
        coverage: options.coverage.map_or(fitting.coverage, words::level_of),
        group_by: options.group_by,
        max_pairs: options.max_pairs,
        filters: options.filters,
        keep_order: predicts,
        ..fitting
    };
    control.progress.phase("checking");
    let level = Some(words::level(of_engine.coverage));
    let Some(calls) = order_of_calls(trace, options.specifications.as_ref(), &control.cancel)?
    else {
        if let Some(reason) = control.cancel.reason() {
            result.cut_by(stopped_by(reason));
        }
        set_options(&mut result, options, rules.word(), level);
        return Ok(result);
    };
    let mut checked = check_with_calls(trace, &calls, &of_engine, control);
    let names = (input.name.as_str(), options.more_words.as_str());
    let races = words::races(names, trace, &mut checked, &of_engine);
    result.stats = stats(&checked.statistics);
    let stopped = checked.stopped;
    let found = if predicts && stopped.is_none() {
        publish(&input.name, (Vec::new(), &races, Vec::new(), 0), &result, control);
        predictions::add(input, (checked, races), options, control, &mut result)?
    } else {
        without_runs(input, races)
    };
    let (mut findings, runs, pairs): (Vec<_>, Vec<_>, Vec<_>) = found.into_iter().collect();
    // Makes the ids unique within this input.
    assign_ids(&mut findings);
    group_findings(trace, &mut findings, &pairs, &control.cancel);
    if options.group_by == GroupBy::Sites {
        assign_groups_of_memory(&mut findings);
    }
    findings.into_iter().zip(runs).for_each(|(finding, run)| result.push(finding, run));
    if rules == RuleSet::Threads && !has_posts(trace) && stopped.is_none() {
        transactions::add(input, options, control, &mut result);
    }
    keep_true_reorderings(input, options.specifications.as_ref(), &mut result, control)?;
    if let Some(reason) = stopped {
        result.cut_by(stopped_by(reason));
    }
    set_options(&mut result, options, rules.word(), level);
    Ok(result)
}

/// The findings so far, the most important first: deadlocks, races of happens-before and
/// predictions, and the number of others.
type SoFar<'a> = (Vec<Finding>, &'a [RaceFinding], Vec<Finding>, u64);

/// The maximum number of races of happens-before that are given to the caller before the end.
/// A result that is written in a hurry has no more, and each of them is copied each time.
const RACES_SO_FAR_MAX: usize = 1_000;

/// Gives the findings so far to the caller: the races of happens-before, before the long search for
/// predictions, and what that search has found.
fn publish(
    name: &str,
    (deadlocks, races, predicted, more): SoFar<'_>,
    result: &JobResult,
    control: &JobControl<'_>,
) {
    let (shown, others) = races.split_at(races.len().min(RACES_SO_FAR_MAX));
    let shown = shown.iter().map(|race| race.finding.clone());
    let mut findings: Vec<Finding> = deadlocks.into_iter().chain(shown).chain(predicted).collect();
    assign_ids(&mut findings);
    let mut so_far = result.clone();
    so_far.warnings.extend(left_out(name, more + others.len() as u64));
    findings.into_iter().for_each(|finding| so_far.push(finding, None));
    control.publish(so_far);
}

/// Findings, each with its run and its pairs of events.
type WithRuns = Vec<(Finding, Option<Run>, EventPairs)>;

/// Returns the findings without runs. Marks those that rest on operations that were not understood.
fn without_runs(input: &TraceInput, races: Vec<RaceFinding>) -> WithRuns {
    let (mut findings, pairs): (Vec<Finding>, Vec<EventPairs>) =
        races.into_iter().map(|race| (race.finding, race.pairs)).unzip();
    let last =
        |(finding, pairs): (&Finding, &EventPairs)| last_of(&input.trace, finding, pairs, None);
    let last: Vec<EventId> = findings.iter().zip(&pairs).map(last).collect();
    let of_each = findings.iter_mut().zip(last).zip(&pairs);
    let of_each = of_each.map(|((finding, last), pairs)| (finding, last, pairs.as_slice()));
    input.not_understood.mark_all(&input.trace, of_each);
    findings.into_iter().zip(pairs).map(|(finding, pairs)| (finding, None, pairs)).collect()
}

/// Returns whether tasks of a trace were posted; otherwise it has only threads.
fn has_posts(trace: &Trace) -> bool {
    trace.tables().tasks.iter().any(|task| task.kind == TaskKind::Posted)
}

/// Checks whether a partial trace is consistent.
fn check_partial(
    input: &TraceInput,
    options: &CheckTraceOptions,
    mut result: JobResult,
    control: &Control<'_>,
) -> Result<JobResult, Failure> {
    let consistency_options = ConsistencyOptions {
        infer_coherence: options.infer_coherence,
        ..ConsistencyOptions::default()
    };
    let found = consistency(input, &consistency_options, control)?.result;
    result.warnings = found.warnings;
    result.limits.extend(found.limits);
    result.stats = found.stats;
    result.findings = found.findings;
    for one in &mut result.findings {
        one.finding.replay = Some(format!("anyorder consistency {}", quote(&input.name)));
    }
    set_options(&mut result, options, "consistency", None);
    Ok(result)
}

fn set_options(
    result: &mut JobResult,
    options: &CheckTraceOptions,
    rules: &str,
    coverage: Option<CoverageLevel>,
) {
    let set = &mut result.options;
    set.set(option::RULES, rules);
    set.set_some(option::COVERAGE, coverage.map(CoverageLevel::word));
    set.set(option::GROUP_BY, options.group_by.word());
    set.set(option::MAX_PAIRS, options.max_pairs as u64);
    set.set(option::NO_FILTERS, !options.filters);
    if let Some(specifications) = &options.specifications {
        specifications.set_options(set);
    }
}

/// Returns the counts under their names in results.
fn stats(counts: &Statistics) -> Stats {
    let by_category: Ordered<u64> =
        counts.races_by_category.0.iter().map(|(category, n)| (category.word(), *n)).collect();
    let mut stats = Stats::new();
    stats
        .set(stat::EVENTS, counts.events)
        .set(stat::TASKS, counts.tasks)
        .set(stat::HANDLERS, counts.handlers)
        .set(stat::THREADS, counts.threads)
        .set(stat::LOCKS, counts.locks)
        .set(stat::LOCATIONS, counts.locations)
        .set(stat::HB_EDGES, counts.hb_edges)
        .set(stat::ROUNDS, counts.rounds)
        .set(stat::CHAINS, counts.chains)
        .set(stat::RACE_PAIRS, counts.race_pairs)
        .set(stat::RACES, counts.races)
        .set(stat::RACES_UNCOVERED, counts.races_uncovered)
        .set(stat::RACES_BY_CATEGORY, by_category);
    stats
}
