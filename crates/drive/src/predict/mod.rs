//! Predicts other orders of a recorded run. An analysis yields candidates, a search looks for their
//! witnesses, and the crate `certify` checks each witness independently.

mod analyse;
mod calls;
mod groups;
mod odd_calls;
mod order_of_calls;
mod placing;
mod replay_witness;
mod run;
mod search;
mod specifications;
mod stored;

pub use anyorder_predict::check::Pairs;
pub use replay_witness::{CheckedWitness, WitnessReplay, replay_witness};
pub use specifications::Specifications;
pub use stored::{Reordering, StoredWitness};

pub(crate) use analyse::{Analysed, KnownPairs, Question, analyse};
pub(crate) use calls::SpecifiedCalls;
pub(crate) use groups::{Pairs as EventPairs, group_findings};
pub(crate) use order_of_calls::order_of_calls;
pub(crate) use placing::Placing;
pub(crate) use replay_witness::{check_actions, wrong_witness};
pub(crate) use run::step_text;
pub(crate) use search::lanes;
pub(crate) use stored::step_fields;

use crate::certify::keep_true_reorderings;
use crate::control::JobControl;
use crate::failure::Failure;
use crate::kept::wrong_certificates;
use crate::limits;
use crate::limits::stopped_by;
use crate::not_understood::NotUnderstood;
use crate::remark::{Remark, Remarked};
use crate::result::{JobResult, Reported};
use crate::trace_input::{TraceInput, observed};
use crate::words::{DeadlockFinding, Predicted};
use analyse::analyse_stream;
use anyorder_common::numbers::plural;
use anyorder_finding::{Finding, Stats, Warning, WarningKind, assign_ids, option, stat};
use anyorder_predict::check::{Checked, Cut, Statistics};
use anyorder_predict::{Deadlock, Deadlocks, Reorders};
use anyorder_system::Control;
use anyorder_trace::{EventId, Tables, TaskKind, Trace, TraceSource};
use std::collections::BTreeMap;

/// The options of [`predict`] and [`predict_stream`].
#[derive(Clone, Debug)]
pub struct PredictOptions {
    /// The specifications of the objects in the trace; `None` means the built-in types.
    pub specifications: Option<Specifications>,
    /// The analysis that yields the candidates; `None` chooses it by the contents of the trace.
    pub analysis: Option<Analysis>,
    /// The pairs to search witnesses for.
    pub pairs: Pairs,
    /// Whether to search for witnesses.
    pub confirm: bool,
    /// The maximum number of event pairs listed for a finding; all are counted.
    pub max_pairs: usize,
    /// The limits of the search for witnesses.
    pub search: WitnessOptions,
}

impl Default for PredictOptions {
    fn default() -> PredictOptions {
        PredictOptions {
            specifications: None,
            analysis: None,
            pairs: Pairs::Auto,
            confirm: true,
            max_pairs: 1000,
            search: WitnessOptions::default(),
        }
    }
}

/// The limits of the search for witnesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WitnessOptions {
    /// The maximum number of events before the first action of a pair that the search may reorder;
    /// 0 means no bound.
    pub window: u64,
    /// The maximum number of solver conflicts for one pair.
    pub max_conflicts: u64,
    /// The maximum number of pairs to search witnesses for.
    pub max_tries: u64,
    /// The maximum number of events that all searches together may visit.
    pub max_work: u64,
    /// The maximum number of candidates kept; all are counted.
    pub max_candidates: usize,
    /// The maximum number of events of a trace whose candidates are searched.
    pub max_events: u64,
    /// Whether a limit counts that only left pairs open whose findings would be harmless.
    pub strict: bool,
}

impl WitnessOptions {
    /// The defaults.
    pub const DEFAULT: WitnessOptions = WitnessOptions {
        window: 1 << 20,
        max_conflicts: 20_000,
        max_tries: 100_000,
        max_work: 4_000_000_000,
        max_candidates: 100_000,
        max_events: 64_000_000,
        strict: false,
    };
}

impl Default for WitnessOptions {
    fn default() -> WitnessOptions {
        WitnessOptions::DEFAULT
    }
}

/// The relation that yields the candidates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Analysis {
    /// Happens-before: locks and signals keep their recorded order.
    Hb,
    /// Critical sections are ordered only where their memory accesses conflict.
    Wdc,
    /// Like `Wdc`, for all actions that a specification covers.
    Edc,
    /// Like `Edc`, with the rules of mailboxes. It needs the whole trace in memory.
    EventDriven,
}

impl Analysis {
    /// Returns the name under which results list it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Analysis::Hb => "hb",
            Analysis::Wdc => "wdc",
            Analysis::Edc => "edc",
            Analysis::EventDriven => "event-driven",
        }
    }
}

impl PredictOptions {
    /// Returns the analysis to use: the requested one, else the one that fits the contents of the
    /// trace.
    #[must_use]
    pub fn analysis(&self, tables: &Tables) -> Analysis {
        let posted = tables.tasks.iter().any(|task| task.kind == TaskKind::Posted);
        let fitting = if posted { Analysis::EventDriven } else { Analysis::Edc };
        self.analysis.unwrap_or(fitting)
    }

    /// Returns the maximum number of events to hold in memory, for a trace with these tables. A
    /// longer trace is for [`predict_stream`].
    #[must_use]
    pub fn max_held(&self, tables: &Tables) -> u64 {
        let streams = !self.confirm && self.analysis(tables) != Analysis::EventDriven;
        if streams { 0 } else { self.search.max_events }
    }
}

/// The result of a prediction.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// Findings, counts and limits.
    pub result: JobResult,
    /// The full witness of each finding that has one, in the order of the findings.
    pub witnesses: Vec<Option<Reordering>>,
}

/// Predicts conflicts in other orders of a recorded run, with a witness for each confirmed finding.
///
/// ```
/// use anyorder_drive::{JobControl, PredictOptions, TraceInput, predict};
/// use anyorder_formats::std::StdReader;
/// use anyorder_trace::{Problems, Trace};
///
/// // The lock orders the two writes in this run, and in no other.
/// let text = "T0|fork(T1)|1\nT0|w(x)|2\nT0|acq(l)|3\nT0|rel(l)|4\nT1|acq(l)|5\nT1|rel(l)|6\nT1|w(x)|7\n";
/// let control = JobControl::default();
/// let trace = Trace::read(&mut StdReader::new(text.as_bytes())).unwrap();
/// let input = TraceInput::new("run.std", trace, &Problems::default(), &control).unwrap();
/// let prediction = predict(&input, &PredictOptions::default(), &control).unwrap();
/// let found = &prediction.result.findings[0];
/// assert!(found.finding.confirmed == Some(true) && found.run.is_some());
/// ```
///
/// # Errors
///
/// Fails when the trace is partial, or when the specifications cannot be used.
pub fn predict(
    input: &TraceInput,
    options: &PredictOptions,
    control: &JobControl<'_>,
) -> Result<Prediction, Failure> {
    observed(&input.name, input.trace.tables())?;
    let mut result = JobResult::default();
    input.describe(&mut result);
    let question = Question::new(&input.name, options)?;
    let base = result.clone();
    let so_far = |deadlocks: &[DeadlockFinding], predicted: Vec<Predicted>, more: u64| {
        let mut so_far = base.clone();
        so_far.warnings.extend(left_out(&input.name, more));
        deadlocks.iter().for_each(|one| so_far.push(one.finding.clone(), None));
        predicted.into_iter().for_each(|one| so_far.push(one.finding, None));
        control.publish(so_far);
    };
    let known = KnownPairs { extra: &[], is_known: &|_| false, so_far: &so_far };
    let trace = &input.trace;
    let analysed = analyse(trace, &question, &known, control)?;
    result.remarks.extend(remark_unspecified(&input.name, &analysed.unspecified));
    let not_understood =
        input.not_understood.clone().with_unspecified(trace, &analysed.unspecified);
    result.warnings.extend(not_understood.of_unspecified(&input.name));
    result.warnings.extend(analysed.odd_calls.warnings(&input.name, trace));
    let mut predicted =
        assemble(&question, analysed, Some((trace, &not_understood)), result, control);
    let specifications = options.specifications.as_ref();
    let placed = |one: &Reported| one.finding.witness.is_some();
    let before: Vec<bool> = predicted.result.findings.iter().map(placed).collect();
    keep_true_reorderings(input, specifications, &mut predicted.result, control)?;
    let after = predicted.result.findings.iter().map(placed);
    for ((before, after), witness) in before.into_iter().zip(after).zip(&mut predicted.witnesses) {
        // A witness that was left out is not written to a file, either.
        witness.take_if(|_| before && !after);
    }
    Ok(predicted)
}

/// Lists the candidates of a trace that is not held in memory. Does not search for witnesses. Reads
/// the trace twice: `reopen` opens it again.
///
/// ```
/// use anyorder_drive::{PredictOptions, predict_stream};
/// use anyorder_system::Control;
/// use anyorder_trace::TraceSource;
/// use anyorder_formats::std::StdReader;
///
/// let text = "T0|fork(T1)|1\nT0|w(x)|2\nT1|w(x)|3\n";
/// let open = || -> Box<dyn TraceSource> { Box::new(StdReader::new(text.as_bytes())) };
/// let options = PredictOptions { confirm: false, ..PredictOptions::default() };
/// let control = Control::default();
/// let prediction =
///     predict_stream("run.std", &mut *open(), &mut || Ok(open()), &options, &control).unwrap();
/// assert_eq!(prediction.result.findings.len(), 1);
/// ```
///
/// # Errors
///
/// Fails when the trace cannot be read or is partial, when the specifications cannot be used, or
/// when the analysis needs the whole trace in memory.
pub fn predict_stream<'s>(
    name: &str,
    source: &mut dyn TraceSource,
    reopen: &mut dyn FnMut() -> Result<Box<dyn TraceSource + 's>, Failure>,
    options: &PredictOptions,
    control: &Control<'_>,
) -> Result<Prediction, Failure> {
    let question = Question::new(name, options)?;
    let (analysed, read) = analyse_stream(source, reopen, &question, control)?;
    let mut result = JobResult { warnings: read, ..JobResult::default() };
    if !options.confirm {
        result.bounded_by(option::NO_CONFIRM);
    } else if analysed.checked.statistics.candidates > 0 {
        result.cut_by(option::MAX_EVENTS);
    }
    Ok(assemble(&question, analysed, None, result, control))
}

/// Converts findings into a result. `held` is the trace if it is in memory.
fn assemble(
    question: &Question<'_>,
    analysed: Analysed,
    held: Option<(&Trace, &NotUnderstood)>,
    mut result: JobResult,
    control: &Control<'_>,
) -> Prediction {
    let Analysed { checked, predicted, deadlocks, analysis, reorders, .. } = analysed;
    if let Some(reason) = control.cancel.reason() {
        result.cut_by(stopped_by(reason));
    }
    add_outcome(question.name, &checked, &mut result);
    // The caller did not ask for conflicts beyond the candidates.
    let confirm = question.options.confirm;
    if !checked.all_pairs && confirm && !checked.cuts.contains(&Cut::Pairs) {
        result.bounded_by(option::PAIRS);
    }
    set_options(&mut result, question, (analysis, reorders), checked.all_pairs);
    result.stats = stats(&checked.statistics);
    add_deadlock_outcome(&deadlocks.outcome, &mut result);
    let of_deadlocks = deadlocks.findings.into_iter().map(|one| {
        let witness = deadlock_witness(&one.deadlock);
        let mut finding = one.finding;
        if let Some((trace, not_understood)) = held {
            not_understood.mark_deadlock(trace, &mut finding, &one.deadlock.requests);
        }
        (finding, witness)
    });
    let mut pairs: Vec<EventPairs> = vec![Vec::new(); of_deadlocks.len()];
    pairs.extend(predicted.iter().map(|one| one.found.event_pairs()));
    let (mut findings, witnesses): (Vec<Finding>, Vec<Option<Reordering>>) = of_deadlocks
        .chain(predicted.into_iter().map(|Predicted { finding, found }| {
            (finding, found.witness.map(|witness| Reordering::new(witness, reorders)))
        }))
        .unzip();
    assign_ids(&mut findings);
    let mut runs = vec![None; findings.len()];
    if let Some((trace, not_understood)) = held {
        let mut placing = Placing::new(trace, control);
        for ((finding, witness), run) in findings.iter_mut().zip(&witnesses).zip(&mut runs) {
            if let Some(witness) = witness {
                *run = placing.place(witness, finding);
            }
        }
        let of_each = findings.iter_mut().zip(&witnesses).zip(&pairs);
        let with_last = of_each.map(|((finding, witness), pairs)| {
            let last = last_of(trace, finding, pairs, witness.as_ref());
            (finding, last, pairs.as_slice())
        });
        not_understood.mark_all(trace, with_last);
        group_findings(trace, &mut findings, &pairs, &control.cancel);
    }
    findings.into_iter().zip(runs).for_each(|(finding, run)| result.push(finding, run));
    Prediction { result, witnesses }
}

/// Adds the limits that cut a prediction, and its remarks.
pub(crate) fn add_outcome(name: &str, checked: &Checked, result: &mut JobResult) {
    for cut in &checked.cuts {
        result.cut_by(limits::predicted(*cut));
    }
    if let Some(reason) = checked.stopped {
        result.cut_by(stopped_by(reason));
    }
    result.warnings.extend(left_out(name, checked.left_out));
    result.remarks.extend(remark_rejected(name, &checked.statistics));
    let rejected = checked.statistics.rejected;
    if rejected > 0 {
        result.warnings.push(wrong_certificates(name, rejected, "by the check of its order"));
    }
}

/// Adds the counts of a search for deadlocks, and the limits that cut it.
pub(crate) fn add_deadlock_outcome(deadlocks: &Deadlocks, result: &mut JobResult) {
    for cut in &deadlocks.cuts {
        if let Some(limit) = limits::deadlocks(*cut) {
            result.cut_by(limit);
        }
    }
    if let Some(reason) = deadlocks.stopped {
        result.cut_by(stopped_by(reason));
    }
    let decided = deadlocks.cycles - deadlocks.impossible - deadlocks.undecided;
    result
        .stats
        .set(stat::LOCK_CYCLES, deadlocks.cycles)
        .set(stat::DEADLOCKS, decided)
        .set(stat::LOCK_CYCLES_OPEN, deadlocks.undecided);
}

/// Returns the witness of a deadlock, if it has one.
pub(crate) fn deadlock_witness(deadlock: &Deadlock) -> Option<Reordering> {
    let witness = deadlock.witness()?.clone();
    Some(Reordering::of_deadlock(&deadlock.requests, witness))
}

/// Returns the last event that a finding rests on: the last one of its witness; the end of the
/// trace for a confirmed finding without a kept witness; else the last one of its sites, the first
/// of its `pairs`. A finding without events may rest on any event.
pub(crate) fn last_of(
    trace: &Trace,
    finding: &Finding,
    pairs: &[(EventId, EventId)],
    shown: Option<&Reordering>,
) -> EventId {
    let end = EventId(trace.len() as u32);
    match shown {
        None if finding.confirmed == Some(true) => end,
        None => pairs.first().map_or(end, |(a, b)| *a.max(b)),
        Some(Reordering { actions, witness, .. }) => {
            let prefix = EventId(witness.prefix.saturating_sub(1));
            let all = witness.order.iter().chain(actions).chain([&prefix]);
            all.copied().max().unwrap_or(end)
        }
    }
}

/// Warns about findings that were not built.
pub(crate) fn left_out(name: &str, count: u64) -> Option<Warning> {
    let text = format!("{} more, left out to end in time", plural(count, "finding"));
    (count > 0).then(|| Warning::new(WarningKind::Stopped, name, text, count))
}

/// Warns about objects that were ignored, because no specification gives the calls that commute.
fn remark_unspecified(name: &str, objects: &BTreeMap<String, u64>) -> Option<Remark> {
    const NAMED_MAX: usize = 5;
    let calls = objects.values().copied().reduce(u64::saturating_add)?;
    let more = objects.len().saturating_sub(NAMED_MAX);
    let objects = objects.keys().take(NAMED_MAX).cloned().collect();
    Some(Remark::on(name, Remarked::Unspecified { calls, objects, more }))
}

/// Warns about rejected witnesses: a bug in anyorder, which leaves their pairs unconfirmed.
fn remark_rejected(name: &str, statistics: &Statistics) -> Option<Remark> {
    let rejected = statistics.rejected;
    (rejected > 0).then(|| Remark::on(name, Remarked::Rejected(rejected)))
}

/// Returns the counts under their names in results.
pub(crate) fn stats(counts: &Statistics) -> Stats {
    let mut stats = Stats::new();
    stats
        .set(stat::EVENTS, counts.events)
        .set(stat::THREADS, counts.threads)
        .set(stat::ACCESSES, counts.accesses)
        .set(stat::INVOCATIONS, counts.invocations)
        .set(stat::LOCKS, counts.locks)
        .set(stat::CANDIDATES, counts.candidates)
        .set(stat::RACY, counts.racy)
        .set(stat::NON_RACY, counts.non_racy)
        .set(stat::CONFIRMED, counts.confirmed)
        .set(stat::DROPPED, counts.dropped)
        .set(stat::UNCONFIRMED, counts.unconfirmed)
        .set(stat::RACE_PAIRS, counts.race_pairs)
        .set(stat::MISSED_BY_ORDER, counts.missed_by_order)
        .set(stat::NOTES_OPEN, counts.notes_open);
    if counts.rejected > 0 {
        stats.set(stat::REJECTED, counts.rejected);
    }
    stats
}

fn set_options(
    result: &mut JobResult,
    question: &Question<'_>,
    (analysis, reorders): (Analysis, Reorders),
    all_pairs: bool,
) {
    let PredictOptions { specifications, confirm, max_pairs, search, .. } = question.options;
    let set = &mut result.options;
    set.set(option::ANALYSIS, analysis.word());
    set.set(option::REORDERS, reorders.word());
    if let Some(specifications) = specifications {
        specifications.set_options(set);
    }
    set.set(option::PAIRS, if all_pairs { "all" } else { "candidates" });
    set.set(option::NO_CONFIRM, !confirm);
    set.set(option::MAX_PAIRS, *max_pairs as u64);
    set.set(option::WINDOW, search.window);
    set.set(option::MAX_CONFLICTS, search.max_conflicts);
    set.set(option::MAX_TRIES, search.max_tries);
    set.set(option::MAX_WORK, search.max_work);
    set.set(option::MAX_CANDIDATES, search.max_candidates as u64);
    set.set(option::MAX_EVENTS, search.max_events);
}
