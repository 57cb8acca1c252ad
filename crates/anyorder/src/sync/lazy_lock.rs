//! A value that is made when it is used first.

use super::once::Completion;
use crate::runtime::{self, Contents};
use std::fmt;
use std::mem;
use std::ops::Deref;

/// As [`std::sync::LazyLock`].
pub struct LazyLock<T, F = fn() -> T> {
    completion: Completion,
    state: Contents<State<T, F>>,
}

enum State<T, F> {
    Pending(F),
    Made(T),
    Poisoned,
}

// SAFETY: as that of the standard library: the value is written once, before it is read.
unsafe impl<T: Sync + Send, F: Send> Sync for LazyLock<T, F> {}
// SAFETY: as above.
unsafe impl<T: Send, F: Send> Send for LazyLock<T, F> {}
impl<T: std::panic::UnwindSafe, F: std::panic::UnwindSafe> std::panic::UnwindSafe
    for LazyLock<T, F>
{
}
impl<T: std::panic::RefUnwindSafe + std::panic::UnwindSafe, F: std::panic::UnwindSafe>
    std::panic::RefUnwindSafe for LazyLock<T, F>
{
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Makes a value that `f` will make.
    #[track_caller]
    pub const fn new(f: F) -> LazyLock<T, F> {
        LazyLock {
            completion: Completion::new(std::any::type_name::<LazyLock<T, F>>),
            state: Contents::new(State::Pending(f)),
        }
    }

    /// Returns the value. At first, makes it.
    ///
    /// # Panics
    ///
    /// If an earlier attempt panicked.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        if let Some(mut turn) = this.completion.turn() {
            // SAFETY: whoever has the turn is alone.
            let state = unsafe { &mut *this.state.get() };
            let State::Pending(f) = mem::replace(state, State::Poisoned) else {
                panic!("LazyLock instance has previously been poisoned");
            };
            let value = f();
            let version = runtime::version_of(&value);
            // SAFETY: as above. `f` may have run other threads, but none has the turn.
            unsafe { *this.state.get() = State::Made(value) };
            turn.complete(version);
        }
        // SAFETY: it is written by who has the turn, once, before anybody finds it done.
        match unsafe { &*this.state.get() } {
            State::Made(value) => value,
            _ => unreachable!("it is done"),
        }
    }

    /// Returns the value, or what makes it.
    ///
    /// # Errors
    ///
    /// What makes it, if it was not made.
    ///
    /// # Panics
    ///
    /// If an attempt panicked.
    pub fn into_inner(this: Self) -> Result<T, F> {
        match this.state.into_inner() {
            State::Made(value) => Ok(value),
            State::Pending(f) => Err(f),
            State::Poisoned => panic!("LazyLock instance has previously been poisoned"),
        }
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    #[track_caller]
    fn default() -> LazyLock<T> {
        LazyLock::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No operation: what is printed must not change what happens.
        f.debug_struct("LazyLock").finish_non_exhaustive()
    }
}
