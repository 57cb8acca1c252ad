//! Checks: a closure, run in all of its executions.

pub use builder::{Builder, check};
pub use explore::{Limits, explore};
pub use summary::{Doubt, Failure, FailureKind, Line, Summary, Waiting};

use crate::runtime;
use anyorder_threads::{Act, ObjectId};
use std::panic::Location;

mod builder;
mod explore;
mod summary;
mod words;

/// Returns any number below `count`: all of them are tried.
///
/// # Panics
///
/// If `count` is 0, or outside of a check.
///
/// ```
/// anyorder::check(|| assert!(anyorder::choose(3) < 3));
/// ```
#[track_caller]
#[must_use]
pub fn choose(count: u32) -> u32 {
    assert!(count > 0, "a choice among nothing");
    runtime::perform(ObjectId::NONE, Act::Choose(count), Location::caller()) as u32
}
