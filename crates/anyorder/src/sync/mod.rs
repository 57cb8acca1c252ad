//! As [`std::sync`].

pub use arc::{Arc, Weak};
pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use lazy_lock::LazyLock;
pub use mutex::{Mutex, MutexGuard};
pub use once::{Once, OnceState};
pub use once_lock::OnceLock;
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

pub(crate) use locked::{Locked, Section};

pub mod atomic;
pub mod mpsc;

mod arc;
mod barrier;
mod condvar;
mod lazy_lock;
mod locked;
mod mutex;
mod once;
mod once_lock;
mod rwlock;
