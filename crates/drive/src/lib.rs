//! The jobs of anyorder as a library: one entry for each job, which wires the engines to the checks
//! of their results.
//!
//! A job takes what was read (a trace, a model, a program), its options as a plain struct, and a
//! [`Control`](anyorder_system::Control) that watches and stops it. It returns data: findings,
//! runs, counts. It prints nothing, opens no file and reads no clock.

pub use failure::{Failure, Level, Message};
pub use result::{Collected, JobResult, Reported, add_stats};
pub use schedules::{Shows, Stored, first_schedule, read_schedules, schedule_of};

pub mod explore;
pub mod model;
pub mod states;

mod failure;
mod result;
mod schedules;

/// Where bugs are reported.
pub const ISSUES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/issues");
