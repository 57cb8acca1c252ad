//! The naive version of the consistency engine: does a run of the handlers exist that fits a
//! partial trace?
//!
//! A partial trace gives po, rf, co and pb. The question is whether an order eo of the messages of
//! each handler and an order mo of the posts to each handler exist such that po, rf, co, fr, pb, eo
//! (lifted to events) and mo together are acyclic, and the orders fit the mailboxes. [`Problem`]
//! represents the trace as these relations. Several procedures answer it: [`axiomatic()`] tries all
//! orders of messages; [`search_runs()`] and [`search_plain()`] run the handlers in all possible
//! ways ([`brute_force()`] takes whichever is quick); [`simulate()`] checks one given run.
//! [`random_openings`] makes traces of what is cancelled and disabled. [`OrderRules`] has all rules
//! of whole traces, with what was cancelled, disabled or has quit. [`random_partial()`] makes small
//! traces, of [`Kind`]s that are hard in different ways.
//!
//! ```
//! use anyorder_testkit::consistency::{Mailbox, Problem, Shape, brute_force, random_partial,
//! simulate};
//!
//! let trace = random_partial(7, &Shape::ALL[0]);
//! if let Some(order) = brute_force(&Problem::of(&trace, Mailbox::Fifo)) {
//!     assert_eq!(simulate(&trace, Mailbox::Fifo, &order), Ok(()));
//! }
//! ```

pub use axioms::{Relation, Saturated, axiomatic, consistent_without, saturate};
pub use clauses::{OrderRule, OrderRules};
pub use counters::Counters;
pub use openings::random_openings;
pub use problem::{Due, Effect, Mailbox, Message, Problem, Source};
pub use search::{TooManyStates, brute_force, search_plain, search_runs};
pub use shape::{Kind, Shape, random_partial};
pub use simulate::simulate;

mod axioms;
mod clauses;
mod counters;
mod formulas;
mod openings;
mod perturb;
mod problem;
mod recorded;
mod rings;
mod search;
mod shape;
mod simulate;
mod sketch;
mod tiny;

#[cfg(test)]
mod tests;
