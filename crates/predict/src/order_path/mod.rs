//! Explains why a relation orders two events of a trace by a shortest chain of its edges.
//!
//! **Problem.** EDC ([`DoesntCommute`](crate::DoesntCommute)) orders some pairs that can be
//! reversed; a search over all pairs still confirms them. The report should then show the order
//! that the analysis assumed. Given two events `a < b`, find a chain of edges of EDC from `a` to
//! `b`, or decide that there is none.
//!
//! **Source.** `docs/prediction.md`, sections 1, 3 and 4.
//!
//! **Idea.** Breadth-first search backwards from `b`. The reached part of a lane is a prefix, so
//! one growing number for each lane is enough, and the search visits each event once. Among the
//! sections of one lane and lock from which an action has edges, the last one is enough. A backward
//! scan of the conflicting actions of that lane finds it.
//!
//! **Guarantee.** No chain has fewer edges other than program order. If more than 16 lanes pass a
//! barrier, the chain may be slightly longer.
//!
//! **Cost.** [`OrderPaths::new`] is linear in the trace, except for joins of handlers with many
//! bursts. A search visits the events between `a` and `b`. If lanes share objects and few locks, it
//! visits actions of other lanes repeatedly, up to `steps_max` steps.

pub use index::{OrderPaths, OrderRule};

mod index;
mod search;

use anyorder_system::Cancel;
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

/// The answer: whether two events are ordered, and by which chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ordered {
    /// They are ordered by this chain, from the first to the second.
    By(Vec<OrderStep>),
    /// They are unordered.
    Not,
    /// It is unknown: more steps were needed.
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
        self.why_until((first, second), steps_max, &Cancel::new())
    }

    /// Works like [`why`](Self::why). Once the job is stopped, the answer is unknown.
    ///
    /// # Panics
    ///
    /// Panics when the trace does not have the events in this order.
    #[must_use]
    pub fn why_until(
        &self,
        (first, second): (EventId, EventId),
        steps_max: u64,
        cancel: &Cancel,
    ) -> Ordered {
        assert!(first < second && second.index() < self.len(), "two events of the trace");
        search::search(self, (first.0, second.0), steps_max, cancel)
    }
}
