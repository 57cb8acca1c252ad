//! Checks: a closure, run in all of its executions. In reading order:
//!
//! - `builder`, `environment`: what is asked for; `engine`, `explore`: the engines, and who reports
//!   what they found;
//! - `frees`: the search for uses after frees;
//! - `checkpoint`: where a check goes on that was cut;
//! - `run`: one execution by hand; `replay`: one that a text tells; `passing`: the right run beside
//!   a failing one;
//! - `trace`, `names`, `source`: a run with the names of threads, of variables, of places;
//! - `failure`, `blocked`, `endless`, `misuse`: what went wrong; `relive`: the execution again,
//!   where the engine does not know it;
//! - `weak`: what only weak memory has;
//! - `words`, `rows`, `title`, `table`, `summary`: all of it as text; `html`, `picture`: as a page.

pub use blocked::Waiting;
pub use builder::{Builder, check};
pub use engine::Engine;
pub use explore::{Limits, explore};
pub use failure::{Endless, Failure, FailureKind, Leak, RaceAccess, RaceReport};
pub use misuse::Misuse;
pub use passing::{Passing, Reversed};
pub use replay::{Misfit, ReplayError, Replayed, Schedule};
pub use summary::{Doubt, LongLoop, Summary};
pub use trace::{Line, Trace, TraceObject, TraceThread};
pub use weak::Memory;

use crate::runtime;
use anyorder_threads::{Act, ObjectId};
use std::panic::Location;

mod blocked;
mod builder;
mod checkpoint;
mod endless;
mod engine;
mod environment;
mod explore;
mod failure;
mod frees;
mod html;
mod misuse;
mod names;
mod passing;
mod picture;
mod progress;
mod relive;
mod replay;
mod rows;
mod run;
mod source;
mod summary;
mod table;
mod title;
mod trace;
mod unseen;
mod weak;
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
