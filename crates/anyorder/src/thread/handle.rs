//! Threads from outside.

use super::spawn::Spawned;
use crate::runtime::{self, Place};
use anyorder_threads::{Act, Object};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// As [`std::thread::ThreadId`]: the same in all executions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ThreadId(u32);

/// The number of the thread: 0 for the main one.
impl From<ThreadId> for usize {
    fn from(id: ThreadId) -> usize {
        id.0 as usize
    }
}

/// As [`std::thread::Thread`].
#[derive(Clone)]
pub struct Thread {
    id: anyorder_threads::ThreadId,
    name: Option<Arc<str>>,
}

impl Thread {
    pub(super) fn new(id: anyorder_threads::ThreadId, name: Option<Arc<str>>) -> Thread {
        Thread { id, name }
    }

    pub(super) fn current() -> Thread {
        let current = runtime::with(|core| {
            core.with_current(|strand| Thread { id: strand.id, name: strand.name.clone() })
        });
        current.expect("a type of `anyorder` was used outside of a check")
    }

    /// Returns its id.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        ThreadId(self.id.0)
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match (&self.name, self.id) {
            (None, anyorder_threads::ThreadId::MAIN) => Some("main"),
            (name, _) => name.as_deref(),
        }
    }

    /// Lets its present or next [`park`](super::park) end.
    #[track_caller]
    pub fn unpark(&self) {
        let place = Place::Token(self.id);
        let token = runtime::with(|core| core.only_object(place, Object::Token(false)));
        if let Some(token) = token {
            runtime::perform(token, Act::Unpark, Location::caller());
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Thread");
        shown.field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

/// As [`std::thread::JoinHandle`].
pub struct JoinHandle<T>(Spawned<T>);

// SAFETY: as that of the standard library: what the thread returns is `Send`.
unsafe impl<T> Send for JoinHandle<T> {}
// SAFETY: as above; the value is taken with the handle.
unsafe impl<T> Sync for JoinHandle<T> {}
impl<T> std::panic::UnwindSafe for JoinHandle<T> {}
impl<T> std::panic::RefUnwindSafe for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    pub(super) fn new(spawned: Spawned<T>) -> JoinHandle<T> {
        JoinHandle(spawned)
    }

    /// Waits until the thread has ended, and returns what it returned.
    ///
    /// # Errors
    ///
    /// The payload of its panic.
    #[track_caller]
    pub fn join(self) -> super::Result<T> {
        self.0.join(Location::caller())
    }

    /// Returns the thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.0.thread
    }

    /// Returns whether the thread has ended.
    #[track_caller]
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished(Location::caller())
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}
