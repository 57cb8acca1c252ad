//! The proof of an inconsistency, translated for the checker and written as a certificate.

use anyorder_certify::consistency as certify;
use anyorder_consistency::{
    Fact, Link, MailboxRule, PartialTrace, Refutation, RefutationStep, Relation, Why,
};
use anyorder_trace::{TaskId, Trace};
use std::io;

/// The reason of an inconsistency, as text and as a proof.
#[derive(Clone, Debug)]
pub struct Proof {
    pub(super) refutation: Refutation,
    pub(super) certificate: certify::ConsistencyProof,
    /// The trace that the certificate is about. Each piece of a handler's own code between tasks is
    /// a separate task there.
    pub(super) split: Option<Trace>,
}

impl Proof {
    /// Returns the number of its steps.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.refutation.steps.len()
    }

    /// Writes the proof about `trace` in the format of certificates.
    ///
    /// # Errors
    ///
    /// Fails when `out` does.
    pub fn write(&self, trace: &Trace, out: &mut dyn io::Write) -> io::Result<()> {
        certify::write_proof(&self.certificate, self.split.as_ref().unwrap_or(trace), out)
    }
}

pub(super) fn certified_rule(rule: MailboxRule) -> certify::MailboxRule {
    match rule {
        MailboxRule::Fifo => certify::MailboxRule::Fifo,
        MailboxRule::Bag => certify::MailboxRule::Bag,
        MailboxRule::Delayed => certify::MailboxRule::Delayed,
    }
}

/// Translates a refutation to events and tasks of the trace.
pub(super) fn translated(
    partial: &PartialTrace,
    refutation: &Refutation,
) -> certify::ConsistencyProof {
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
            Why::Given(Relation::Cancel) => certify::Why::Cancel,
            Why::Given(Relation::Enable) => certify::Why::Enable,
            Why::Given(Relation::Ended) => certify::Why::Ended,
        },
    };
    let facts = |clause: &[Fact]| clause.iter().map(|one| fact(*one)).collect();
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
        RefutationStep::Derived(clause) => certify::RefutationStep::Derived(facts(clause)),
        RefutationStep::Forget(clause) => certify::RefutationStep::Forget(facts(clause)),
    });
    certify::ConsistencyProof { steps: steps.collect() }
}
