//! Values of which each thread has its own.

use crate::runtime::{self, Local, Owned};
use std::cell::{Cell, RefCell};
use std::fmt;

/// As [`std::thread::LocalKey`].
pub struct LocalKey<T: 'static> {
    #[doc(hidden)]
    pub init: fn() -> T,
}

/// As [`std::thread::AccessError`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AccessError;

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError").finish()
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl std::error::Error for AccessError {}

/// As [`std::thread_local!`], for the threads of checks.
///
/// ```
/// use std::cell::Cell;
/// anyorder::thread_local! {
///     static COUNT: Cell<u32> = const { Cell::new(0) };
/// }
/// anyorder::check(|| {
///     COUNT.set(1);
///     let other = anyorder::thread::spawn(|| COUNT.get());
///     assert_eq!(other.join().unwrap(), 0);
/// });
/// ```
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = const $init:block; $($rest:tt)*) => {
        $crate::thread_local!($(#[$attribute])* $vis static $name: $type = const $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = const $init:block) => {
        $(#[$attribute])*
        $vis static $name: $crate::thread::LocalKey<$type> =
            $crate::thread::LocalKey { init: || -> $type { const { $init } } };
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::thread_local!($(#[$attribute])* $vis static $name: $type = $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = $init:expr) => {
        $(#[$attribute])*
        $vis static $name: $crate::thread::LocalKey<$type> =
            $crate::thread::LocalKey { init: || -> $type { $init } };
    };
}

impl<T: 'static> LocalKey<T> {
    /// Calls `f` with the value of this thread, which is made at first.
    ///
    /// # Errors
    ///
    /// The value was destroyed: the thread ends.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        Ok(f(self.get_or_init(self.init)?))
    }

    /// As [`try_with`](Self::try_with).
    ///
    /// # Panics
    ///
    /// If the value was destroyed.
    #[track_caller]
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        match self.try_with(f) {
            Ok(result) => result,
            Err(_) => panic!(
                "cannot access a Thread Local Storage value during or after destruction: \
                 AccessError"
            ),
        }
    }

    fn get_or_init(&'static self, init: impl FnOnce() -> T) -> Result<&'static T, AccessError> {
        let key = std::ptr::from_ref(self) as usize;
        let get = || runtime::with(|core| core.with_current(|strand| strand.locals.get(key)));
        let mut local = get().expect("a type of `anyorder` was used outside of a check");
        if local == Local::Absent {
            let value = Box::into_raw(Box::new(init())).cast::<()>();
            let owned = Owned { value, free: free::<T> };
            runtime::with(|core| {
                core.with_current(|strand| strand.locals.insert(key, owned));
            });
            local = Local::Alive(value);
        }
        match local {
            // SAFETY: it was made above, and lives until the thread ends. `with` keeps it inside.
            Local::Alive(value) => Ok(unsafe { &*value.cast::<T>() }),
            _ => Err(AccessError),
        }
    }
}

/// Frees a value.
///
/// # Safety
///
/// It must be a box of this type, freed once.
unsafe fn free<T>(value: *mut ()) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(value.cast::<T>()) });
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Sets the value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// Returns the value.
    #[must_use]
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Takes the value, and leaves the default.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// Replaces the value.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Calls `f` with a borrow of the value.
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Calls `f` with an exclusive borrow of the value.
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// Sets the value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| *cell.borrow_mut() = value);
    }

    /// Takes the value, and leaves the default.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Replaces the value.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}
