//! Threads with a name.

use super::handle::JoinHandle;
use super::scope::{Scope, ScopedJoinHandle};
use super::spawn;
use std::io;

/// As [`std::thread::Builder`]. The size of stacks is that of [`Setting`](crate::Setting).
#[derive(Debug, Default)]
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    name: Option<String>,
}

impl Builder {
    /// Makes a builder of threads without a name.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Sets the name.
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// Changes nothing: all threads of a check have stacks of the same size.
    pub fn stack_size(self, _size: usize) -> Builder {
        self
    }

    /// Spawns a thread.
    ///
    /// # Errors
    ///
    /// None.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        Ok(JoinHandle::new(spawn::spawn(f, self.name)))
    }

    /// Spawns a thread in a scope.
    ///
    /// # Errors
    ///
    /// None.
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Ok(scope.spawn_named(f, self.name))
    }
}
