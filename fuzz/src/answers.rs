//! Answers about consistency, each checked by the crate that does not know the engine.

use anyorder_certify::consistency as certify;
use anyorder_consistency::{
    Answer, Effort, Fact, FromTrace, Link, MailboxRule, PartialTrace, Procedure, Refutation,
    RefutationStep, Relation, Why, split_own_code,
};
use anyorder_system::Control;
use anyorder_formats::detect::Format;
use anyorder_formats::open::{OpenOptions, open};
use anyorder_trace::{EventId, Trace};

/// Reads an edtrace; `None` for one that does not read.
pub fn edtrace(text: &[u8], infer_coherence: bool) -> Option<Trace> {
    let options = OpenOptions { infer_coherence, ..OpenOptions::default() };
    let mut source = open(Format::Edtrace, Box::new(text), &options).ok()?;
    Trace::read(&mut *source).ok()
}

/// Returns the rule of the same name in the checker.
pub fn rule(rule: MailboxRule) -> certify::MailboxRule {
    match rule {
        MailboxRule::Fifo => certify::MailboxRule::Fifo,
        MailboxRule::Bag => certify::MailboxRule::Bag,
        MailboxRule::Delayed => certify::MailboxRule::Delayed,
    }
}

/// Decides with a procedure and has the answer checked. `None`: no question, not for this procedure, or too hard.
///
/// # Panics
///
/// Panics when the answer does not stand the check, which is what the fuzzer looks for.
pub fn verdict(
    trace: &Trace,
    mailboxes: MailboxRule,
    infer_coherence: bool,
    procedure: Procedure,
    conflicts: u64,
) -> Option<bool> {
    let options = FromTrace { mailboxes, infer_coherence };
    let (partial, _) = PartialTrace::from_trace(trace, &options).ok()?;
    let split = split_own_code(trace).expect("a trace that is a question can be split");
    let checked = split.as_ref().unwrap_or(trace);
    let effort = Effort { conflicts: Some(conflicts), refute: true, proof_bytes: None };
    let outcome = procedure.decide(&partial, effort, &Control::default()).ok()?;
    match outcome.answer {
        Answer::Consistent(slots) => {
            let order: Vec<EventId> =
                slots.into_iter().map(|slot| partial.events[slot as usize]).collect();
            certify::check_consistency_witness(checked, rule(mailboxes), &order)
                .unwrap_or_else(|error| panic!("{procedure:?} {mailboxes:?}: {error}"));
            Some(true)
        }
        Answer::Inconsistent(refutation) => {
            assert!(refutation.is_some() || procedure != Procedure::Solver, "no refutation");
            if let Some(refutation) = refutation {
                let proof = translated(&partial, &refutation);
                certify::check_inconsistency(checked, rule(mailboxes), &proof)
                    .unwrap_or_else(|error| panic!("{procedure:?} {mailboxes:?}: {error}"));
                keeps_its_text(checked, &proof);
            }
            Some(false)
        }
        Answer::Unknown(_) => None,
    }
}

/// Writes a proof and reads it again.
///
/// # Panics
///
/// Panics when something else comes back.
pub fn keeps_its_text(trace: &Trace, proof: &certify::ConsistencyProof) {
    let mut text = Vec::new();
    certify::write_proof(proof, trace, &mut text).expect("memory takes it");
    let again = certify::read_proof(&text[..], trace);
    let again = again.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&text)));
    assert!(again == *proof, "{}", String::from_utf8_lossy(&text));
}

/// Says the same of events and tasks of the trace.
fn translated(partial: &PartialTrace, refutation: &Refutation) -> certify::ConsistencyProof {
    let event = |slot: u32| partial.events[slot as usize];
    let task = |message: u32| partial.messages[message as usize].task;
    let fact = |fact: &Fact| match *fact {
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
        why: match &link.why {
            Why::Decided(decided) => certify::Why::Decided(fact(decided)),
            Why::Given(Relation::Program) => certify::Why::Program,
            Why::Given(Relation::ReadsFrom) => certify::Why::ReadsFrom,
            Why::Given(Relation::Coherence) => certify::Why::Coherence,
            Why::Given(Relation::FromReads) => certify::Why::FromReads,
            Why::Given(Relation::PostedBy) => certify::Why::PostedBy,
            Why::Given(Relation::Fork) => certify::Why::Fork,
            Why::Given(Relation::Join) => certify::Why::Join,
            Why::Given(Relation::Cancel) => certify::Why::Cancel,
            Why::Given(Relation::Enable) => certify::Why::Enable,
            Why::Given(Relation::Ended) => certify::Why::Ended,
        },
    };
    let steps = refutation.steps.iter().map(|step| match step {
        RefutationStep::Cycle(links) => {
            certify::RefutationStep::Cycle(links.iter().map(link).collect())
        }
        RefutationStep::ReadsOpen { read, other } => {
            certify::RefutationStep::ReadsOpen { read: event(*read), other: event(*other) }
        }
        RefutationStep::Ended { begins, end } => {
            certify::RefutationStep::Ended { begins: event(*begins), end: event(*end) }
        }
        RefutationStep::Derived(clause) => {
            certify::RefutationStep::Derived(clause.iter().map(fact).collect())
        }
        RefutationStep::Forget(clause) => {
            certify::RefutationStep::Forget(clause.iter().map(fact).collect())
        }
    });
    certify::ConsistencyProof { steps: steps.collect() }
}
