//! The waker of one task.

use crate::sync::{Mutex, MutexGuard};
use crate::thread;
use std::sync::{PoisonError, TryLockError};
use std::task::Waker;

/// As that of the `futures` crate: holds the waker of the task that registered last.
#[derive(Debug)]
pub struct AtomicWaker {
    waker: Mutex<Option<Waker>>,
}

impl AtomicWaker {
    /// Makes one without a waker.
    #[must_use]
    pub const fn new() -> AtomicWaker {
        AtomicWaker { waker: Mutex::new(None) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers the waker of a task. If it is being woken right now, wakes it.
    #[track_caller]
    pub fn register(&self, waker: &Waker) {
        let mut slot = match self.waker.try_lock() {
            Ok(slot) => slot,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                waker.wake_by_ref();
                thread::yield_now();
                return;
            }
        };
        *slot = Some(waker.clone());
    }

    /// Wakes the task that registered last.
    pub fn wake(&self) {
        if let Some(waker) = self.take() {
            waker.wake();
        }
    }

    /// Takes the waker.
    pub fn take(&self) -> Option<Waker> {
        self.lock().take()
    }
}

impl Default for AtomicWaker {
    fn default() -> AtomicWaker {
        AtomicWaker::new()
    }
}
