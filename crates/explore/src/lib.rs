//! Explorers that leave out what another order of independent tasks shows as well.
//!
//! [`stateful`] explores programs whose states can be compared, also those that never end; [`paper`] does so by the published algorithm, to
//! compare with; [`r4`] starts from one run of any program
//! and reverses one conflict at a time.

pub mod paper;
pub mod r4;
pub mod stateful;
