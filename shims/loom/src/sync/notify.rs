//! A notification for one thread.

use anyorder::sync::atomic::{AtomicBool, Ordering};
use anyorder::sync::{Condvar, Mutex, PoisonError};

/// Lets one thread wait for another. A wait may end once without a reason.
#[derive(Debug, Default)]
pub struct Notify {
    is_notified: Mutex<bool>,
    condition: Condvar,
    is_waiting: AtomicBool,
    was_spurious: AtomicBool,
}

impl Notify {
    /// Makes one that is not notified.
    #[must_use]
    pub fn new() -> Notify {
        Notify::default()
    }

    /// Notifies who waits, or who waits next.
    #[track_caller]
    pub fn notify(&self) {
        *self.is_notified.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.condition.notify_one();
    }

    /// Waits for a notification.
    ///
    /// # Panics
    ///
    /// If another thread waits.
    #[track_caller]
    pub fn wait(&self) {
        let was_waiting = self.is_waiting.swap(true, Ordering::SeqCst);
        assert!(!was_waiting, "only a single thread may wait on `Notify`");
        let mut is_notified = self.is_notified.lock().unwrap_or_else(PoisonError::into_inner);
        let is_spurious =
            !*is_notified && !self.was_spurious.load(Ordering::SeqCst) && anyorder::choose(2) == 1;
        if is_spurious {
            self.was_spurious.store(true, Ordering::SeqCst);
        } else {
            while !*is_notified {
                is_notified =
                    self.condition.wait(is_notified).unwrap_or_else(PoisonError::into_inner);
            }
            *is_notified = false;
        }
        drop(is_notified);
        self.is_waiting.store(false, Ordering::SeqCst);
    }
}
