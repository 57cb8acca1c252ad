//! Locks that tasks wait for, as those of tokio: held across awaits, in the order of the asking.

use super::semaphore::{Permit, Semaphore};
use crate::cell::{MutPtr, UnsafeCell};
use std::cell::Cell;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// The permits of a lock for readers: as many readers as that at once.
const READERS_MAX: u32 = 1 << 16;

/// Why a lock was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TryLockError(());

impl fmt::Display for TryLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operation would block")
    }
}

impl std::error::Error for TryLockError {}

/// Data behind permits: all of them to write, one to read.
struct Guarded<T: ?Sized> {
    permits: Semaphore,
    data: UnsafeCell<T>,
}

// SAFETY: as that of tokio: whoever has all permits is alone, readers share.
unsafe impl<T: ?Sized + Send + Sync> Sync for Guarded<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Send for Guarded<T> {}

/// As that of tokio.
pub struct Mutex<T: ?Sized> {
    guarded: Guarded<T>,
}

// SAFETY: one task at a time has the data.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// The lock, given back when it is dropped.
#[must_use = "if unused the lock is given back at once"]
pub struct MutexGuard<'l, T: ?Sized>(WriteGuard<'l, T>);

/// As that of tokio.
pub struct RwLock<T: ?Sized> {
    guarded: Guarded<T>,
}

/// The lock for reading, given back when it is dropped.
#[must_use = "if unused the lock is given back at once"]
pub struct ReadGuard<'l, T: ?Sized> {
    data: &'l UnsafeCell<T>,
    is_read: Cell<bool>,
    _permit: Permit<'l>,
}

/// The lock for writing, given back when it is dropped.
#[must_use = "if unused the lock is given back at once"]
pub struct WriteGuard<'l, T: ?Sized> {
    data: &'l UnsafeCell<T>,
    is_read: Cell<bool>,
    /// A write, which ends before the permits are given back.
    write: Option<MutPtr<T>>,
    _permit: Permit<'l>,
}

// SAFETY: a task may go on on another thread; the pointer is that of the data.
unsafe impl<T: ?Sized + Send> Send for WriteGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Send for ReadGuard<'_, T> {}

impl<T> Guarded<T> {
    #[track_caller]
    const fn new(value: T, permits: u32) -> Guarded<T> {
        Guarded { permits: Semaphore::new(permits as usize), data: UnsafeCell::new(value) }
    }
}

impl<T: ?Sized> Guarded<T> {
    async fn write(&self, permits: u32) -> WriteGuard<'_, T> {
        // Nobody closes it.
        let permit = self.permits.acquire_many(permits).await.expect("it is open");
        self.writer(permit)
    }

    fn writer<'l>(&'l self, permit: Permit<'l>) -> WriteGuard<'l, T> {
        WriteGuard { data: &self.data, is_read: Cell::new(false), write: None, _permit: permit }
    }

    fn reader<'l>(&'l self, permit: Permit<'l>) -> ReadGuard<'l, T> {
        ReadGuard { data: &self.data, is_read: Cell::new(false), _permit: permit }
    }
}

impl<T> Mutex<T> {
    /// Makes a lock that is free.
    #[track_caller]
    pub const fn new(value: T) -> Mutex<T> {
        Mutex { guarded: Guarded::new(value, 1) }
    }

    /// Returns the data.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.guarded.data.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Takes the lock, once it is free and nobody else asked before.
    ///
    /// ```
    /// use anyorder::future;
    /// anyorder::check(|| {
    ///     let count = future::Mutex::new(0);
    ///     future::block_on(async { *count.lock().await += 1 });
    ///     assert_eq!(count.into_inner(), 1);
    /// });
    /// ```
    pub async fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(self.guarded.write(1).await)
    }

    /// Takes the lock if it is free.
    ///
    /// # Errors
    ///
    /// It is not.
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let permit = self.guarded.permits.try_acquire().map_err(|_| TryLockError(()))?;
        Ok(MutexGuard(self.guarded.writer(permit)))
    }
}

impl<T> RwLock<T> {
    /// Makes a lock that is free.
    #[track_caller]
    pub const fn new(value: T) -> RwLock<T> {
        RwLock { guarded: Guarded::new(value, READERS_MAX) }
    }

    /// Returns the data.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.guarded.data.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Takes the lock for reading, once no writer has it, or asked before.
    pub async fn read(&self) -> ReadGuard<'_, T> {
        let permit = self.guarded.permits.acquire().await.expect("it is open");
        self.guarded.reader(permit)
    }

    /// Takes the lock for writing, once it is free and nobody else asked before.
    ///
    /// ```
    /// use anyorder::future;
    /// anyorder::check(|| {
    ///     let lock = future::RwLock::new(1);
    ///     future::block_on(async {
    ///         *lock.write().await += 1;
    ///         assert_eq!(*lock.read().await + *lock.read().await, 4);
    ///     });
    /// });
    /// ```
    pub async fn write(&self) -> WriteGuard<'_, T> {
        self.guarded.write(READERS_MAX).await
    }

    /// Takes the lock for reading if no writer has it, or waits for it.
    ///
    /// # Errors
    ///
    /// One has.
    pub fn try_read(&self) -> Result<ReadGuard<'_, T>, TryLockError> {
        let permit = self.guarded.permits.try_acquire().map_err(|_| TryLockError(()))?;
        Ok(self.guarded.reader(permit))
    }
}

impl<T: ?Sized> Deref for WriteGuard<'_, T> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        match &self.write {
            // SAFETY: the guard is alone with the data.
            Some(write) => unsafe { MutPtr::deref(write) },
            // SAFETY: nobody writes while the guard lives.
            None => unsafe { read(self.data, &self.is_read) },
        }
    }
}

impl<T: ?Sized> DerefMut for WriteGuard<'_, T> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        // Not in a closure, which would not know the caller.
        if self.write.is_none() {
            self.write = Some(self.data.get_mut());
        }
        let write = self.write.as_ref().expect("it was begun");
        // SAFETY: the guard is alone with the data.
        unsafe { MutPtr::deref(write) }
    }
}

impl<T: ?Sized> Drop for WriteGuard<'_, T> {
    fn drop(&mut self) {
        drop(self.write.take());
    }
}

impl<T: ?Sized> Deref for ReadGuard<'_, T> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        // SAFETY: nobody writes while the guard lives.
        unsafe { read(self.data, &self.is_read) }
    }
}

/// Reads the data: one operation for all reads of a holder.
///
/// # Safety
///
/// Nobody writes for as long as the borrow lives.
#[track_caller]
unsafe fn read<'l, T: ?Sized>(data: &'l UnsafeCell<T>, is_read: &Cell<bool>) -> &'l T {
    if is_read.replace(true) {
        // SAFETY: the caller's promise.
        return unsafe { &*data.pointer() };
    }
    // SAFETY: the caller's promise.
    data.with(|pointer| unsafe { &*pointer })
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

macro_rules! hidden {
    ($($name:ident<$($life:lifetime,)? T>),*) => {$(
        impl<T: ?Sized> fmt::Debug for $name<$($life,)? T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}
hidden!(Mutex<T>, RwLock<T>, MutexGuard<'_, T>, ReadGuard<'_, T>, WriteGuard<'_, T>);
