//! The full problem: all orders are given, including those of the messages of each handler.
//!
//! **Problem.** Given a trace and, for each handler, an order of its posted messages: is the union
//! of all orders acyclic? **Source.** The axioms of "Checking Consistency of Event-driven Traces",
//! section 2.3, where this is called the polynomial case. **Guarantee.** Exact: a total order of
//! all slots, or a cycle. **Cost.** Linear in slots and given orders, quadratic in the messages of
//! a handler.

#[cfg(test)]
pub use check::{NotFull, check_full, check_full_by};

use crate::answer::{Link, Why};
use crate::partial::{MessageId, Slot};
use crate::saturate::{Graph, Rules};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[cfg(test)]
mod check;
mod cycle;

/// Orders all slots of a graph by its orders and those of the messages: among the slots that can
/// come next, the smallest comes next. `orders` has one entry per handler, or none for the given
/// orders alone.
///
/// # Errors
///
/// Fails with a cycle.
pub(crate) fn order_all(
    graph: &Graph<'_>,
    orders: &[Vec<MessageId>],
    rules: Rules,
) -> Result<Vec<Slot>, Vec<Link>> {
    let full = Full::new(graph, orders, rules);
    let slots = graph.slots();
    let mut waits = vec![0_u32; slots];
    for slot in 0..slots as Slot {
        full.after(slot, |to, _| waits[to as usize] += 1);
    }
    let free = (0..slots as Slot).filter(|&slot| waits[slot as usize] == 0);
    let mut ready: BinaryHeap<Reverse<Slot>> = free.map(Reverse).collect();
    let mut order = Vec::with_capacity(slots);
    while let Some(Reverse(slot)) = ready.pop() {
        order.push(slot);
        full.after(slot, |to, _| {
            waits[to as usize] -= 1;
            if waits[to as usize] == 0 {
                ready.push(Reverse(to));
            }
        });
    }
    // All slots that still wait are on a cycle or after one.
    if order.len() == slots { Ok(order) } else { Err(cycle::short_cycle(&full, &waits)) }
}

/// The graph of all orders.
struct Full<'g> {
    graph: &'g Graph<'g>,
    orders: &'g [Vec<MessageId>],
    rules: Rules,
    /// For each message, its place in the order of its handler.
    place: Vec<u32>,
}

impl<'g> Full<'g> {
    fn new(graph: &'g Graph<'g>, orders: &'g [Vec<MessageId>], rules: Rules) -> Full<'g> {
        let mut place = vec![0; graph.trace.messages.len()];
        for order in orders {
            for (at, &message) in (0..).zip(order) {
                place[message as usize] = at;
            }
        }
        Full { graph, orders, rules, place }
    }

    /// The messages that run after a posted message.
    fn later(&self, message: MessageId) -> &[MessageId] {
        let of = &self.graph.trace.messages[message as usize];
        match self.orders.get(of.handler as usize) {
            Some(order) if !of.initial => &order[self.place[message as usize] as usize + 1..],
            _ => &[],
        }
    }

    /// Calls `step` with every direct successor of a slot.
    fn after(&self, slot: Slot, mut step: impl FnMut(Slot, Why)) {
        for (next, relation) in self.graph.after(slot) {
            step(next, Why::Given(relation));
        }
        if !self.orders.is_empty() {
            let later = |first| self.later(first).iter().copied();
            self.graph.decided_after(slot, self.rules, later, step);
        }
    }
}
