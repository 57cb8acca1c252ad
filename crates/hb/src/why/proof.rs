//! The form of a proof that one event happens before another.
//!
//! `anyorder-certify` uses the same form and re-checks proofs without depending on this crate.

use crate::relation::rules::Rule;
use anyorder_trace::EventId;

/// One step: `from` is before `to` by one application of `rule`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProofStep {
    /// The earlier event.
    pub from: EventId,
    /// The later event.
    pub to: EventId,
    /// The rule that orders them.
    pub rule: Rule,
    /// The lemmas that the rule needs, as positions in [`Proof::lemmas`].
    pub premises: Vec<u32>,
}

/// A proof: a path, and lemmas that its steps use. A lemma uses only earlier lemmas.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Proof {
    /// Paths that steps use.
    pub lemmas: Vec<Vec<ProofStep>>,
    /// The path from the earlier event to the later.
    pub path: Vec<ProofStep>,
}
