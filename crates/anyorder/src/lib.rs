//! Tests of multithreaded programs that try every meaning of their executions once.
//!
//! The types of [`sync`], [`thread`], [`cell`] and [`hint`] are those of the standard library, with
//! the same names and signatures. In a check their operations go to an engine, which runs the
//! program again and again until it has seen all that can happen.
//!
//! - [`parking_lot`] has the locks of the crate of that name.
//! - [`check`] runs a closure in all of its executions, and panics with a report if one fails;
//!   [`macro@test`] makes a test of a function.
//! - [`Builder`] does so with limits and other settings.
//! - [`object`] has specifications of objects: which calls commute, so that their orders need not
//!   be tried, and whether a type is linearizable.
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

/// Makes a function a test in all of its executions: `#[test]` and [`check`] in one. Its body is
/// the closure. An `async` function is run by [`future::block_on`]; one that returns a `Result`
/// fails with its error.
///
/// ```
/// use anyorder::{sync::Mutex, thread};
///
/// #[anyorder::test]
/// fn nothing_is_lost() {
///     let count = Mutex::new(0);
///     thread::scope(|scope| {
///         scope.spawn(|| *count.lock().unwrap() += 1);
///         scope.spawn(|| *count.lock().unwrap() += 1);
///     });
///     assert_eq!(count.into_inner().unwrap(), 2);
/// }
///
/// #[anyorder::test(executions = 100_000, time = "10s")]
/// async fn a_task_ends() {
///     assert_eq!(anyorder::future::spawn(async { 1 }).await.unwrap(), 1);
/// }
/// ```
///
/// | option | is |
/// | --- | --- |
/// | `executions = 100_000` | [`Builder::executions_max`] |
/// | `steps = 10_000` | [`Builder::steps_max`] |
/// | `time = "10s"` | [`Builder::time_max`], in `ms`, `s`, `m` or `h` |
/// | `preemptions = 2` | [`Builder::preemptions_max`] |
/// | `stack_size = 1_048_576` | [`Builder::stack_size`] |
/// | `leaks_allowed` | [`Builder::leaks_allowed`] |
/// | `panics_are_results` | [`Builder::panics_are_results`] |
/// | `replay = "1:..."` | [`Builder::replay`] |
/// | `report = "folder"` | [`Builder::report`] |
///
/// What is wrong in it does not compile:
///
/// ```compile_fail
/// #[anyorder::test(executoins = 5)]
/// fn misspelt() {}
/// ```
/// ```compile_fail
/// #[anyorder::test(time = "10")]
/// fn no_unit() {}
/// ```
/// ```compile_fail
/// #[anyorder::test(executions = 0)]
/// fn no_execution() {}
/// ```
/// ```compile_fail
/// #[anyorder::test]
/// fn parameters(number: u32) {}
/// ```
/// ```compile_fail
/// #[anyorder::test]
/// struct NoFunction;
/// ```
pub use anyorder_macros::test;
pub use anyorder_threads::Incomplete;
pub use check::{
    Builder, Doubt, Endless, Failure, FailureKind, Leak, Limits, Line, Memory, Misfit, Misuse,
    Passing, RaceAccess, RaceReport, ReplayError, Replayed, Reversed, Schedule, Summary, Trace,
    TraceObject, TraceThread, Waiting, check, choose, explore,
};
pub use runtime::{Allocator, MisuseKind, Panic, Position, Program, Setting};

pub mod alloc;
pub mod cell;
pub mod future;
pub mod hint;
pub mod object;
pub mod parking_lot;
pub mod sync;
pub mod thread;

mod check;
mod runtime;
