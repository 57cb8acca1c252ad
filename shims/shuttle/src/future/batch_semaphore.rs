//! Permits for tasks and threads, taken several at a time.

use anyorder::sync::{Mutex, MutexGuard, PoisonError};
use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Who gets permits first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fairness {
    /// Who asked first.
    StrictlyFair,
    /// Anyone.
    Unfair,
}

/// The semaphore was closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AcquireError(());

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("semaphore closed")
    }
}

impl Error for AcquireError {}

/// Why no permits were given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TryAcquireError {
    /// The semaphore was closed.
    Closed,
    /// There are not enough.
    NoPermits,
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryAcquireError::Closed => "semaphore closed",
            TryAcquireError::NoPermits => "no permits available",
        })
    }
}

impl Error for TryAcquireError {}

/// Permits.
#[derive(Debug)]
pub struct BatchSemaphore {
    fairness: Fairness,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    permits: usize,
    is_closed: bool,
    /// The number of who waits and its waker, the oldest first.
    waiting: VecDeque<(u64, Waker)>,
    last: u64,
}

impl BatchSemaphore {
    /// Makes a semaphore with some permits.
    #[must_use]
    pub fn new(permits: usize, fairness: Fairness) -> BatchSemaphore {
        BatchSemaphore::const_new(permits, fairness)
    }

    /// Makes a semaphore with some permits.
    #[must_use]
    pub const fn const_new(permits: usize, fairness: Fairness) -> BatchSemaphore {
        let waiting = VecDeque::new();
        let state = State { permits, is_closed: false, waiting, last: 0 };
        BatchSemaphore { fairness, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many permits there are.
    #[must_use]
    pub fn available_permits(&self) -> usize {
        self.lock().permits
    }

    /// Ends all waiting.
    pub fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        let woken = std::mem::take(&mut state.waiting);
        drop(state);
        woken.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// Returns whether it is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Takes permits if there are enough.
    ///
    /// # Errors
    ///
    /// There are not enough, or it is closed.
    pub fn try_acquire(&self, count: usize) -> Result<(), TryAcquireError> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(TryAcquireError::Closed);
        }
        let must_wait = self.fairness == Fairness::StrictlyFair && !state.waiting.is_empty();
        match state.permits.checked_sub(count) {
            Some(left) if !must_wait => {
                state.permits = left;
                Ok(())
            }
            _ => Err(TryAcquireError::NoPermits),
        }
    }

    /// Takes permits as soon as there are enough.
    pub fn acquire(&self, count: usize) -> Acquire<'_> {
        Acquire { semaphore: self, count, number: None }
    }

    /// As [`acquire`](Self::acquire), for threads.
    ///
    /// # Errors
    ///
    /// It is closed.
    pub fn acquire_blocking(&self, count: usize) -> Result<(), AcquireError> {
        anyorder::future::block_on(self.acquire(count))
    }

    /// Gives permits.
    pub fn release(&self, count: usize) {
        let mut state = self.lock();
        state.permits += count;
        let woken = self.next(&state);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Those who may try now.
    fn next(&self, state: &State) -> Vec<Waker> {
        let most = if self.fairness == Fairness::StrictlyFair { 1 } else { usize::MAX };
        state.waiting.iter().take(most).map(|(_, waker)| waker.clone()).collect()
    }
}

/// A wait for permits.
#[derive(Debug)]
pub struct Acquire<'s> {
    semaphore: &'s BatchSemaphore,
    count: usize,
    number: Option<u64>,
}

impl Future for Acquire<'_> {
    type Output = Result<(), AcquireError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let semaphore = self.semaphore;
        let mut state = semaphore.lock();
        if state.is_closed {
            drop(state);
            self.number = None;
            return Poll::Ready(Err(AcquireError(())));
        }
        let at = state.waiting.iter().position(|waiting| Some(waiting.0) == self.number);
        let is_first = at == Some(0) || at.is_none() && state.waiting.is_empty();
        let may = is_first || semaphore.fairness == Fairness::Unfair;
        if may && let Some(left) = state.permits.checked_sub(self.count) {
            state.permits = left;
            if let Some(at) = at {
                state.waiting.remove(at);
            }
            // There may be enough for the next one.
            let woken = semaphore.next(&state);
            drop(state);
            self.number = None;
            woken.into_iter().for_each(Waker::wake);
            return Poll::Ready(Ok(()));
        }
        match at {
            Some(at) => state.waiting[at].1 = context.waker().clone(),
            None => {
                state.last += 1;
                let number = state.last;
                state.waiting.push_back((number, context.waker().clone()));
                drop(state);
                self.number = Some(number);
            }
        }
        Poll::Pending
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut state = self.semaphore.lock();
        state.waiting.retain(|waiting| waiting.0 != number);
        let woken = self.semaphore.next(&state);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }
}
