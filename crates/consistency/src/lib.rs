//! Consistency of event-driven traces: does an order of the messages of each handler exist that
//! makes the trace a run?
//!
//! A trace without the orders of its messages becomes a [`PartialTrace`]. A [`Procedure`] answers
//! with a witness, or with a [`Refutation`] whose every step can be checked. The definitions are
//! those of the paper "Checking Consistency of Event-driven Traces" (section 2), extended with
//! mailboxes other than FIFO.
//!
//! **Cost.** The problem is NP-complete, so the worst case is exponential in the pairs of messages
//! that saturation leaves open. Preparing is linear in the trace; `saturate` states the cost of
//! saturation. All procedures poll at each step of their search.

#![forbid(unsafe_code)]

// The suites name the crate as its users do.
#[cfg(test)]
extern crate self as anyorder_consistency;

pub use answer::{Answer, ConsistencyStats, Fact, Limit, Link, Refutation, RefutationStep, Why};
pub use describe::{Explanation, Overtakings, ReasonText, describe};
pub use from_trace::{FromTrace, FromTraceError, Kept, split_own_code};
pub use mailbox::{Due, MailboxRule};
pub use partial::{
    Given, Message, MessageId, OpenEnds, OpenLocation, PartialTrace, Relation, Slot,
};
pub use procedure::{Effort, Outcome, Procedure, Unsupported};

/// Rules left out on purpose, and the full problem: mutation tests use them.
#[cfg(test)]
pub mod testing {
    pub use crate::full::{NotFull, check_full, check_full_by};
    pub use crate::procedure::{FlatRules, enumerate_by, flat_by, schedule_once};
    pub use crate::saturate::Rules;
}

mod answer;
mod describe;
mod from_trace;
mod full;
mod mailbox;
mod partial;
#[cfg_attr(not(test), allow(unreachable_pub, reason = "only tests use some parts"))]
mod procedure;
#[cfg_attr(not(test), allow(unreachable_pub, reason = "only tests use some parts"))]
mod saturate;

#[cfg(test)]
#[path = "../tests/all.rs"]
mod tests;
