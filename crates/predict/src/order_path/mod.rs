//! Why a relation orders two events of a trace: a shortest chain of its edges.
//!
//! **Problem.** EDC ([`DoesntCommute`](crate::DoesntCommute)) orders some pairs that can change
//! places; a search over all pairs confirms them all the same. The report should then say what the
//! analysis took for an order. Given two events `a < b`: a chain of edges of EDC from `a` to `b`,
//! or that there is none.
//!
//! **Source.** `docs/prediction.md`, sections 1, 3 and 4.
//!
//! **Idea.** From `b` backwards, breadth first. What is reached of a lane is all of it up to some
//! event, so a lane is a number that only grows, and each event is looked at once. Of the sections
//! of one lane and lock that an action has edges from, the last one tells all; it is found by going
//! back through the conflicting actions of that lane.
//!
//! **Guarantee.** The chain has as few edges as possible that are not program order; for barriers
//! that more than 16 lanes pass, almost.
//!
//! **Cost.** [`OrderPaths::new`] is linear in the trace, but for joins of handlers with many
//! bursts. A search looks at the events between `a` and `b`; where lanes share objects and few
//! locks, at actions of others again and again, which `steps_max` bounds.

pub use index::OrderRule;

mod index;
mod search;

use crate::class::Specification;
use crate::error::PredictError;
use anyorder_trace::{EventId, Trace};
use index::Index;

/// One edge, or events of one lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderStep {
    /// The earlier event.
    pub from: EventId,
    /// The later one.
    pub to: EventId,
    /// What orders them.
    pub rule: OrderRule,
}

/// Whether, and by what, two events are ordered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ordered {
    /// By this chain, from the first to the second.
    By(Vec<OrderStep>),
    /// By nothing.
    Not,
    /// Not known: more steps were needed.
    Unknown,
}

/// The edges of a trace.
#[derive(Debug)]
pub struct OrderPaths {
    index: Index,
}

impl OrderPaths {
    /// Looks at a trace. `spec` says which actions there are, as for an analysis; with
    /// [`MemoryOnly`](crate::MemoryOnly) the order is WDC.
    ///
    /// # Errors
    ///
    /// Fails as the analyses do, for traces with too many of something.
    pub fn new<S: Specification>(trace: &Trace, spec: S) -> Result<OrderPaths, PredictError> {
        Ok(OrderPaths { index: Index::new(trace, spec)? })
    }

    /// Returns why the first event is ordered before the second one.
    ///
    /// # Panics
    ///
    /// Panics when the trace does not have them in this order.
    #[must_use]
    pub fn why(&self, first: EventId, second: EventId, steps_max: u64) -> Ordered {
        assert!(first < second && second.index() < self.index.len(), "two events of the trace");
        search::search(&self.index, first.0, second.0, steps_max)
    }
}
