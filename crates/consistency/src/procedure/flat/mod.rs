//! A search over the orders of posts, for traces without nested posting.
//!
//! **Problem.** Given a trace in which only initial messages post: can the handlers run it?
//!
//! **Source.** "Checking Consistency of Event-driven Traces", section 4 and appendix D (Theorem
//! 4.1). The procedure sketched there is unsound, and the problem of the theorem is NP-hard;
//! `README.md` in this folder has the argument, and the bound of this procedure.
//!
//! **Guarantee.** Exact: every answer is right, given time. Consistent answers carry the run found.
//! Inconsistent ones have a refutation only if saturation alone found it.
//!
//! **Naive version.** All interleavings of all handlers, with the mailboxes.
//!
//! **Worked example.** P posts a, Q posts b, both to an idle handler under FIFO, and a reads what b
//! writes. No step is harmless: posting a excludes that b runs first. If a is posted first, a
//! begins and waits for b for ever: a dead end. If b is posted first, the run completes. Saturation
//! finds by itself that b is first.
//!
//! **Deviations.** 1. The order of pending messages is part of a configuration. 2. Saturation comes
//! first, and the search obeys the orders that it forces. 3. Harmless steps are executed without
//! branching.
//!
//! **Cost.** Configurations: at most n^k, times n (w + 1)^k k^w for each handler, with k posters,
//! at most n events a handler and at most w messages waiting in a mailbox. Each takes O(messages)
//! memory while it is open, and O(handlers + waiting messages) for ever. The time is quadratic in
//! the messages of a handler in the worst case.

use super::{Effort, Outcome, Unsupported};
use crate::answer::{Answer, ConsistencyStats, Limit};
use crate::partial::PartialTrace;
use crate::procedure::enumerate::{one_cycle, refute_start};
use crate::saturate::{Graph, Rules, Saturation, Start};
use anyorder_system::{Control, Stopped};
use search::Search;
use state::Orders;

mod search;
mod state;

/// The parts of [`flat_by`] that are enabled; for tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlatRules {
    /// Saturate first, and obey the orders that it forces.
    pub saturate: bool,
    /// Remember the order in which pending messages were posted. The sketch of the paper does not,
    /// and is unsound.
    pub queue_order: bool,
}

impl FlatRules {
    /// All parts.
    pub const ALL: FlatRules = FlatRules { saturate: true, queue_order: true };
}

/// Decides consistency of a trace in which only initial messages post.
///
/// # Errors
///
/// Refuses traces with nested posting, and those whose coherence is open.
pub(crate) fn flat(
    trace: &PartialTrace,
    effort: Effort,
    control: &Control<'_>,
) -> Result<Outcome, Unsupported> {
    flat_by(trace, FlatRules::ALL, effort, control)
}

/// [`flat`] with some parts disabled; for tests.
///
/// # Errors
///
/// Refuses traces with nested posting, and those whose coherence is open.
pub fn flat_by(
    trace: &PartialTrace,
    rules: FlatRules,
    effort: Effort,
    control: &Control<'_>,
) -> Result<Outcome, Unsupported> {
    if !trace.open.is_empty() {
        return Err(Unsupported::OpenCoherence);
    }
    if !trace.ends.is_empty() {
        return Err(Unsupported::OpenEnds);
    }
    if let Some(message) = trace.nested() {
        return Err(Unsupported::Nested { message });
    }
    let mut stats = ConsistencyStats::of(trace);
    let answer = decide(trace, rules, effort, control, &mut stats)
        .unwrap_or_else(|Stopped(reason)| Answer::Unknown(Limit::Stopped(reason)));
    Ok(Outcome { answer, stats })
}

fn decide(
    trace: &PartialTrace,
    rules: FlatRules,
    effort: Effort,
    control: &Control<'_>,
    stats: &mut ConsistencyStats,
) -> Result<Answer, Stopped> {
    if !rules.saturate {
        stats.pairs = stats.pairs_total;
        let graph = Graph::new(trace);
        return match graph.backward_cycle() {
            Some(cycle) => Ok(Answer::Inconsistent(Some(one_cycle(cycle)))),
            None => Search::new(&graph, Orders { saturation: None, queue: rules.queue_order })
                .run(effort, control, stats),
        };
    }
    let mut saturation = match Saturation::start(trace, Rules::ALL, control)? {
        Start::Cyclic(cycle) => return Ok(Answer::Inconsistent(Some(one_cycle(cycle)))),
        Start::Ready(saturation) => saturation,
    };
    if let Err(conflict) = saturation.first_round() {
        stats.propagations = saturation.trail.len() as u64;
        return Ok(refute_start(*saturation, conflict, effort, control, stats));
    }
    control.check()?;
    stats.propagations = saturation.trail.len() as u64;
    stats.pairs = stats.pairs_total - stats.propagations;
    let orders = Orders { saturation: Some(&saturation), queue: rules.queue_order };
    Search::new(&saturation.graph, orders).run(effort, control, stats)
}
