//! Robustness of programs that can be run.
//!
//! `sim` runs events one after another, in the order of the single-thread semantics, and lets
//! invocations stop half-way. `linear` finds the run of the multi-thread semantics that such a run
//! stands for. `taint` tells early that there is none. `pivot` searches for violations.

pub use self::pivot::{Checked, Options, Property, Violation, check};

mod linear;
mod pivot;
mod sim;
mod taint;
