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
//! - [`mod@object`] has specifications of objects: which calls commute, so that their orders need
//!   not be tried, and whether a type is linearizable.
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
/// | `turns = 64` | [`Builder::turns_max`] |
/// | `cores = 4` | [`Builder::cores`] |
/// | `engine = "optimal"` | [`Builder::engine`] |
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

/// Makes the methods of an impl block calls of an object with a specification: each of those that
/// take `&self` runs as an [invocation](object::Object::invoke) on the field `object`. What says
/// which of them commute stands above them.
///
/// ```
/// use anyorder::object::Object;
/// use anyorder::sync::Mutex;
/// use anyorder::thread;
/// use std::collections::HashSet;
///
/// struct Names {
///     object: Object<Self>,
///     names: Mutex<HashSet<String>>,
/// }
///
/// #[anyorder::object]
/// impl Names {
///     fn new() -> Names {
///         Names { object: Object::new(), names: Mutex::default() }
///     }
///
///     #[commutes(insert(other) if name != other, contains(other) if name != other)]
///     fn insert(&self, name: &str) -> bool {
///         self.names.lock().unwrap().insert(name.to_owned())
///     }
///
///     #[commutes(contains, len)]
///     fn contains(&self, name: &str) -> bool {
///         self.names.lock().unwrap().contains(name)
///     }
///
///     #[commutes(len)]
///     fn len(&self) -> usize {
///         self.names.lock().unwrap().len()
///     }
/// }
///
/// let summary = anyorder::Builder::new().explore(|| {
///     let names = Names::new();
///     thread::scope(|scope| {
///         for name in ["ann", "bob", "eve"] {
///             let names = &names;
///             scope.spawn(move || assert!(names.insert(name)));
///         }
///     });
///     assert_eq!(names.len(), 3);
/// });
/// assert!(summary.is_ok());
/// assert_eq!(summary.executions, 1);
///
/// // The specification is true, as far as short sequences of these calls can tell.
/// use NamesCall::{Contains, Insert, Len};
/// let calls = [Insert("ann".into()), Contains("ann".into()), Len];
/// anyorder::object::validate_type(Names::new, &calls, 2).unwrap();
/// ```
///
/// - `#[commutes(a, b(x, _) if condition)]` on a method: it commutes with the method `a` always,
///   and with `b` where the condition holds. In it, the arguments of the method have their names,
///   those of the other one the names given there; all are references. A pair may be named on
///   either of its methods, or on both: either suffices. Pairs that are not named do not commute,
///   a method with itself neither.
/// - The calls are an enum, here `NamesCall`, with a variant for each method; it implements
///   `Clone`, `Eq`, `Hash` and `Debug`, so the types of parameters do. For `&T` it has the owned
///   type ([`ToOwned`]). A parameter with `#[skip]` is no part of the call.
/// - Results are hashed. `#[opaque]` on a method is for one whose result cannot be
///   ([`invoke_opaque`](object::Object::invoke_opaque)).
/// - Functions without `self`, and methods that take `self` or `&mut self`, stay as they are.
///   Methods that call others of the block belong in another block: a call is no part of another.
///
/// | option | is |
/// | --- | --- |
/// | `field = name` | the field that is the [`Object`](object::Object), if not `object` |
/// | `calls = Name` | the name of the enum of calls |
/// | `spec = object::ready::Set` | a specification that is there: methods are its calls, by their names or by `#[call(name)]`; the field is an `Object` of it |
///
/// ```
/// use anyorder::object::{Object, ready};
/// use anyorder::sync::Mutex;
///
/// struct Numbers {
///     object: Object<ready::Set>,
///     numbers: Mutex<Vec<u32>>,
/// }
///
/// #[anyorder::object(spec = ready::Set)]
/// impl Numbers {
///     #[call(add)]
///     fn insert(&self, number: u32) -> bool {
///         let mut numbers = self.numbers.lock().unwrap();
///         let is_new = !numbers.contains(&number);
///         numbers.extend(is_new.then_some(number));
///         is_new
///     }
///     fn contains(&self, number: &u32) -> bool {
///         self.numbers.lock().unwrap().contains(number)
///     }
/// }
/// # anyorder::check(|| {
/// #     let numbers = Numbers { object: Object::new(), numbers: Mutex::default() };
/// #     assert!(numbers.insert(1) && numbers.contains(&1));
/// # });
/// ```
///
/// What is wrong in it does not compile:
///
/// ```compile_fail
/// # struct A { object: anyorder::object::Object<A> }
/// #[anyorder::object]
/// impl A {
///     #[commutes(gett)] // There is no call `gett`.
///     fn get(&self) {}
/// }
/// ```
pub use anyorder_macros::object;
pub use anyorder_threads::Incomplete;
pub use check::{
    Builder, Doubt, Endless, Engine, Failure, FailureKind, Leak, Limits, Line, LongLoop, Memory,
    Misfit, Misuse, Passing, RaceAccess, RaceReport, ReplayError, Replayed, Reversed, Schedule,
    Summary, Trace, TraceObject, TraceThread, Waiting, check, choose, explore,
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
