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
pub use semaphore::{AcquireError, Permit, Semaphore, TryAcquireError};

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
