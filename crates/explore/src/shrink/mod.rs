//! Makes a failing run small: first the fewest reversals from a recording, then the fewest tasks.
//!
//! [`shrink`] takes a schedule that shows a fault (the [`Symptom`]) and returns one that shows the
//! same. First [`r4`](crate::r4) searches for the fewest reversals, level by level from the
//! recording, within the limit on runs. If it finds nothing, neighbours of the given schedule are
//! swapped back into recorded order where possible. Then delta debugging removes tasks, with
//! approximate replay: tasks that cannot run any more are skipped. No single task of the result can
//! be removed. At last, tasks of one handler move together where nothing in between conflicts with
//! them.
//!
//! **Source.** Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input (TSE 2002),
//! algorithm *ddmin*.

pub use options::{Error, ShrinkOptions, Shrunk, Symptom};
pub use whole::{shrink, shrink_watched};

// Options and outcome.
mod options;

// Execution of runs.
mod runner;

// The reductions.
mod gather;
mod minimize;
mod order;

// The whole.
mod whole;

#[cfg(test)]
mod tests;
