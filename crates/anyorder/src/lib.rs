//! Tests of multithreaded programs that try every meaning of their executions once.
//!
//! The types of [`sync`], [`thread`], [`cell`] and [`hint`] are those of the standard library, with
//! the same names and signatures. In a check their operations go to an engine, which runs the
//! program again and again until it has seen all that can happen.
//!
//! - [`check`] runs a closure in all of its executions, and panics with a report if one fails.
//! - [`Builder`] does so with limits and other settings.
//! - [`Program`] is the closure as the engines of `anyorder-threads` see it.
//!
//! ```
//! use anyorder::sync::atomic::{AtomicU32, Ordering};
//! use anyorder::{sync::Arc, thread};
//!
//! anyorder::check(|| {
//!     let counter = Arc::new(AtomicU32::new(0));
//!     let other = Arc::clone(&counter);
//!     let thread = thread::spawn(move || other.fetch_add(1, Ordering::Relaxed));
//!     counter.fetch_add(1, Ordering::Relaxed);
//!     thread.join().unwrap();
//!     assert_eq!(counter.load(Ordering::Relaxed), 2);
//! });
//! ```

pub use anyorder_threads::Incomplete;
pub use check::{
    Builder, Doubt, Endless, Failure, FailureKind, Leak, Limits, Line, Memory, Misfit, Passing,
    RaceAccess, RaceReport, ReplayError, Replayed, Reversed, Schedule, Summary, Trace, TraceObject,
    TraceThread, Waiting, check, choose, explore,
};
pub use runtime::{Allocator, Panic, Position, Program, Setting};

pub mod cell;
pub mod future;
pub mod hint;
pub mod sync;
pub mod thread;

mod check;
mod runtime;
