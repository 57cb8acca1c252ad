//! The locks of the crate `parking_lot`: without poison, and with readers that can become writers.
//!
//! Attempts with a time limit end in both ways, whatever the time.
//!
//! ```
//! use anyorder::parking_lot::{Mutex, RwLock};
//!
//! anyorder::check(|| {
//!     let count = Mutex::new(0);
//!     *count.lock() += 1;
//!     assert_eq!(*count.lock(), 1);
//!     let names = RwLock::new(vec!["a"]);
//!     assert_eq!(names.read().len(), 1);
//! });
//! ```

pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard};

use crate::sync::{Locked, Section};
use anyorder_threads::{LockMode, Patience};

mod condvar;
mod mutex;
mod rwlock;

/// Makes a mutex in a constant.
#[track_caller]
pub const fn const_mutex<T>(value: T) -> Mutex<T> {
    Mutex::new(value)
}

/// Makes a lock in a constant.
#[track_caller]
pub const fn const_rwlock<T>(value: T) -> RwLock<T> {
    RwLock::new(value)
}

/// Takes a lock that nobody poisons; `None` if it could not.
#[track_caller]
fn enter<T: ?Sized>(locked: &Locked<T>, mode: LockMode, patience: Patience) -> Option<Section> {
    locked.enter(mode, patience).map(|(section, _)| section.without_poison())
}
