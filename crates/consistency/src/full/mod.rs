//! The full problem: all orders are given, those of the messages of each handler too.
//!
//! **Problem.** Given a trace and, for each handler, an order of its posted messages: is the union
//! of all orders acyclic? **Source.** The axioms of "Checking Consistency of Event-driven Traces",
//! section 2.3, where this is called the polynomial case. **Guarantee.** Exact: a total order of
//! all slots, or a cycle. **Cost.** Linear in slots, given orders and messages under FIFO and bag
//! mailboxes; under delayed ones, also quadratic in the messages of a handler.
//!
//! The orders of messages are transitive, so a handler with M of them says M² things. They are not
//! listed: beside the slots there is a line of *express* nodes for each handler, which one enters
//! at the end of a message and leaves at the beginning of any later one; and another line for the
//! posts.

use crate::answer::Link;
use crate::partial::{MessageId, PartialTrace, Slot};
use crate::saturate::{Graph, Rules};
use express::Express;

mod cycle;
mod express;
mod order;

/// Why a trace is not consistent with given orders of messages.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotFull {
    /// The order given for a handler does not name each of its posted messages once.
    #[error("the order of handler {handler} does not name each of its posted messages once")]
    NotAnOrder {
        /// The handler, as a number.
        handler: u32,
    },
    /// The coherence order of a location is not given.
    #[error("the coherence order of a location is not given")]
    OpenCoherence,
    /// A cycle of given and decided orders: the trace is inconsistent with these orders of
    /// messages.
    #[error("the orders have a cycle of {} steps", .0.len())]
    Cycle(Vec<Link>),
}

/// Checks a trace with an order of the posted messages of each handler; `orders` has one entry a
/// handler.
///
/// Returns a total order of all slots, always with the smallest slot that can come next; it is an
/// order in which the handlers can run them.
///
/// # Errors
///
/// A cycle when there is no such order, with as few orders between messages as a bounded search
/// finds; or what is wrong with the question.
///
/// # Panics
///
/// Panics when the trace names slots or messages that it does not have.
pub fn check_full(trace: &PartialTrace, orders: &[Vec<MessageId>]) -> Result<Vec<Slot>, NotFull> {
    check_full_by(trace, orders, Rules::ALL)
}

/// [`check_full`] with some edges left out; for tests.
#[doc(hidden)]
pub fn check_full_by(
    trace: &PartialTrace,
    orders: &[Vec<MessageId>],
    rules: Rules,
) -> Result<Vec<Slot>, NotFull> {
    if !trace.open.is_empty() {
        return Err(NotFull::OpenCoherence);
    }
    if let Some(handler) = not_an_order(trace, orders) {
        return Err(NotFull::NotAnOrder { handler });
    }
    let graph = Graph::new(trace);
    if let Some(cycle) = graph.backward_cycle() {
        return Err(NotFull::Cycle(cycle));
    }
    order_all(&graph, orders, rules).map_err(NotFull::Cycle)
}

/// Orders all slots of a graph by its orders and those of the messages, or finds a cycle.
pub(crate) fn order_all(
    graph: &Graph<'_>,
    orders: &[Vec<MessageId>],
    rules: Rules,
) -> Result<Vec<Slot>, Vec<Link>> {
    let express = Express::new(graph, orders, rules);
    order::order(&express).map_err(|rest| cycle::short_cycle(&express, &rest))
}

/// A cycle of the given orders of a graph that has one.
pub(crate) fn given_cycle(graph: &Graph<'_>) -> Vec<Link> {
    order_all(graph, &[], Rules::ALL).err().unwrap_or_default()
}

/// The first handler whose order does not name each of its posted messages once.
fn not_an_order(trace: &PartialTrace, orders: &[Vec<MessageId>]) -> Option<u32> {
    let posted = trace.posted();
    let handlers = posted.len().max(orders.len());
    (0..handlers)
        .find(|&handler| {
            let mut given = orders.get(handler).cloned().unwrap_or_default();
            given.sort_unstable();
            posted.get(handler).is_none_or(|messages| *messages != given)
        })
        .map(|handler| handler as u32)
}
