//! Shared by the tests of proofs.
#![allow(dead_code, reason = "each test binary uses its own part")]

use anyorder_certify::{Proof, ProofStep, Reason, Rule, RuleSet, check_proof};
use anyorder_trace::{EventId, Input, InputFamily, InputId, TableFull, Trace, TraceBuilder};

pub(crate) type Built = Result<(), TableFull>;

pub(crate) fn step(from: EventId, to: EventId, rule: Rule) -> ProofStep {
    ProofStep::new(from, to, rule)
}

/// The reason why a proof is refused, or `None`.
pub(crate) fn refusal(trace: &Trace, rules: RuleSet, proof: &Proof) -> Option<Reason> {
    let (from, to) = (proof.path.steps[0].from, proof.path.steps[proof.path.steps.len() - 1].to);
    check_proof(trace, rules, proof, from, to).err().map(|error| error.reason)
}

#[track_caller]
pub(crate) fn holds(trace: &Trace, rules: RuleSet, proof: &Proof) {
    assert_eq!(refusal(trace, rules, proof), None);
}

#[track_caller]
pub(crate) fn fails(trace: &Trace, rules: RuleSet, proof: &Proof) {
    let reason = refusal(trace, rules, proof);
    assert!(matches!(reason, Some(Reason::Condition(_) | Reason::Kind(_))), "{reason:?}");
}

pub(crate) fn one(from: EventId, to: EventId, rule: Rule) -> Proof {
    Proof::of([step(from, to, rule)])
}

/// An input of the lifecycle family.
pub(crate) fn lifecycle(b: &mut TraceBuilder, state: &str) -> Result<InputId, TableFull> {
    let state = b.interner.name(state)?;
    let family = InputFamily::Lifecycle;
    b.interner.input(Input { family, state, instance: 7, ..Input::default() })
}
