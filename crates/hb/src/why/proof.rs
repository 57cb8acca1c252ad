//! What a proof that one event happens before another looks like.
//!
//! The shape is that of `anyorder-certify`, which re-checks proofs without knowing this crate.

use crate::relation::rules::Rule;
use anyorder_trace::EventId;

/// One step: `from` is before `to` by one application of `rule`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProofStep {
    /// The earlier event.
    pub from: EventId,
    /// The later event.
    pub to: EventId,
    /// Why.
    pub rule: Rule,
    /// The lemmas that the rule needs, as positions in [`Proof::lemmas`].
    pub premises: Vec<u32>,
}

/// A proof: a path, and the paths that its steps lean on. A lemma leans on lemmas before it only.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Proof {
    /// Paths that steps lean on.
    pub lemmas: Vec<Vec<ProofStep>>,
    /// The way from the earlier event to the later.
    pub path: Vec<ProofStep>,
}
