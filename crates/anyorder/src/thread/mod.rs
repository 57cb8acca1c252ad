//! As [`std::thread`].
//!
//! With [`yield_now`] and [`sleep`] a thread gives way. If it read the same as before it gave way
//! last, it waits until something of it changes, or until nothing else can go on: a loop that spins
//! makes a turn or two for each change, and not any number. Where the loop gives up after some
//! turns in vain, these are explored one by one
//! ([`Builder::turns_max`](crate::Builder::turns_max)).

pub use builder::Builder;
pub use handle::{JoinHandle, Thread, ThreadId};
pub use local::{AccessError, LocalKey};
pub use park::{park, park_timeout};
pub use scope::{Scope, ScopedJoinHandle, scope};
pub use std::thread::{Result, available_parallelism, panicking};

use crate::runtime;
use std::panic::Location;
use std::time::{Duration, Instant};

mod builder;
mod handle;
mod local;
mod park;
mod scope;
mod spawn;

/// As [`std::thread::spawn`].
///
/// # Panics
///
/// Outside of a check.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    JoinHandle::new(spawn::spawn(f, None))
}

/// As [`spawn`], for what must not go to another thread of the system: none does.
///
/// ```
/// use anyorder::thread;
/// use std::rc::Rc;
/// anyorder::check(|| {
///     let number = Rc::new(1);
///     assert_eq!(thread::spawn_local(move || *number).join().unwrap(), 1);
/// });
/// ```
///
/// # Panics
///
/// Outside of a check.
#[track_caller]
pub fn spawn_local<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    JoinHandle::new(spawn::spawn(f, None))
}

/// Spawns a thread that is no thread of the program: reports name it by what it is.
#[track_caller]
pub(crate) fn spawn_as<F: FnOnce() + 'static>(what: &str, f: F) -> JoinHandle<()> {
    JoinHandle::new(spawn::spawn(f, Some(what.to_owned())))
}

/// As [`std::thread::current`].
#[must_use]
pub fn current() -> Thread {
    Thread::current()
}

/// As [`std::thread::yield_now`].
#[track_caller]
pub fn yield_now() {
    runtime::give_way(Location::caller());
}

/// As [`std::thread::sleep`]: any other thread may run meanwhile, however long it takes.
#[track_caller]
pub fn sleep(_duration: Duration) {
    runtime::give_way(Location::caller());
}

/// As [`sleep`].
#[track_caller]
pub fn sleep_until(_deadline: Instant) {
    runtime::give_way(Location::caller());
}
