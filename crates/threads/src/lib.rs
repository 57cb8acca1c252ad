//! Multithreaded programs, and engines that explore their executions.
//!
//! - [`ThreadProgram`]: the door. A program whose threads do nothing but [`Op`]erations on
//!   [`Object`]s. [`World`] holds the states of the objects and performs the operations.
//! - [`Execution`]: one execution, step by step.
//! - [`every_execution`]: the plain search, one execution for each order.
//! - [`explore_by_learning`]: without weak memory, no more executions than threads can tell apart.
//! - [`explore_optimal`]: one execution for each Mazurkiewicz trace.
//! - [`explore_reads_from`]: one execution for each reads-from class.
//! - [`explore_weak`]: under weak memory, one execution for each graph of RC11.

#![forbid(unsafe_code)]

// The suites name the crate as its users do.
#[cfg(test)]
extern crate self as anyorder_threads;

pub use anyorder_common::cancel::{Cancel, StopReason};
pub use dfs::{Plain, every_execution};
pub use execution::{Ending, Event, Execution, SPINS_MAX, Step};
pub use ids::{ObjectId, SiteId, ThreadId};
pub use learn::{
    Blocked, Divergence, Fault, Found, Incomplete, Journal, JournalError, LearnOptions, Learnt,
    Unseen, explore_by_learning,
};
pub use object::{Object, World};
pub use op::{Act, Change, LockMode, MemoryOrder, Op, Patience, Watched, place, received, sent};
pub use optimal::{
    DporExplored, DporOptions, explore_optimal, explore_optimal_on, explore_optimal_with,
};
pub use program::{Beside, Next, ThreadProgram};
pub use races::{Race, RaceSide, races_of};
pub use sample::{Sampled, Sampling, sample};
pub use spinning::{LongLoop, TURNS_MAX};
pub use weak::{
    WeakEvent, WeakExecution, WeakExplored, WeakFound, WeakOptions, explore_reads_from,
    explore_reads_from_with, explore_weak, explore_weak_with,
};

mod dfs;
mod execution;
mod fuzz;
mod ids;
mod learn;
mod object;
mod op;
mod optimal;
mod program;
mod races;
mod sample;
mod spinning;
mod weak;

#[cfg(test)]
#[path = "../tests/all.rs"]
mod tests;
