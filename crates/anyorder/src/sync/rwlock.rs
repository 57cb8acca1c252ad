//! A lock with many readers or one writer.

use super::locked::{Locked, Section, attempted, poisonable};
use anyorder_threads::{LockMode, Patience};
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::{LockResult, TryLockResult};

/// As [`std::sync::RwLock`].
#[repr(transparent)]
pub struct RwLock<T: ?Sized> {
    locked: Locked<T>,
}

// SAFETY: as that of the standard library: readers share the data, a writer has it alone.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
impl<T: ?Sized> std::panic::UnwindSafe for RwLock<T> {}
impl<T: ?Sized> std::panic::RefUnwindSafe for RwLock<T> {}

/// As [`std::sync::RwLockReadGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized + 'a> {
    lock: &'a RwLock<T>,
    section: Section,
    _not_send: PhantomData<*const ()>,
}

/// As [`std::sync::RwLockWriteGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized + 'a> {
    lock: &'a RwLock<T>,
    section: Section,
    _not_send: PhantomData<*const ()>,
}

// SAFETY: as those of the standard library.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<T> RwLock<T> {
    /// Makes a lock that is free.
    #[track_caller]
    pub const fn new(value: T) -> RwLock<T> {
        RwLock { locked: Locked::of(value, std::any::type_name::<RwLock<T>>) }
    }

    /// Returns the data.
    ///
    /// # Errors
    ///
    /// The data, if a writer panicked.
    #[track_caller]
    pub fn into_inner(self) -> LockResult<T> {
        self.locked.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    fn reader(&self, (section, is_poisoned): (Section, bool)) -> (RwLockReadGuard<'_, T>, bool) {
        (RwLockReadGuard { lock: self, section, _not_send: PhantomData }, is_poisoned)
    }

    fn writer(&self, (section, is_poisoned): (Section, bool)) -> (RwLockWriteGuard<'_, T>, bool) {
        (RwLockWriteGuard { lock: self, section, _not_send: PhantomData }, is_poisoned)
    }

    /// Takes the lock for reading, as soon as nobody writes.
    ///
    /// # Errors
    ///
    /// The guard, if a writer panicked.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let entered = self.locked.enter(LockMode::Shared, Patience::Wait);
        poisonable(self.reader(entered.expect("it waits until it is free")))
    }

    /// Takes the lock for writing, as soon as it is free.
    ///
    /// # Errors
    ///
    /// The guard, if a writer panicked.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let entered = self.locked.enter(LockMode::Exclusive, Patience::Wait);
        poisonable(self.writer(entered.expect("it waits until it is free")))
    }

    /// Takes the lock for reading if nobody writes.
    ///
    /// # Errors
    ///
    /// Somebody writes, or a writer panicked.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let entered = self.locked.enter(LockMode::Shared, Patience::Try);
        attempted(entered.map(|entered| self.reader(entered)))
    }

    /// Takes the lock for writing if it is free.
    ///
    /// # Errors
    ///
    /// It is not free, or a writer panicked.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let entered = self.locked.enter(LockMode::Exclusive, Patience::Try);
        attempted(entered.map(|entered| self.writer(entered)))
    }

    /// Returns whether a writer panicked.
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.locked.is_poisoned()
    }

    /// Forgets that a writer panicked.
    #[track_caller]
    pub fn clear_poison(&self) {
        self.locked.clear_poison();
    }

    /// Returns the data. The borrow shows that nobody else has it.
    ///
    /// # Errors
    ///
    /// The data, if a writer panicked.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.locked.get_mut()
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Becomes a reader, without a writer in between.
    pub fn downgrade(guard: Self) -> RwLockReadGuard<'a, T> {
        let guard = ManuallyDrop::new(guard);
        let lock = guard.lock;
        // SAFETY: the guard is not used any more.
        let mut section = unsafe { ptr::read(&raw const guard.section) };
        lock.locked.downgrade(&mut section, LockMode::Shared);
        RwLockReadGuard { lock, section, _not_send: PhantomData }
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        self.lock.locked.read(&self.section);
        // SAFETY: the guard has the lock.
        unsafe { &*self.lock.locked.data() }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        self.lock.locked.read(&self.section);
        // SAFETY: the guard has the lock.
        unsafe { &*self.lock.locked.data() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        self.lock.locked.change(&mut self.section);
        // SAFETY: the guard has the lock alone, and is borrowed exclusively.
        unsafe { &mut *self.lock.locked.data() }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.locked.leave(&mut self.section);
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.locked.leave(&mut self.section);
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> RwLock<T> {
        RwLock::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No operation: what is printed must not change what happens.
        f.debug_struct("RwLock").finish_non_exhaustive()
    }
}

macro_rules! show {
    ($($guard:ident),*) => {$(
        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    )*};
}
show!(RwLockReadGuard, RwLockWriteGuard);
