//! Explorers that leave out what another order of independent tasks shows as well.
//!
//! [`stateful`] explores programs whose states can be compared, also those that never end;
//! [`paper`] does so by the published algorithm, to compare with; [`r4`] starts from one run of any
//! program and reverses one conflict at a time; [`shrink`] makes a run that goes wrong small.

pub mod paper;
pub mod r4;
pub mod shrink;
pub mod stateful;

mod asked;
mod paths;
