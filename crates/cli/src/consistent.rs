//! Decides consistency, and has both answers checked by the crate that does not know the engine.

use crate::args::{MailboxArg, ProcedureArg};
use crate::panic::ISSUES;
use anyorder_certify::consistency as certify;
use anyorder_certify::{check_consistency_witness, check_inconsistency};
use anyorder_consistency::{
    Answer, Effort, Fact, FromTrace, FromTraceError, Kept, Limit, Link, MailboxRule, Unsupported,
    PartialTrace, Procedure, Refutation, Relation, Stats, Step, Why, split_own_code,
};
use anyorder_system::{Control, StopReason};
use anyorder_trace::{EventId, TaskId, Trace, TraceOrder};
use std::time::Instant;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    /// What the mailboxes promise; `None` for what the trace records.
    pub(crate) mailbox: Option<MailboxArg>,
    pub(crate) procedure: ProcedureArg,
    pub(crate) infer_co: bool,
    pub(crate) max_conflicts: Option<u64>,
    /// Whether the proof of an inconsistency is wanted however long it is.
    pub(crate) whole_proof: bool,
}

/// A proof of more bytes is given up unless it was asked for: to check it would take longer than to find it.
const PROOF_BYTES_MAX: usize = 32 << 20;

/// The answer, checked again.
pub(crate) struct Examined {
    pub(crate) verdict: Verdict,
    pub(crate) partial: PartialTrace,
    pub(crate) kept: Kept,
    pub(crate) stats: Stats,
    pub(crate) procedure: Procedure,
    /// The time of the procedure alone.
    pub(crate) solve_ms: u64,
    /// For recorded runs: whether the recorded order is a run that the rules allow, else why not.
    pub(crate) recorded: Option<Result<(), String>>,
}

/// The answer itself.
pub(crate) enum Verdict {
    /// With a run.
    Consistent(Vec<EventId>),
    /// With the reason, if the procedure gives one, and the proof that was checked.
    Inconsistent(Option<Box<Proof>>),
    /// With the name of the limit.
    Unknown(&'static str),
}

/// Why a trace is inconsistent, for people and for the checker.
pub(crate) struct Proof {
    pub(crate) refutation: Refutation,
    pub(crate) certificate: certify::ConsistencyProof,
    /// The trace that the certificate is about: each piece of a handler's own code between tasks is a task of its own.
    pub(crate) split: Option<Trace>,
}

/// Why there is no answer.
pub(crate) enum Refused {
    Trace(FromTraceError),
    Procedure(Unsupported),
}

/// Decides whether a trace is consistent.
///
/// # Panics
///
/// Panics when the answer does not stand the independent check: that is a bug of ours.
pub(crate) fn examine(
    trace: &Trace,
    question: &Question,
    control: &Control<'_>,
) -> Result<Examined, Refused> {
    // A trace that was not read to its end is no question.
    let nothing = Trace::default();
    let trace = if control.cancel.reason().is_some() { &nothing } else { trace };
    let rule = rule(trace, question.mailbox);
    let procedure = match question.procedure {
        ProcedureArg::Auto | ProcedureArg::Solver => Procedure::Solver,
        ProcedureArg::Enumerate => Procedure::Enumerate,
        ProcedureArg::Flat => Procedure::Flat,
    };
    control.progress.phase("preparing");
    let options = FromTrace { mailboxes: rule, infer_coherence: question.infer_co };
    let (partial, kept) = PartialTrace::from_trace(trace, &options).map_err(Refused::Trace)?;
    let split = split_own_code(trace).map_err(Refused::Trace)?;
    let checked = split.as_ref().unwrap_or(trace);
    control.progress.phase("solving");
    let proof_bytes = (!question.whole_proof).then_some(PROOF_BYTES_MAX);
    let effort = Effort { conflicts: question.max_conflicts, refute: true, proof_bytes };
    let started = Instant::now();
    let outcome = match control.cancel.reason() {
        Some(reason) => stopped(reason, &partial),
        None => procedure.decide(&partial, effort, control).map_err(Refused::Procedure)?,
    };
    let solve_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    control.progress.phase("checking the answer");
    let observed = trace.tables().meta.order == TraceOrder::Observed;
    let recorded = (observed && !trace.is_empty()).then(|| {
        let all: Vec<EventId> = (0..trace.len() as u32).map(EventId).collect();
        check_consistency_witness(checked, certified_rule(rule), &all).map_err(|error| {
            let label = crate::commands::consistency::label(trace, error.event);
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
            Verdict::Consistent(order)
        }
        Answer::Inconsistent(None) => Verdict::Inconsistent(None),
        Answer::Inconsistent(Some(refutation)) => {
            let certificate = translated(&partial, &refutation);
            if let Err(error) = check_inconsistency(checked, certified_rule(rule), &certificate) {
                disagree(&error.to_string());
            }
            Verdict::Inconsistent(Some(Box::new(Proof { refutation, certificate, split })))
        }
        Answer::Unknown(Limit::Stopped(reason)) => Verdict::Unknown(reason.word()),
        Answer::Unknown(Limit::Conflicts) => Verdict::Unknown("max-conflicts"),
    };
    // The recorded run of an inconsistent trace cannot be one that the rules allow.
    if let (Verdict::Inconsistent(_), Some(Ok(()))) = (&verdict, &recorded) {
        disagree("the recorded order is a run");
    }
    Ok(Examined { verdict, partial, kept, stats: outcome.stats, procedure, solve_ms, recorded })
}

fn stopped(reason: StopReason, partial: &PartialTrace) -> anyorder_consistency::Outcome {
    let stats = Stats {
        events: partial.events.len() as u64,
        messages: partial.messages.len() as u64,
        handlers: u64::from(partial.handlers),
        pairs_total: partial.pairs(),
        ..Stats::default()
    };
    anyorder_consistency::Outcome { answer: Answer::Unknown(Limit::Stopped(reason)), stats }
}

fn disagree(what: &str) -> ! {
    panic!("the answer did not stand the independent check: {what}; see {ISSUES}")
}

fn rule(trace: &Trace, asked: Option<MailboxArg>) -> MailboxRule {
    match asked {
        None => MailboxRule::recorded(trace),
        Some(MailboxArg::Fifo) => MailboxRule::Fifo,
        Some(MailboxArg::Bag) => MailboxRule::Bag,
        Some(MailboxArg::Delayed) => MailboxRule::Delayed,
    }
}

fn certified_rule(rule: MailboxRule) -> certify::MailboxRule {
    match rule {
        MailboxRule::Fifo => certify::MailboxRule::Fifo,
        MailboxRule::Bag => certify::MailboxRule::Bag,
        MailboxRule::Delayed => certify::MailboxRule::Delayed,
    }
}

/// Says the same of events and tasks of the trace.
fn translated(partial: &PartialTrace, refutation: &Refutation) -> certify::ConsistencyProof {
    let event = |slot: u32| partial.events[slot as usize];
    let task = |message: u32| -> TaskId { partial.messages[message as usize].task };
    let fact = |fact: Fact| match fact {
        Fact::Runs { first, second } => {
            certify::Fact::Runs { first: task(first), second: task(second) }
        }
        Fact::Before { first, second } => {
            certify::Fact::Before { first: event(first), second: event(second) }
        }
    };
    let link = |link: &Link| certify::Link {
        from: event(link.from),
        to: event(link.to),
        why: match link.why {
            Why::Decided(decided) => certify::Why::Decided(fact(decided)),
            Why::Given(Relation::Program) => certify::Why::Program,
            Why::Given(Relation::ReadsFrom) => certify::Why::ReadsFrom,
            Why::Given(Relation::Coherence) => certify::Why::Coherence,
            Why::Given(Relation::FromReads) => certify::Why::FromReads,
            Why::Given(Relation::PostedBy) => certify::Why::PostedBy,
            Why::Given(Relation::Fork) => certify::Why::Fork,
            Why::Given(Relation::Join) => certify::Why::Join,
        },
    };
    let facts = |clause: &[Fact]| clause.iter().map(|one| fact(*one)).collect();
    let steps = refutation.steps.iter().map(|step| match step {
        Step::Cycle(links) => certify::Step::Cycle(links.iter().map(link).collect()),
        Step::ReadsOpen { read, other } => {
            certify::Step::ReadsOpen { read: event(*read), other: event(*other) }
        }
        Step::Derived(clause) => certify::Step::Derived(facts(clause)),
        Step::Forget(clause) => certify::Step::Forget(facts(clause)),
    });
    certify::ConsistencyProof { steps: steps.collect() }
}
