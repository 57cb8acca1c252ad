//! Decides whether some order of its messages explains a trace. The crate `certify`, which does not
//! depend on the engine, checks either answer.

mod finding;
mod proof;

pub use anyorder_consistency::{MailboxRule, Overtakings, Procedure};
pub use proof::Proof;

use crate::ISSUES;
use crate::failure::{Failure, LacksData, Unusable};
use crate::limits::stopped_by;
use crate::result::JobResult;
use crate::trace_input::TraceInput;
use anyorder_certify::{check_consistency_witness, check_inconsistency};
use anyorder_consistency::{
    Answer, ConsistencyStats, Effort, FromTrace, FromTraceError, Kept, Limit, PartialTrace,
    split_own_code,
};
use anyorder_finding as found;
use anyorder_finding::{OptionName, assign_ids, option, stat};
use anyorder_system::{Control, StopReason};
use anyorder_trace::{EventId, Trace, TraceOrder};
use proof::certified_rule;

/// The options of [`consistency`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConsistencyOptions {
    /// The order that mailboxes guarantee; `None` takes it from the trace.
    pub mailbox: Option<MailboxRule>,
    /// The decision procedure.
    pub procedure: Procedure,
    /// Whether to search for coherence orders that the trace leaves open.
    pub infer_coherence: bool,
    /// The maximum number of solver conflicts; enumerating procedures count attempts.
    pub max_conflicts: Option<u64>,
    /// Whether to return the proof of an inconsistency whatever its length.
    pub whole_proof: bool,
    /// The maximum number of reasons in the finding of an inconsistency.
    pub max_reasons: usize,
}

impl Default for ConsistencyOptions {
    fn default() -> ConsistencyOptions {
        ConsistencyOptions {
            mailbox: None,
            procedure: Procedure::Solver,
            infer_coherence: false,
            max_conflicts: None,
            whole_proof: false,
            max_reasons: 20,
        }
    }
}

/// The maximum size of a proof in bytes, unless the caller asks for the whole proof. Checking a
/// longer proof would take longer than finding it.
const PROOF_BYTES_MAX: usize = 32 << 20;

/// A checked answer.
#[derive(Clone, Debug)]
pub struct Consistency {
    /// The finding of an inconsistency, the counts and the limits.
    pub result: JobResult,
    /// The answer.
    pub verdict: Consistent,
    /// The decision problem.
    pub partial: PartialTrace,
    /// The parts of the trace inside and outside the decision problem.
    pub kept: Kept,
    /// The counts of the procedure.
    pub stats: ConsistencyStats,
    /// The procedure.
    pub procedure: Procedure,
    /// For a recorded run: whether the rules allow the recorded order, else the reason.
    pub recorded: Option<Result<(), String>>,
}

/// Whether a trace is consistent.
#[derive(Clone, Debug)]
pub enum Consistent {
    /// Consistent, by a run of these events.
    Yes(Vec<EventId>),
    /// Inconsistent, with the reason if the procedure gives one, and the checked proof.
    No(Option<Box<Proof>>),
    /// Nobody knows, because of the limit of this name.
    Unknown(OptionName),
}

/// Decides whether a trace is consistent: whether some order of its messages explains the value of
/// every read.
///
/// ```
/// use anyorder_drive::{Consistent, ConsistencyOptions, TraceInput, consistency};
/// use anyorder_system::Control;
/// use anyorder_formats::std::StdReader;
/// use anyorder_trace::{Problems, Trace};
///
/// let text = "T0|fork(T1)|1\nT0|w(x)|2\nT1|r(x)|3\n";
/// let control = Control::default();
/// let trace = Trace::read(&mut StdReader::new(text.as_bytes())).unwrap();
/// let input = TraceInput::new("run.std", trace, &Problems::default(), &control).unwrap();
/// let answer = consistency(&input, &ConsistencyOptions::default(), &control).unwrap();
/// assert!(matches!(answer.verdict, Consistent::Yes(order) if order.len() == 3));
/// ```
///
/// # Errors
///
/// Fails when the trace lacks data, or when the procedure cannot decide such traces.
///
/// # Panics
///
/// Panics when the independent checker rejects the answer, which is a bug in anyorder.
pub fn consistency(
    input: &TraceInput,
    options: &ConsistencyOptions,
    control: &Control<'_>,
) -> Result<Consistency, Failure> {
    let trace = &input.trace;
    let mut answer = decide(input, options, control)?;
    let mut result = JobResult::default();
    input.describe(&mut result);
    set_options(&mut result, options, &answer);
    match &answer.verdict {
        Consistent::Yes(_) => {}
        Consistent::Unknown(limit) => result.cut_by(*limit),
        Consistent::No(_) => {
            let mut finding = [finding::inconsistency(trace, &answer, options.max_reasons)];
            assign_ids(&mut finding);
            finding.into_iter().for_each(|finding| result.push(finding, None));
        }
    }
    set_stats(&mut result.stats, &answer);
    answer.result = result;
    Ok(answer)
}

impl Consistency {
    /// Counts the message pairs of a recorded run that ran against the order of their posts, by
    /// reason.
    #[must_use]
    pub fn overtakings(&self) -> Option<Overtakings> {
        self.recorded.as_ref().and_then(|_| Overtakings::of(&self.partial))
    }
}

fn decide(
    input: &TraceInput,
    options: &ConsistencyOptions,
    control: &Control<'_>,
) -> Result<Consistency, Failure> {
    // A trace that was not read to its end does not decide the options.
    let nothing = Trace::default();
    let trace = if control.cancel.reason().is_some() { &nothing } else { &input.trace };
    let lacks_data = |error| lacks_data(&input.name, trace, error);
    let rule = options.mailbox.unwrap_or_else(|| MailboxRule::recorded(trace));
    let procedure = options.procedure;
    control.progress.phase("preparing");
    let meaning = FromTrace { mailboxes: rule, infer_coherence: options.infer_coherence };
    let (partial, kept) = PartialTrace::from_trace(trace, &meaning).map_err(lacks_data)?;
    let split = split_own_code(trace).map_err(lacks_data)?;
    let checked = split.as_ref().unwrap_or(trace);
    control.progress.phase("solving");
    let proof_bytes = (!options.whole_proof).then_some(PROOF_BYTES_MAX);
    let effort = Effort { conflicts: options.max_conflicts, refute: true, proof_bytes };
    let outcome = match control.cancel.reason() {
        Some(reason) => stopped(reason, &partial),
        None => procedure
            .decide(&partial, effort, control)
            .map_err(|refused| Failure::input(&input.name, Unusable::Procedure(refused)))?,
    };
    control.progress.phase("checking the answer");
    let observed = trace.tables().meta.order == TraceOrder::Observed;
    let recorded = (observed && !trace.is_empty()).then(|| {
        let all: Vec<EventId> = (0..trace.len() as u32).map(EventId).collect();
        check_consistency_witness(checked, certified_rule(rule), &all).map_err(|error| {
            let label = trace.unique_label(error.event);
            format!("event `{label}`: {}", error.reason)
        })
    });
    let verdict = match outcome.answer {
        Answer::Consistent(slots) => {
            let order: Vec<EventId> =
                slots.into_iter().map(|slot| partial.events[slot as usize]).collect();
            if let Err(error) = check_consistency_witness(checked, certified_rule(rule), &order) {
                disagree(&error.to_string());
            }
            Consistent::Yes(order)
        }
        Answer::Inconsistent(None) => Consistent::No(None),
        Answer::Inconsistent(Some(refutation)) => {
            let certificate = proof::translated(&partial, &refutation);
            if let Err(error) = check_inconsistency(checked, certified_rule(rule), &certificate) {
                disagree(&error.to_string());
            }
            Consistent::No(Some(Box::new(Proof { refutation, certificate, split })))
        }
        Answer::Unknown(Limit::Stopped(reason)) => Consistent::Unknown(stopped_by(reason)),
        Answer::Unknown(Limit::Conflicts) => Consistent::Unknown(option::MAX_CONFLICTS),
    };
    // The rules cannot allow the recorded run of an inconsistent trace.
    if let (Consistent::No(_), Some(Ok(()))) = (&verdict, &recorded) {
        disagree("the recorded order is a run");
    }
    let (result, stats) = (JobResult::default(), outcome.stats);
    Ok(Consistency { result, verdict, partial, kept, stats, procedure, recorded })
}

fn stopped(reason: StopReason, partial: &PartialTrace) -> anyorder_consistency::Outcome {
    let answer = Answer::Unknown(Limit::Stopped(reason));
    anyorder_consistency::Outcome { answer, stats: ConsistencyStats::of(partial) }
}

fn disagree(what: &str) -> ! {
    panic!("the independent checker rejected the answer: {what}; see {ISSUES}")
}

/// Explains which data a trace lacks.
fn lacks_data(name: &str, trace: &Trace, error: FromTraceError) -> Failure {
    let of = match error {
        FromTraceError::NoWrite { event } | FromTraceError::NoSource { event } => {
            trace.label(event)
        }
        FromTraceError::NoCoherence { location } | FromTraceError::BadCoherence { location } => {
            trace.location_text(location)
        }
        FromTraceError::NoHandler { task } => trace.task_name(task).to_owned(),
    };
    Failure::input(name, Unusable::LacksData(LacksData { what: error, of }))
}

fn set_options(result: &mut JobResult, options: &ConsistencyOptions, answer: &Consistency) {
    let set = &mut result.options;
    set.set(option::MAILBOX, answer.partial.mailboxes.word());
    set.set(option::PROCEDURE, answer.procedure.name());
    set.set(option::INFER_CO, options.infer_coherence);
    set.set(option::MAX_REASONS, options.max_reasons as u64);
    set.set_some(option::MAX_CONFLICTS, options.max_conflicts);
}

/// Sets the counts under their names in results.
fn set_stats(stats: &mut found::Stats, answer: &Consistency) {
    let counts = &answer.stats;
    stats
        .set(stat::EVENTS, answer.kept.events)
        .set(stat::MESSAGES, answer.partial.messages.len() as u64)
        .set(stat::HANDLERS, answer.kept.handlers)
        .set(stat::PAIRS_TOTAL, counts.pairs_total)
        .set(stat::PAIRS, counts.pairs)
        .set(stat::VARIABLES, counts.variables)
        .set(stat::DECISIONS, counts.decisions)
        .set(stat::CONFLICTS, counts.conflicts)
        .set(stat::PROPAGATIONS, counts.propagations)
        .set(stat::CANDIDATES, counts.candidates)
        .set(stat::PROCEDURE, answer.procedure.name());
}
