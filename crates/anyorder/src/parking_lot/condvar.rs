//! A condition variable that takes the guard by reference.

use super::mutex::MutexGuard;
use crate::runtime::{self, Slot};
use anyorder_threads::{Act, LockMode, Object, Patience};
use std::fmt;
use std::panic::Location;
use std::time::{Duration, Instant};

/// As `parking_lot::Condvar`.
pub struct Condvar {
    slot: Slot,
}

/// Whether a wait ended because its time was over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns whether the time was over.
    #[must_use]
    pub const fn timed_out(self) -> bool {
        self.0
    }
}

impl Condvar {
    /// Makes one that nobody waits at.
    #[track_caller]
    #[must_use]
    pub const fn new() -> Condvar {
        Condvar { slot: Slot::of(std::any::type_name::<Condvar>) }
    }

    #[track_caller]
    fn wait_with<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, patience: Patience) -> bool {
        let at = Location::caller();
        let locked = guard.mutex.locked();
        locked.publish(&mut guard.section);
        let (condition, lock) = (self.slot.id(Object::condition), locked.lock_id());
        runtime::perform(condition, Act::Wait { lock, mode: LockMode::Exclusive }, at);
        let is_notified = runtime::perform(condition, Act::Wake(patience), at) == 1;
        if !is_notified {
            // A loop that waits for some time, again and again, is one that spins.
            runtime::give_way(at);
        }
        runtime::perform(lock, Act::Lock(LockMode::Exclusive, Patience::Wait), at);
        locked.begin(&mut guard.section);
        is_notified
    }

    /// Gives the lock back, waits for a notification, and takes the lock again.
    #[track_caller]
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        self.wait_with(guard, Patience::Wait);
    }

    /// As [`wait`](Self::wait), or until the time is over.
    #[track_caller]
    pub fn wait_for<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        _time: Duration,
    ) -> WaitTimeoutResult {
        WaitTimeoutResult(!self.wait_with(guard, Patience::TimeOut))
    }

    /// As [`wait_for`](Self::wait_for).
    #[track_caller]
    pub fn wait_until<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        _time: Instant,
    ) -> WaitTimeoutResult {
        self.wait_for(guard, Duration::ZERO)
    }

    /// Waits while a condition holds.
    #[track_caller]
    pub fn wait_while<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) {
        while condition(&mut **guard) {
            self.wait(guard);
        }
    }

    #[track_caller]
    fn notify(&self, all: bool) -> u64 {
        let condition = self.slot.id(Object::condition);
        runtime::perform(condition, Act::Notify { all, counted: true }, Location::caller())
    }

    /// Wakes one waiting thread, any of them. Returns whether there was one.
    #[track_caller]
    pub fn notify_one(&self) -> bool {
        self.notify(false) > 0
    }

    /// Wakes all waiting threads. Returns how many.
    #[track_caller]
    pub fn notify_all(&self) -> usize {
        self.notify(true) as usize
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
