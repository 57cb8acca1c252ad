//! The full problem: all orders are given, including those of the messages of each handler.
//!
//! **Problem.** Given a trace and, for each handler, an order of its posted messages: is the union
//! of all orders acyclic? **Source.** The axioms of "Checking Consistency of Event-driven Traces",
//! section 2.3, where this is called the polynomial case. **Guarantee.** Exact: a total order of
//! all slots, or a cycle. **Cost.** Linear in slots, given orders and messages under FIFO and bag
//! mailboxes; under delayed ones, also quadratic in the messages of a handler.
//!
//! The orders of messages are transitive, so a handler with M messages has about M² of them. They
//! are not listed. Instead, each handler has a line of *express* nodes besides the slots: a path
//! enters it at the end of a message and leaves it at the beginning of any later one. Another line
//! does the same for the posts.

#[cfg(feature = "sabotage")]
pub use check::{NotFull, check_full, check_full_by};

use crate::answer::Link;
use crate::partial::{MessageId, Slot};
use crate::saturate::{Graph, Rules};
use express::Express;

#[cfg(feature = "sabotage")]
mod check;
mod cycle;
mod express;
mod order;

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
