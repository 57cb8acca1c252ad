//! The full problem as a separate procedure: tests compare the others with it.

use super::order_all;
use crate::answer::Link;
use crate::partial::{MessageId, PartialTrace, Slot};
use crate::saturate::{Graph, Rules};

/// Why an order of messages is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotFull {
    /// The order of a handler does not name each of its posted messages once.
    #[error("the order of handler {handler} does not name each of its posted messages once")]
    NotAnOrder {
        /// The handler, as a number.
        handler: u32,
    },
    /// The coherence order of a location is not given.
    #[error("the coherence order of a location is not given")]
    OpenCoherence,
    /// It is not given whether an end comes before what it would end.
    #[error("it is not given whether an end comes first")]
    OpenEnds,
    /// A cycle of given and decided orders: the trace is inconsistent with these orders of
    /// messages.
    #[error("the orders have a cycle of {} steps", .0.len())]
    Cycle(Vec<Link>),
}

/// Checks a trace with an order of the posted messages of each handler; `orders` has one entry per
/// handler.
///
/// Returns a total order of all slots that the handlers can run. Among the slots that can come
/// next, the smallest comes next.
///
/// # Errors
///
/// Fails with a cycle when there is no such order; the cycle has as few orders between messages as
/// a bounded search finds. Also fails when `orders` is not an order of the messages, or when
/// coherence is open.
///
/// # Panics
///
/// Panics when the trace names slots or messages that it does not have.
pub fn check_full(trace: &PartialTrace, orders: &[Vec<MessageId>]) -> Result<Vec<Slot>, NotFull> {
    check_full_by(trace, orders, Rules::ALL)
}

/// [`check_full`] with some edges disabled; for tests.
pub fn check_full_by(
    trace: &PartialTrace,
    orders: &[Vec<MessageId>],
    rules: Rules,
) -> Result<Vec<Slot>, NotFull> {
    if !trace.open.is_empty() {
        return Err(NotFull::OpenCoherence);
    }
    if !trace.ends.is_empty() {
        return Err(NotFull::OpenEnds);
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
