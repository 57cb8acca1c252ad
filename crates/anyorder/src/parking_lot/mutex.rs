//! A mutual exclusion without poison.

use super::enter;
use crate::sync::{Locked, Section};
use anyorder_threads::{LockMode, Patience};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

/// As `parking_lot::Mutex`.
pub struct Mutex<T: ?Sized> {
    locked: Locked<T>,
}

// SAFETY: one thread at a time has the data.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
impl<T: ?Sized> std::panic::UnwindSafe for Mutex<T> {}
impl<T: ?Sized> std::panic::RefUnwindSafe for Mutex<T> {}

/// As `parking_lot::MutexGuard`.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) mutex: &'a Mutex<T>,
    pub(super) section: Section,
    _not_send: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives shared borrows of the data.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// Makes a mutex that is free.
    #[track_caller]
    pub const fn new(value: T) -> Mutex<T> {
        Mutex { locked: Locked::of(value, std::any::type_name::<Mutex<T>>) }
    }

    /// Returns the data.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.locked.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl<T: ?Sized> Mutex<T> {
    pub(super) const fn locked(&self) -> &Locked<T> {
        &self.locked
    }

    fn guard(&self, section: Section) -> MutexGuard<'_, T> {
        MutexGuard { mutex: self, section, _not_send: PhantomData }
    }

    /// Takes the lock, as soon as it is free.
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let section = enter(&self.locked, LockMode::Exclusive, Patience::Wait);
        self.guard(section.expect("it waits until it is free"))
    }

    /// Takes the lock if it is free.
    #[track_caller]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        let section = enter(&self.locked, LockMode::Exclusive, Patience::Try);
        section.map(|section| self.guard(section))
    }

    /// Takes the lock as soon as it is free, or not.
    #[track_caller]
    pub fn try_lock_for(&self, _time: Duration) -> Option<MutexGuard<'_, T>> {
        let section = enter(&self.locked, LockMode::Exclusive, Patience::TimeOut);
        section.map(|section| self.guard(section))
    }

    /// As [`try_lock_for`](Self::try_lock_for).
    #[track_caller]
    pub fn try_lock_until(&self, _time: Instant) -> Option<MutexGuard<'_, T>> {
        self.try_lock_for(Duration::ZERO)
    }

    /// Returns whether somebody has the lock.
    #[track_caller]
    pub fn is_locked(&self) -> bool {
        !self.locked.is_free(LockMode::Exclusive)
    }

    /// Returns the data. The borrow shows that nobody else has it.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.locked.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl<T: ?Sized> MutexGuard<'_, T> {
    /// Calls `f` without the lock, and takes it again.
    #[track_caller]
    pub fn unlocked<U>(guard: &mut Self, f: impl FnOnce() -> U) -> U {
        guard.mutex.locked.leave(&mut guard.section);
        /// Takes the lock again, also where `f` unwinds: the guard gives it back once more.
        struct Again<'a, 'b, T: ?Sized>(&'b mut MutexGuard<'a, T>);
        impl<T: ?Sized> Drop for Again<'_, '_, T> {
            fn drop(&mut self) {
                let section = enter(&self.0.mutex.locked, LockMode::Exclusive, Patience::Wait);
                self.0.section = section.expect("it waits until it is free");
            }
        }
        let _again = Again(guard);
        f()
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        self.mutex.locked.read(&self.section);
        // SAFETY: the guard has the lock.
        unsafe { &*self.mutex.locked.data() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        self.mutex.locked.change(&mut self.section);
        // SAFETY: the guard has the lock, and is borrowed exclusively.
        unsafe { &mut *self.mutex.locked.data() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.mutex.locked.leave(&mut self.section);
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No operation: what is printed must not change what happens.
        f.debug_struct("Mutex").finish_non_exhaustive()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
