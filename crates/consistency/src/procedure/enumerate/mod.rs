//! Enumeration of message orders with saturation.
//!
//! **Problem.** Given a trace without the orders of its messages, find an order of every pair of
//! posted messages of one handler such that all orders together are acyclic.
//!
//! **Source.** Algorithm 1 of "Checking Consistency of Event-driven Traces" (section 5.1):
//! enumerate the orders, saturate after each choice. The rules and edges are in
//! [`saturate`](crate::saturate).
//!
//! **Guarantee.** Exact: it decides every trace, given time. Consistent answers carry an order that
//! satisfies the full problem; inconsistent ones carry a complete refutation on request.
//!
//! **Naive version.** All orders of all handlers, each tested for cycles at the end.
//!
//! **Worked example.** Posters P, Q and the messages a1, a2 of P and b1, b2 of Q on one handler: a1
//! before a2 and b1 before b2 are forced. The first open pair is decided: a1 before b1. If this
//! closes a cycle through the decisions d1 .. dn, the clause "not all of d1 .. dn" is learned, all
//! levels above the last of them are undone, and its opposite holds there.
//!
//! **Deviations.** 1. Orders of posts are not enumerated: under the mailbox rules they follow from
//! those of messages, or do not matter. 2. After a conflict the search returns to the last decision
//! behind it, not merely to the last one: pairs unrelated to the conflict are not tried in both
//! ways.
//!
//! **Cost.** Exponential in the undecided pairs in the worst case. Each order found costs one
//! update of the closure; each conflict costs one search of the graph for every order behind it.

use super::{Effort, Outcome, Unsupported};
use crate::answer::{Answer, ConsistencyStats, Limit, Link, Refutation, RefutationStep};
use crate::full::order_all;
use crate::partial::{MessageId, PartialTrace};
use crate::saturate::{Conflict, Rules, Saturation, Start};
use anyorder_system::{Control, Stopped};
use search::Search;

mod conflict;
mod search;

/// Decides consistency by enumerating message orders.
///
/// # Errors
///
/// Refuses traces whose coherence or ends are open.
pub(crate) fn enumerate(
    trace: &PartialTrace,
    effort: Effort,
    control: &Control<'_>,
) -> Result<Outcome, Unsupported> {
    enumerate_by(trace, Rules::ALL, effort, control)
}

/// [`enumerate`] with some rules or edges disabled; for tests.
///
/// # Errors
///
/// Refuses traces whose coherence or ends are open.
pub fn enumerate_by(
    trace: &PartialTrace,
    rules: Rules,
    effort: Effort,
    control: &Control<'_>,
) -> Result<Outcome, Unsupported> {
    if !trace.open.is_empty() {
        return Err(Unsupported::OpenCoherence);
    }
    if !trace.ends.is_empty() {
        return Err(Unsupported::OpenEnds);
    }
    let mut stats = ConsistencyStats::of(trace);
    let answer = match Saturation::start(trace, rules, control) {
        Err(Stopped(reason)) => Answer::Unknown(Limit::Stopped(reason)),
        Ok(Start::Cyclic(cycle)) => Answer::Inconsistent(Some(one_cycle(cycle))),
        Ok(Start::Ready(saturation)) => Search::new(*saturation, effort, control, &mut stats).run(),
    };
    Ok(Outcome { answer, stats })
}

/// The answer for a trace that saturation alone refutes.
pub(super) fn refute_start(
    saturation: Saturation<'_>,
    conflict: Conflict,
    effort: Effort,
    control: &Control<'_>,
    stats: &mut ConsistencyStats,
) -> Answer {
    let mut search = Search::new(saturation, effort, control, stats);
    // Without decisions the clause is empty, and the refutation is complete.
    let _ = search.learn(conflict);
    search.refuted()
}

/// The refutation by a cycle of given orders.
pub(super) fn one_cycle(cycle: Vec<Link>) -> Refutation {
    Refutation { steps: vec![RefutationStep::Cycle(cycle), RefutationStep::Derived(Vec::new())] }
}
