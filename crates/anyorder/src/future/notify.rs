//! Notifications between tasks.

use super::waiters::{Waiters, wake};
use crate::sync::{Mutex, MutexGuard};
use std::future::Future;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll};

/// As that of tokio: wakes one task, or keeps one permit for the next.
#[derive(Debug)]
pub struct Notify {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    has_permit: bool,
    /// How often all were notified.
    generation: u64,
    waiters: Waiters,
}

/// A wait for a notification.
#[derive(Debug)]
pub struct Notified<'n> {
    notify: &'n Notify,
    generation: u64,
    number: Option<u64>,
    is_over: bool,
}

impl Notify {
    /// Makes one without a permit.
    #[track_caller]
    #[must_use]
    pub const fn new() -> Notify {
        let state = State { has_permit: false, generation: 0, waiters: Waiters::new() };
        Notify { state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the task that waits longest; if none does, the next wait ends at once.
    pub fn notify_one(&self) {
        let mut state = self.lock();
        let waker = state.waiters.pop();
        if waker.is_none() {
            state.has_permit = true;
        }
        drop(state);
        wake(waker);
    }

    /// Wakes all tasks that wait.
    pub fn notify_waiters(&self) {
        let mut state = self.lock();
        state.generation += 1;
        let wakers = state.waiters.take();
        drop(state);
        wake(wakers);
    }

    /// Waits for a notification. Those for all count from now on.
    pub fn notified(&self) -> Notified<'_> {
        let generation = self.lock().generation;
        Notified { notify: self, generation, number: None, is_over: false }
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Notify {
        Notify::new()
    }
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.notify.lock();
        let was_woken = self.number.is_some_and(|number| !state.waiters.has(number));
        let is_first = self.number.is_none();
        let is_ready = self.is_over
            || was_woken
            || state.generation != self.generation
            || is_first && std::mem::take(&mut state.has_permit);
        if is_ready {
            drop(state);
            self.is_over = true;
            return Poll::Ready(());
        }
        let number = state.waiters.wait(self.number, context.waker());
        drop(state);
        self.number = Some(number);
        Poll::Pending
    }
}

impl Drop for Notified<'_> {
    fn drop(&mut self) {
        let Some(number) = self.number.filter(|_| !self.is_over) else { return };
        let mut state = self.notify.lock();
        let was_notified = !state.waiters.remove(number) && state.generation == self.generation;
        drop(state);
        if was_notified {
            // Its notification goes to another one.
            self.notify.notify_one();
        }
    }
}
