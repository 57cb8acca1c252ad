//! Futures.

use std::future::Future;
use std::task::Waker;

/// Runs a future to its end on this thread. It may be polled once without a reason.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    anyorder::future::block_on_with_spurious_polls(future, 1)
}

/// Holds the waker of the task that registered last.
#[derive(Debug, Default)]
pub struct AtomicWaker {
    waker: anyorder::future::AtomicWaker,
}

impl AtomicWaker {
    /// Makes one without a waker.
    #[must_use]
    pub fn new() -> AtomicWaker {
        AtomicWaker::default()
    }

    /// Registers the waker of a task.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        self.waker.register(&waker);
    }

    /// Registers the waker of a task.
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    /// Wakes the task that registered last.
    pub fn wake(&self) {
        self.waker.wake();
    }

    /// Takes the waker.
    pub fn take_waker(&self) -> Option<Waker> {
        self.waker.take()
    }
}
