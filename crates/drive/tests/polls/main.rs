//! Stops every job at each of its polls in turn, on small inputs.
//!
//! A stopped job must not panic, must say that it was stopped, and must report nothing that the
//! whole job would not report, or that does not replay. A search that is resumed from the
//! checkpoint of a stopped one must end with the counts of an uninterrupted one.
//!
//! Each test prints the number of polls of its jobs; a job without a poll cannot be stopped, and
//! fails the test.

#![allow(clippy::print_stdout, reason = "the numbers of polls are the point of a run")]

mod harness;
mod models;
mod resumed;
mod traces;
