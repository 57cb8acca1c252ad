//! Robustness of programs that can be run.
//!
//! `sim` runs events one after another, in the order of the single-thread semantics, and lets
//! invocations stop half-way. `linear` finds the run of the multi-thread semantics that such a run
//! stands for. `taint` tells early that there is none. `pivot` searches for violations.
//! `outcome` compares the global states that are reached.

pub use self::outcome::{Divergence, SerialOutcome, SerialOutcomes, diverging};
pub use self::pivot::{Checked, Options, Property, Violation, check};
pub use self::run::RunStep;

mod linear;
mod outcome;
mod pivot;
mod reach;
mod run;
mod sim;
mod taint;
