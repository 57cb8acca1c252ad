//! Explains why two events are ordered or unordered.

use crate::races::category::CapturedClocks;
use crate::races::unordered::{self, Reason};
use crate::relation::engine::{Engine, Mode};
use crate::relation::rules::RuleSet;
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::{EventId, Trace};

mod path;
mod proof;
mod prove;

pub use proof::{Proof, ProofStep};

/// The order of two events, explained.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderExplanation {
    /// The event that comes first in the trace.
    pub first: EventId,
    /// The other event.
    pub second: EventId,
    /// Whether the first happens before the second.
    pub ordered: bool,
    /// If they are not ordered, the reasons.
    pub reasons: Vec<Reason>,
    /// If they are ordered, the proof; absent where it would be too long.
    pub proof: Option<Proof>,
}

/// Explains the order of two events of a trace.
///
/// # Errors
///
/// Fails if it was cancelled.
///
/// # Panics
///
/// Panics if an event is not in the trace.
pub fn why(
    trace: &Trace,
    rules: RuleSet,
    a: EventId,
    b: EventId,
    cancel: &Cancel,
) -> Result<OrderExplanation, Stopped> {
    why_with_calls((trace, &[]), rules, a, b, cancel)
}

/// Works like [`why`], with the orders of some calls of objects, as
/// [`check_with_calls`](crate::check_with_calls) takes them.
///
/// # Errors
///
/// Fails if it was cancelled.
///
/// # Panics
///
/// Panics if an event is not in the trace.
pub fn why_with_calls(
    (trace, calls): (&Trace, &[(EventId, EventId)]),
    rules: RuleSet,
    a: EventId,
    b: EventId,
    cancel: &Cancel,
) -> Result<OrderExplanation, Stopped> {
    let (first, second) = (a.min(b), a.max(b));
    let by = |proof, ordered, reasons| OrderExplanation { first, second, ordered, reasons, proof };
    if first == second {
        // An event is not ordered with itself.
        return Ok(by(None, false, Vec::new()));
    }
    let mut engine = Engine::with_calls(trace, rules, Mode::EXACT, calls, cancel)?;
    let mut prover = prove::Prover::new(&mut engine, cancel);
    if prover.happens_before(first, second)? {
        return Ok(by(prover.prove(first, second)?, true, Vec::new()));
    }
    if let Some(reason) = prover.ended(first, second)? {
        return Ok(by(prover.prove_ended((first, second), reason)?, true, Vec::new()));
    }
    let mut needed = Vec::new();
    unordered::needs(&engine, first, second, &mut needed);
    let mut captured = CapturedClocks::new(needed.into_iter());
    engine.visit(&mut captured, cancel, &mut |_| ())?;
    let reasons = unordered::reasons(&engine, &captured, first, second);
    Ok(by(None, false, reasons))
}
