//! A mutual exclusion.

use super::locked::{Locked, Section, attempted, poisonable};
use anyorder_threads::{LockMode, Patience};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, TryLockResult};

/// As [`std::sync::Mutex`].
#[repr(transparent)]
pub struct Mutex<T: ?Sized> {
    locked: Locked<T>,
}

// SAFETY: as that of the standard library: one thread at a time has the data.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
impl<T: ?Sized> std::panic::UnwindSafe for Mutex<T> {}
impl<T: ?Sized> std::panic::RefUnwindSafe for Mutex<T> {}

/// As [`std::sync::MutexGuard`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized + 'a> {
    mutex: &'a Mutex<T>,
    section: Section,
    _not_send: std::marker::PhantomData<*const ()>,
}

// SAFETY: as that of the standard library.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// Makes a mutex that is free.
    #[track_caller]
    pub const fn new(value: T) -> Mutex<T> {
        Mutex { locked: Locked::of(value, std::any::type_name::<Mutex<T>>) }
    }

    /// Returns the data.
    ///
    /// # Errors
    ///
    /// The data, if a holder panicked.
    #[track_caller]
    pub fn into_inner(self) -> LockResult<T> {
        self.locked.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    fn guard(&self, (section, is_poisoned): (Section, bool)) -> (MutexGuard<'_, T>, bool) {
        (MutexGuard { mutex: self, section, _not_send: std::marker::PhantomData }, is_poisoned)
    }

    /// Takes the lock, as soon as it is free.
    ///
    /// # Errors
    ///
    /// The guard, if a holder panicked.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let entered = self.locked.enter(LockMode::Exclusive, Patience::Wait);
        poisonable(self.guard(entered.expect("it waits until it is free")))
    }

    /// Takes the lock if it is free.
    ///
    /// # Errors
    ///
    /// It is not free, or a holder panicked.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let entered = self.locked.enter(LockMode::Exclusive, Patience::Try);
        attempted(entered.map(|entered| self.guard(entered)))
    }

    /// Returns whether a holder panicked.
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.locked.is_poisoned()
    }

    /// Forgets that a holder panicked.
    #[track_caller]
    pub fn clear_poison(&self) {
        self.locked.clear_poison();
    }

    /// Returns the data. The borrow shows that nobody else has it.
    ///
    /// # Errors
    ///
    /// The data, if a holder panicked.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.locked.get_mut()
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    pub(super) fn locked(&self) -> &'a Locked<T> {
        &self.mutex.locked
    }

    /// Calls `wait` with the lock, which gives it back and takes it again. Nothing is given back if
    /// it does not return.
    pub(super) fn wait(self, wait: impl FnOnce(&Locked<T>, &mut Section) -> bool) -> (Self, bool) {
        let mut guard = ManuallyDrop::new(self);
        let mutex = guard.mutex;
        let is_poisoned = wait(&mutex.locked, &mut guard.section);
        (ManuallyDrop::into_inner(guard), is_poisoned)
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        self.locked().read(&self.section);
        // SAFETY: the guard has the lock.
        unsafe { &*self.locked().data() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        self.mutex.locked.change(&mut self.section);
        // SAFETY: the guard has the lock, and is borrowed exclusively.
        unsafe { &mut *self.locked().data() }
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

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
