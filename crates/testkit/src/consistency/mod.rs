//! The slow twin of the consistency engine: is there a run of the handlers that fits a partial
//! trace?
//!
//! A partial trace gives po, rf, co and pb; wanted are an order eo of the messages of each handler
//! and an order mo of the posts to each handler such that po, rf, co, fr, pb, eo (lifted to events)
//! and mo together have no cycle, and the orders fit the mailboxes. [`Problem`] is the trace as
//! these relations. It is answered in several ways: [`axiomatic()`] tries all orders of messages;
//! [`search_runs()`] and [`search_plain()`] run the handlers in all possible ways
//! ([`brute_force()`] takes whichever is quick); and [`simulate()`] says whether one given run is
//! possible. [`random_partial()`] makes small traces, of the [`Kind`]s that are hard in different
//! ways.
//!
//! ```
//! use anyorder_testkit::consistency::{Mailbox, Problem, Shape, brute_force, random_partial, simulate};
//!
//! let trace = random_partial(7, &Shape::ALL[0]);
//! if let Some(order) = brute_force(&Problem::of(&trace, Mailbox::Fifo)) {
//!     assert_eq!(simulate(&trace, Mailbox::Fifo, &order), Ok(()));
//! }
//! ```

pub use axioms::{Relation, Saturated, axiomatic, consistent_without, saturate};
pub use counters::Counters;
pub use problem::{Due, Effect, Mailbox, Message, Problem, Source};
pub use search::{TooManyStates, brute_force, search_plain, search_runs};
pub use shape::{Kind, Shape, random_partial};
pub use simulate::simulate;

mod axioms;
mod counters;
mod formulas;
mod knots;
mod perturb;
mod problem;
mod recorded;
mod search;
mod shape;
mod simulate;
mod sketch;
mod tiny;

#[cfg(test)]
mod tests;
