//! Explorers by partial-order reduction: they skip runs that differ from others only in the order
//! of independent tasks, that is, runs of one Mazurkiewicz trace.
//!
//! [`stateful`] explores programs whose states can be compared, including those that never end.
//! [`paper`] does so by the published algorithm, for comparison. [`r4`] starts from one run of any
//! program and reverses one conflict at a time. [`shrink`] makes a failing run small.

#![forbid(unsafe_code)]

// The suites name the crate as its users do.
#[cfg(test)]
extern crate self as anyorder_explore;

pub mod paper;
pub mod r4;
pub mod shrink;
pub mod stateful;

mod location_name;
mod paths;
mod systems;

#[cfg(test)]
#[path = "../tests/all.rs"]
mod tests;
