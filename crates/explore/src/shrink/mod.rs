//! Makes a run that goes wrong small: first the fewest reversals from a recording, then the fewest
//! tasks.
//!
//! [`shrink`] takes a schedule that shows something wrong (the [`Symptom`]) and returns one that
//! shows the same. The fewest reversals are found by [`r4`](crate::r4), level by level from the
//! recording, as far as the number of runs allows; where that finds nothing, the schedule given is
//! straightened as far as it goes. The tasks are then taken out by delta debugging, with
//! approximate replay: what cannot run any more is skipped. No task of the result can be left out
//! alone.
//!
//! **Source.** Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input (TSE 2002),
//! algorithm *ddmin*.

pub use options::{Error, Options, Shrunk, Symptom};
pub use whole::shrink;

// What is asked and answered.
mod options;

// Making runs.
mod runner;

// What makes them smaller.
mod minimize;
mod order;

// All of it.
mod whole;

#[cfg(test)]
mod tests;
