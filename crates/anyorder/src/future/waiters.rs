//! Tasks that wait in a queue.

use std::task::Waker;

/// Those that wait, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    queue: Vec<(u64, Waker)>,
    last: u64,
}

impl Waiters {
    pub(super) const fn new() -> Waiters {
        Waiters { queue: Vec::new(), last: 0 }
    }

    /// Adds a waiter, or renews the waker of one. Returns its number.
    pub(super) fn wait(&mut self, number: Option<u64>, waker: &Waker) -> u64 {
        let known = self.queue.iter_mut().find(|(other, _)| Some(*other) == number);
        if let Some((number, old)) = known {
            *old = waker.clone();
            return *number;
        }
        self.last += 1;
        self.queue.push((self.last, waker.clone()));
        self.last
    }

    /// Removes a waiter. Returns whether it was there.
    pub(super) fn remove(&mut self, number: u64) -> bool {
        let before = self.queue.len();
        self.queue.retain(|(other, _)| *other != number);
        self.queue.len() < before
    }

    /// Returns whether a waiter is still there.
    pub(super) fn has(&self, number: u64) -> bool {
        self.queue.iter().any(|(other, _)| *other == number)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Returns whether a waiter is the oldest one.
    pub(super) fn is_first(&self, number: u64) -> bool {
        self.queue.first().is_some_and(|(first, _)| *first == number)
    }

    /// Returns the waker of the oldest one, which stays.
    pub(super) fn first(&self) -> Option<Waker> {
        self.queue.first().map(|(_, waker)| waker.clone())
    }

    /// Removes the oldest one.
    pub(super) fn pop(&mut self) -> Option<Waker> {
        (!self.queue.is_empty()).then(|| self.queue.remove(0).1)
    }

    /// Removes all.
    pub(super) fn take(&mut self) -> Vec<Waker> {
        self.queue.drain(..).map(|(_, waker)| waker).collect()
    }
}

/// Wakes what was removed, without a lock held.
pub(super) fn wake(wakers: impl IntoIterator<Item = Waker>) {
    wakers.into_iter().for_each(Waker::wake);
}
