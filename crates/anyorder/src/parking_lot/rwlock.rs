//! A lock with readers, one of which may become the writer.

use super::enter;
use crate::sync::{Locked, Section};
use anyorder_threads::{LockMode, Patience};
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::time::Duration;

/// As `parking_lot::RwLock`.
pub struct RwLock<T: ?Sized> {
    locked: Locked<T>,
}

// SAFETY: readers share the data, a writer has it alone.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
impl<T: ?Sized> std::panic::UnwindSafe for RwLock<T> {}
impl<T: ?Sized> std::panic::RefUnwindSafe for RwLock<T> {}

/// Writes a guard.
macro_rules! guards {
    ($($name:ident: $words:literal;)*) => {$(
        #[doc = concat!("As `parking_lot::", stringify!($name), "`: ", $words)]
        #[must_use = "if unused the RwLock will immediately unlock"]
        pub struct $name<'a, T: ?Sized> {
            lock: &'a RwLock<T>,
            section: Section,
            _not_send: PhantomData<*const ()>,
        }

        // SAFETY: a shared guard gives shared borrows of the data.
        unsafe impl<T: ?Sized + Sync> Sync for $name<'_, T> {}

        impl<'a, T: ?Sized> $name<'a, T> {
            fn of(lock: &'a RwLock<T>, section: Section) -> Self {
                $name { lock, section, _not_send: PhantomData }
            }
        }

        impl<T: ?Sized> Deref for $name<'_, T> {
            type Target = T;

            #[track_caller]
            fn deref(&self) -> &T {
                self.lock.locked.read(&self.section);
                // SAFETY: the guard has the lock.
                unsafe { &*self.lock.locked.data() }
            }
        }

        impl<T: ?Sized> Drop for $name<'_, T> {
            fn drop(&mut self) {
                self.lock.locked.leave(&mut self.section);
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    )*};
}
guards! {
    RwLockReadGuard: "others may read, too.";
    RwLockWriteGuard: "nobody else has the lock.";
    RwLockUpgradableReadGuard: "others may read, and only this one may become the writer.";
}

/// Writes how a guard becomes one of another mode.
macro_rules! convertible {
    ($($name:ident),*) => {$(
        impl<'a, T: ?Sized> $name<'a, T> {
            /// Takes the guard apart, and leaves the lock as it is.
            fn taken(guard: Self) -> (&'a RwLock<T>, Section) {
                let guard = ManuallyDrop::new(guard);
                // SAFETY: the guard is not used any more.
                (guard.lock, unsafe { ptr::read(&raw const guard.section) })
            }
        }
    )*};
}
convertible!(RwLockWriteGuard, RwLockUpgradableReadGuard);

/// Writes the methods that take the lock in one mode.
macro_rules! methods {
    ($($guard:ident $mode:ident: $enter:ident $attempt:ident $for_some_time:ident;)*) => {$(
        /// Takes the lock in this mode, as soon as that is possible.
        #[track_caller]
        pub fn $enter(&self) -> $guard<'_, T> {
            let section = enter(&self.locked, LockMode::$mode, Patience::Wait);
            $guard::of(self, section.expect("it waits until it is free"))
        }

        /// Takes the lock in this mode if that is possible now.
        #[track_caller]
        pub fn $attempt(&self) -> Option<$guard<'_, T>> {
            let section = enter(&self.locked, LockMode::$mode, Patience::Try)?;
            Some($guard::of(self, section))
        }

        /// Takes the lock in this mode as soon as that is possible, or not.
        #[track_caller]
        pub fn $for_some_time(&self, _time: Duration) -> Option<$guard<'_, T>> {
            let section = enter(&self.locked, LockMode::$mode, Patience::TimeOut)?;
            Some($guard::of(self, section))
        }
    )*};
}

impl<T> RwLock<T> {
    /// Makes a lock that is free.
    #[track_caller]
    pub const fn new(value: T) -> RwLock<T> {
        RwLock { locked: Locked::of(value, std::any::type_name::<RwLock<T>>) }
    }

    /// Returns the data.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.locked.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl<T: ?Sized> RwLock<T> {
    methods! {
        RwLockReadGuard Shared: read try_read try_read_for;
        RwLockWriteGuard Exclusive: write try_write try_write_for;
        RwLockUpgradableReadGuard Upgradable:
            upgradable_read try_upgradable_read try_upgradable_read_for;
    }

    /// Returns whether somebody has the lock, in any mode.
    #[track_caller]
    pub fn is_locked(&self) -> bool {
        !self.locked.is_free(LockMode::Exclusive)
    }

    /// Returns whether somebody has the lock as the writer.
    #[track_caller]
    pub fn is_locked_exclusive(&self) -> bool {
        !self.locked.is_free(LockMode::Shared)
    }

    /// Returns the data. The borrow shows that nobody else has it.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.locked.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Becomes a reader, without a writer in between.
    pub fn downgrade(guard: Self) -> RwLockReadGuard<'a, T> {
        let (lock, mut section) = Self::taken(guard);
        lock.locked.downgrade(&mut section, LockMode::Shared);
        RwLockReadGuard::of(lock, section)
    }

    /// Becomes the reader that may write again, without a writer in between.
    pub fn downgrade_to_upgradable(guard: Self) -> RwLockUpgradableReadGuard<'a, T> {
        let (lock, mut section) = Self::taken(guard);
        lock.locked.downgrade(&mut section, LockMode::Upgradable);
        RwLockUpgradableReadGuard::of(lock, section)
    }
}

impl<'a, T: ?Sized> RwLockUpgradableReadGuard<'a, T> {
    /// Becomes the writer, as soon as nobody else reads.
    #[track_caller]
    pub fn upgrade(guard: Self) -> RwLockWriteGuard<'a, T> {
        let (lock, mut section) = Self::taken(guard);
        let _ = lock.locked.upgrade(&mut section, Patience::Wait);
        RwLockWriteGuard::of(lock, section)
    }

    /// Becomes the writer if nobody else reads.
    ///
    /// # Errors
    ///
    /// The guard, if somebody reads.
    #[track_caller]
    pub fn try_upgrade(mut guard: Self) -> Result<RwLockWriteGuard<'a, T>, Self> {
        if !guard.lock.locked.upgrade(&mut guard.section, Patience::Try) {
            return Err(guard);
        }
        let (lock, section) = Self::taken(guard);
        Ok(RwLockWriteGuard::of(lock, section))
    }

    /// Becomes a reader as the others.
    pub fn downgrade(guard: Self) -> RwLockReadGuard<'a, T> {
        let (lock, mut section) = Self::taken(guard);
        lock.locked.downgrade(&mut section, LockMode::Shared);
        RwLockReadGuard::of(lock, section)
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
