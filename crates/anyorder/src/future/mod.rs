//! Asynchronous programs: tasks, and what they wait for.
//!
//! Each task is a thread of the engine that polls its future, and waits for its waker in between:
//! an executor with as many workers as there are tasks. A task that was spawned goes on when the
//! future of [`block_on`] has ended. What is dropped while it waits is cancelled there.

pub use atomic_waker::AtomicWaker;
pub use executor::{
    AbortHandle, JoinError, JoinHandle, block_on, block_on_with_spurious_polls, spawn, spawn_local,
    yield_now,
};
pub use join_set::JoinSet;
pub use lock::{Mutex, MutexGuard, ReadGuard, RwLock, TryLockError, WriteGuard};
pub use notify::{Notified, Notify};
pub use select::{Either, cancel_anywhere, select};
#[doc(hidden)]
pub use select::{branch_in_turn, first_branch};
pub use semaphore::{AcquireError, Permit, Semaphore, TryAcquireError};

/// Waits for the first of several futures of this task whose value matches its pattern, and returns
/// what its handler does. The others are dropped before the handler runs: cancelled where they
/// wait. It means what tokio's macro means.
///
/// - A branch is `pattern = future => handler,` or `pattern = future, if condition => handler,`.
///   `else => handler` may be the last one. A handler that is a block needs no comma.
/// - First all conditions are evaluated, then all futures, also of branches whose condition is
///   false. These are disabled: they are not polled.
/// - Each time that the task is polled, the branches are, in turn, from one of them on; any that is
///   not disabled may be that one, and all are tried ([`choose`](crate::choose)). With `biased;`
///   before the branches it is always the first.
/// - A branch whose value does not match its pattern is disabled; the others go on.
/// - Where all are disabled, the `else` branch runs. Without one the task panics.
///
/// ```
/// use anyorder::future::{self, mpsc};
///
/// anyorder::check(|| {
///     let (numbers, mut from_numbers) = mpsc::unbounded_channel::<u32>();
///     let (words, mut from_words) = mpsc::unbounded_channel::<&str>();
///     future::spawn(async move { numbers.send(1).unwrap() });
///     future::spawn(async move { words.send("one").unwrap() });
///     let mut seen = 0;
///     future::block_on(async {
///         loop {
///             future::select! {
///                 Some(number) = from_numbers.recv(), if seen < 2 => seen += number,
///                 Some(word) = from_words.recv() => {
///                     assert_eq!(word, "one");
///                     seen += 1;
///                 }
///                 else => break,
///             }
///         }
///     });
///     assert_eq!(seen, 2);
/// });
/// ```
///
/// A branch without a future does not compile, nor one behind `else`:
///
/// ```compile_fail
/// # anyorder::future::block_on(async {
/// anyorder::future::select! { value => value }
/// # });
/// ```
/// ```compile_fail
/// # anyorder::future::block_on(async {
/// anyorder::future::select! { else => (), value = async { } => value }
/// # });
/// ```
pub use anyorder_macros::select;

/// Waits for several futures of this task, and returns the values as a tuple. Each time that the
/// task is polled, those that are not ready are, in turn: the first time from the first one on,
/// later from any, and all are tried; with `biased;` before them always from the first. A future
/// is dropped when it is ready.
///
/// ```
/// use anyorder::future;
/// anyorder::check(|| {
///     let other = future::spawn(async { 2 });
///     let both = future::block_on(async { future::join!(async { 1 }, other) });
///     assert_eq!((both.0, both.1.unwrap()), (1, 2));
/// });
/// ```
pub use anyorder_macros::join;

/// As [`join!`], for futures whose values are `Result`s: returns `Ok` with a tuple, or the first
/// error as soon as there is one; the others are dropped then.
///
/// ```
/// use anyorder::future;
/// anyorder::check(|| {
///     let first = future::block_on(async {
///         future::try_join!(std::future::pending::<Result<(), u32>>(), async { Err::<(), _>(7) })
///     });
///     assert_eq!(first, Err(7));
/// });
/// ```
pub use anyorder_macros::try_join;

pub mod broadcast;
pub mod mpsc;
pub mod oneshot;
pub mod time;
pub mod watch;

mod atomic_waker;
mod executor;
mod join_set;
mod lock;
mod notify;
mod select;
mod semaphore;
mod waiters;
