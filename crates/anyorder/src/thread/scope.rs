//! Threads that borrow.

use super::handle::Thread;
use super::spawn::{self, Spawned};
use crate::runtime;
use anyorder_threads::{Act, ObjectId, ThreadId};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{self, AssertUnwindSafe, Location};
use std::sync::{Arc, Mutex, PoisonError};

/// What a scope knows of its threads.
#[derive(Default)]
struct Threads {
    /// Each creator with a thread and where that is joined, in the order of the spawns.
    spawned: Mutex<Vec<(ThreadId, ThreadId, ObjectId)>>,
    /// Those that panicked.
    panicked: Mutex<Vec<ThreadId>>,
}

/// As [`std::thread::Scope`].
pub struct Scope<'scope, 'env: 'scope> {
    threads: Arc<Threads>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// As [`std::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T> {
    spawned: Spawned<T>,
    threads: Arc<Threads>,
    id: ThreadId,
    scope: PhantomData<&'scope ()>,
}

// SAFETY: as that of the standard library.
unsafe impl<T> Send for ScopedJoinHandle<'_, T> {}
// SAFETY: as above.
unsafe impl<T> Sync for ScopedJoinHandle<'_, T> {}

/// As [`std::thread::scope`].
///
/// # Panics
///
/// If a thread panicked that was not joined.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let at = Location::caller();
    let threads = Arc::new(Threads::default());
    let scope = Scope { threads: Arc::clone(&threads), scope: PhantomData, env: PhantomData };
    let result = panic::catch_unwind(AssertUnwindSafe(|| f(&scope)));
    match result {
        Err(payload) => {
            threads.join_all(at);
            panic::resume_unwind(payload)
        }
        Ok(value) => {
            threads.join_all(at);
            assert!(!threads.has_panicked(), "a scoped thread panicked");
            value
        }
    }
}

fn current() -> ThreadId {
    let current = runtime::with(|core| core.with_current(|strand| strand.id));
    current.expect("a type of `anyorder` was used outside of a check")
}

impl Threads {
    /// Waits for all threads: in the order in which each thread spawned its own, whatever the
    /// others did meanwhile.
    fn join_all(&self, at: &'static Location<'static>) {
        let mut creators = vec![current()];
        while let Some(creator) = creators.pop() {
            for (thread, end) in self.spawned_by(creator) {
                runtime::perform(end, Act::Join, at);
                creators.push(thread);
            }
        }
    }

    fn spawned_by(&self, creator: ThreadId) -> Vec<(ThreadId, ObjectId)> {
        let spawned = self.spawned.lock().unwrap_or_else(PoisonError::into_inner);
        let own = spawned.iter().filter(|(by, ..)| *by == creator);
        own.map(|(_, thread, end)| (*thread, *end)).collect()
    }

    fn has_panicked(&self) -> bool {
        !self.panicked.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Spawns a thread that may borrow what outlives the scope.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_named(f, None)
    }

    #[track_caller]
    pub(super) fn spawn_named<F, T>(
        &'scope self,
        f: F,
        name: Option<String>,
    ) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let creator = current();
        let theirs = Arc::clone(&self.threads);
        let body = move || {
            let witness = Witness { threads: theirs, is_done: Cell::new(false) };
            let value = f();
            witness.is_done.set(true);
            value
        };
        let spawned = spawn::spawn(body, name);
        let (id, end) = (spawned.id, spawned.end);
        runtime::unseen(|| {
            let mut all = self.threads.spawned.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((creator, id, end));
        });
        ScopedJoinHandle { spawned, threads: Arc::clone(&self.threads), id, scope: PhantomData }
    }
}

/// Notes a panic of a thread.
struct Witness {
    threads: Arc<Threads>,
    is_done: Cell<bool>,
}

impl Drop for Witness {
    fn drop(&mut self) {
        if !self.is_done.get() && !runtime::is_stopping() {
            let id = current();
            runtime::unseen(|| {
                let panicked = &self.threads.panicked;
                panicked.lock().unwrap_or_else(PoisonError::into_inner).push(id);
            });
        }
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits until the thread has ended, and returns what it returned.
    ///
    /// # Errors
    ///
    /// The payload of its panic.
    #[track_caller]
    pub fn join(self) -> super::Result<T> {
        let result = self.spawned.join(Location::caller());
        if result.is_err() {
            let mut panicked = self.threads.panicked.lock().unwrap_or_else(PoisonError::into_inner);
            panicked.retain(|other| *other != self.id);
        }
        result
    }

    /// Returns the thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.spawned.thread
    }

    /// Returns whether the thread has ended.
    #[track_caller]
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.spawned.is_finished(Location::caller())
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
