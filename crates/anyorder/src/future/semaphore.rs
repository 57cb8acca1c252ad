//! Permits for tasks.

use super::waiters::{Waiters, wake};
use crate::sync::{Mutex, MutexGuard};
use std::fmt;
use std::future::poll_fn;
use std::sync::PoisonError;
use std::task::Poll;

/// As that of tokio: permits, given to tasks in the order in which they ask.
#[derive(Debug)]
pub struct Semaphore {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    permits: usize,
    is_closed: bool,
    waiters: Waiters,
}

/// The semaphore was closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AcquireError;

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("semaphore closed")
    }
}

impl std::error::Error for AcquireError {}

/// Why no permit was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TryAcquireError {
    /// The semaphore was closed.
    Closed,
    /// There are not enough.
    NoPermits,
}

/// Permits, given back when they are dropped.
#[derive(Debug)]
#[must_use = "permits that are not kept are given back"]
pub struct Permit<'s> {
    semaphore: &'s Semaphore,
    count: usize,
}

/// Leaves the queue when it is dropped.
struct Place<'s> {
    semaphore: &'s Semaphore,
    number: Option<u64>,
}

impl Semaphore {
    /// Makes a semaphore with some permits.
    #[track_caller]
    #[must_use]
    pub const fn new(permits: usize) -> Semaphore {
        let state = State { permits, is_closed: false, waiters: Waiters::new() };
        Semaphore { state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many permits are available.
    #[must_use]
    pub fn available_permits(&self) -> usize {
        self.lock().permits
    }

    /// Gives permits.
    pub fn add_permits(&self, count: usize) {
        let mut state = self.lock();
        state.permits += count;
        let waker = state.waiters.first();
        drop(state);
        wake(waker);
    }

    /// Gives no more permits: all who wait fail.
    pub fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        let wakers = state.waiters.take();
        drop(state);
        wake(wakers);
    }

    /// Returns whether it was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Takes one permit.
    ///
    /// # Errors
    ///
    /// It was closed.
    pub async fn acquire(&self) -> Result<Permit<'_>, AcquireError> {
        self.acquire_many(1).await
    }

    /// Takes some permits.
    ///
    /// # Errors
    ///
    /// It was closed.
    pub async fn acquire_many(&self, count: u32) -> Result<Permit<'_>, AcquireError> {
        let count = count as usize;
        let mut place = Place { semaphore: self, number: None };
        poll_fn(|context| {
            let mut state = self.lock();
            if state.is_closed {
                return Poll::Ready(Err(AcquireError));
            }
            let is_first = match place.number {
                Some(number) => state.waiters.is_first(number),
                None => state.waiters.is_empty(),
            };
            if !is_first || state.permits < count {
                place.number = Some(state.waiters.wait(place.number, context.waker()));
                return Poll::Pending;
            }
            state.permits -= count;
            Poll::Ready(Ok(Permit { semaphore: self, count }))
        })
        .await
    }

    /// Takes one permit, if there is one.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn try_acquire(&self) -> Result<Permit<'_>, TryAcquireError> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(TryAcquireError::Closed);
        }
        if state.permits == 0 {
            return Err(TryAcquireError::NoPermits);
        }
        state.permits -= 1;
        drop(state);
        Ok(Permit { semaphore: self, count: 1 })
    }
}

impl Permit<'_> {
    /// Keeps the permits for ever.
    pub fn forget(mut self) {
        self.count = 0;
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if self.count > 0 {
            self.semaphore.add_permits(self.count);
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut state = self.semaphore.lock();
        state.waiters.remove(number);
        // The next one may have enough.
        let waker = if state.permits > 0 { state.waiters.first() } else { None };
        drop(state);
        wake(waker);
    }
}
