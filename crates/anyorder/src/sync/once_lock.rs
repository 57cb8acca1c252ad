//! A value that is set once.

use super::once::Completion;
use crate::runtime::{self, Contents};
use std::convert::Infallible;
use std::fmt;
use std::panic::Location;

/// As [`std::sync::OnceLock`].
pub struct OnceLock<T> {
    completion: Completion,
    value: Contents<Option<T>>,
}

// SAFETY: as that of the standard library: the value is written once, before it is read.
unsafe impl<T: Sync + Send> Sync for OnceLock<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for OnceLock<T> {}
impl<T: std::panic::UnwindSafe> std::panic::UnwindSafe for OnceLock<T> {}
impl<T: std::panic::RefUnwindSafe + std::panic::UnwindSafe> std::panic::RefUnwindSafe
    for OnceLock<T>
{
}

impl<T> OnceLock<T> {
    /// Makes one without a value.
    #[track_caller]
    #[must_use]
    pub const fn new() -> OnceLock<T> {
        OnceLock {
            completion: Completion::new(std::any::type_name::<OnceLock<T>>),
            value: Contents::new(None),
        }
    }

    fn value(&self) -> Option<&T> {
        // SAFETY: it is written by who has the turn, once, before anybody finds it done.
        unsafe { (*self.value.get()).as_ref() }
    }

    /// Returns the value, if there is one.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if self.completion.is_done() { self.value() } else { None }
    }

    /// Returns the value for changes, if there is one.
    #[track_caller]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        let is_done = !runtime::is_checking() || self.completion.is_done();
        self.value.get_mut().as_mut().filter(|_| is_done)
    }

    /// Waits until there is a value.
    #[track_caller]
    pub fn wait(&self) -> &T {
        loop {
            if let Some(value) = self.get() {
                return value;
            }
            runtime::give_way(Location::caller());
        }
    }

    /// Sets the value.
    ///
    /// # Errors
    ///
    /// The new value, if there was one before.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("it is called once"));
        value.map_or(Ok(()), Err)
    }

    /// Returns the value. At first, sets it to what `f` makes.
    #[track_caller]
    pub fn get_or_init(&self, f: impl FnOnce() -> T) -> &T {
        match self.try_init(|| Ok::<T, Infallible>(f())) {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    #[track_caller]
    fn try_init<E>(&self, f: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        if let Some(mut turn) = self.completion.turn() {
            // A panic of `f` leaves it as it was: the standard library tries again, too.
            let value = f()?;
            let version = runtime::version_of(&value);
            // SAFETY: whoever has the turn is alone.
            unsafe { *self.value.get() = Some(value) };
            turn.complete(version);
        }
        Ok(self.value().expect("it was set"))
    }

    /// Returns the value, if there is one.
    #[track_caller]
    #[must_use]
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// Takes the value, if there is one: another one can be set.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        let is_done = !runtime::is_checking() || self.completion.is_done();
        self.completion.renew();
        self.value.get_mut().take().filter(|_| is_done)
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> OnceLock<T> {
        let lock = OnceLock::new();
        let _ = lock.set(value);
        lock
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> OnceLock<T> {
        match self.get() {
            Some(value) => OnceLock::from(value.clone()),
            None => OnceLock::new(),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No operation: what is printed must not change what happens.
        f.debug_struct("OnceLock").finish_non_exhaustive()
    }
}
