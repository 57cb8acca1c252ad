//! Explains why a relation orders two events of a trace by a shortest chain of its edges.
//!
//! **Problem.** EDC ([`DoesntCommute`](crate::DoesntCommute)) orders some pairs that can be
//! reversed; a search over all pairs confirms them nevertheless. The report should then show the
//! order that the analysis assumed. Given two events `a < b`: a chain of edges of EDC from `a` to
//! `b`, or that there is none.
//!
//! **Source.** `docs/prediction.md`, sections 1, 3 and 4.
//!
//! **Idea.** Breadth-first search backwards from `b`. The reached part of a lane is a prefix, so
//! one number for each lane, which only grows, is enough, and the search visits each event once.
//! Among the sections of one lane and lock from which an action has edges, the last one is enough.
//! A backward scan of the conflicting actions of that lane finds it.
//!
//! **Guarantee.** The chain has as few edges as possible that are not program order; for barriers
//! that more than 16 lanes pass, almost.
//!
//! **Cost.** [`OrderPaths::new`] is linear in the trace, but for joins of handlers with many
//! bursts. A search visits the events between `a` and `b`. Where lanes share objects and few locks,
//! it visits actions of others repeatedly, up to `steps_max` steps.

pub use index::{OrderPaths, OrderRule};

mod index;
mod search;

use anyorder_trace::EventId;

/// One edge, or events of one lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderStep {
    /// The earlier event.
    pub from: EventId,
    /// The later one.
    pub to: EventId,
    /// The kind of the edge.
    pub rule: OrderRule,
}

/// Whether two events are ordered, and by which chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ordered {
    /// By this chain, from the first to the second.
    By(Vec<OrderStep>),
    /// By nothing.
    Not,
    /// Not known: more steps were needed.
    Unknown,
}

impl OrderPaths {
    /// Returns why the first event is ordered before the second one.
    ///
    /// # Panics
    ///
    /// Panics when the trace does not have them in this order.
    #[must_use]
    pub fn why(&self, first: EventId, second: EventId, steps_max: u64) -> Ordered {
        assert!(first < second && second.index() < self.len(), "two events of the trace");
        search::search(self, first.0, second.0, steps_max)
    }
}
