//! A condition variable.

use super::locked::{Locked, Section};
use super::mutex::MutexGuard;
use crate::runtime::{self, Slot};
use anyorder_threads::{Act, LockMode, Object, Patience};
use std::fmt;
use std::panic::Location;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

/// As [`std::sync::Condvar`]. A wait with a time-out ends in both ways, whatever the duration. No
/// wait ends without a reason.
pub struct Condvar {
    slot: Slot,
}

/// As [`std::sync::WaitTimeoutResult`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns whether the time was over.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl std::panic::UnwindSafe for Condvar {}
impl std::panic::RefUnwindSafe for Condvar {}

impl Condvar {
    /// Makes a condition variable.
    #[track_caller]
    #[must_use]
    pub const fn new() -> Condvar {
        Condvar { slot: Slot::of(std::any::type_name::<Condvar>) }
    }

    /// Waits. Returns whether it was notified, and whether the lock is poisoned.
    fn wait_locked<T: ?Sized>(
        &self,
        locked: &Locked<T>,
        section: &mut Section,
        patience: Patience,
        at: &'static Location<'static>,
    ) -> (bool, bool) {
        locked.publish(section);
        let (condition, lock) = (self.slot.id(Object::condition), locked.lock_id());
        runtime::perform(condition, Act::Wait { lock, mode: LockMode::Exclusive }, at);
        let is_notified = runtime::perform(condition, Act::Wake(patience), at) == 1;
        if !is_notified {
            // A loop that waits for some time, again and again, is one that spins.
            runtime::give_way(at);
        }
        let act = Act::Lock(LockMode::Exclusive, Patience::Wait);
        let is_poisoned = runtime::perform(lock, act, at) & 2 == 2;
        locked.begin(section);
        (is_notified, is_poisoned)
    }

    #[track_caller]
    fn wait_for<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        patience: Patience,
    ) -> (MutexGuard<'a, T>, bool, bool) {
        let at = Location::caller();
        let mut notified = false;
        let (guard, is_poisoned) = guard.wait(|locked, section| {
            let (is_notified, is_poisoned) = self.wait_locked(locked, section, patience, at);
            notified = is_notified;
            is_poisoned
        });
        (guard, notified, is_poisoned)
    }

    /// Gives the lock back, waits for a notification, and takes the lock again.
    ///
    /// # Errors
    ///
    /// The guard, if a holder panicked.
    #[track_caller]
    pub fn wait<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let (guard, _, is_poisoned) = self.wait_for(guard, Patience::Wait);
        if is_poisoned { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    /// Waits while a condition holds.
    ///
    /// # Errors
    ///
    /// The guard, if a holder panicked.
    #[track_caller]
    pub fn wait_while<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// As [`wait`](Self::wait), or until the time is over.
    ///
    /// # Errors
    ///
    /// The guard, if a holder panicked.
    #[track_caller]
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        _duration: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (guard, is_notified, is_poisoned) = self.wait_for(guard, Patience::TimeOut);
        let result = (guard, WaitTimeoutResult(!is_notified));
        if is_poisoned { Err(PoisonError::new(result)) } else { Ok(result) }
    }

    /// As [`wait_while`](Self::wait_while), or until the time is over.
    ///
    /// # Errors
    ///
    /// The guard, if a holder panicked.
    #[track_caller]
    pub fn wait_timeout_while<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        duration: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let mut is_over = false;
        loop {
            if !condition(&mut guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            if is_over {
                return Ok((guard, WaitTimeoutResult(true)));
            }
            let (next, result) = self.wait_timeout(guard, duration)?;
            (guard, is_over) = (next, result.timed_out());
        }
    }

    /// As the former method of the standard library. Returns whether it was notified.
    ///
    /// # Errors
    ///
    /// The guard, if a holder panicked.
    #[track_caller]
    #[deprecated(note = "use wait_timeout instead")]
    pub fn wait_timeout_ms<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        ms: u32,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        match self.wait_timeout(guard, Duration::from_millis(u64::from(ms))) {
            Ok((guard, result)) => Ok((guard, !result.timed_out())),
            Err(error) => {
                let (guard, result) = error.into_inner();
                Err(PoisonError::new((guard, !result.timed_out())))
            }
        }
    }

    #[track_caller]
    fn notify(&self, all: bool) {
        let condition = self.slot.id(Object::condition);
        runtime::perform(condition, Act::Notify { all, counted: false }, Location::caller());
    }

    /// Wakes one waiting thread, any of them.
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(false);
    }

    /// Wakes all waiting threads.
    #[track_caller]
    pub fn notify_all(&self) {
        self.notify(true);
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
