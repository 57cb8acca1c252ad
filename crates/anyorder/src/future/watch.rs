//! A channel of which receivers see the latest value, as that of tokio.

use super::waiters::{Waiters, wake};
use crate::sync::{Arc, Mutex, MutexGuard};
use std::fmt;
use std::future::poll_fn;
use std::ops::Deref;
use std::sync::PoisonError;
use std::task::Poll;

struct State<T> {
    value: T,
    /// How often it was sent.
    version: u64,
    senders: usize,
    receivers: usize,
    waiters: Waiters,
}

struct Shared<T>(Mutex<State<T>>);

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end that sends.
pub struct Sender<T>(Arc<Shared<T>>);

/// An end that receives.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    /// The version that was seen last.
    seen: u64,
}

/// The value, which nobody changes while it is borrowed.
pub struct Ref<'r, T>(MutexGuard<'r, State<T>>);

/// There is no receiver; the value comes back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SendError<T>(pub T);

/// There is no sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecvError;

/// Makes a channel with its first value, which counts as seen.
///
/// ```
/// use anyorder::future::{self, watch};
/// anyorder::check(|| {
///     let (sender, mut receiver) = watch::channel(0);
///     let task = future::spawn(async move { sender.send(1).is_ok() });
///     future::block_on(async {
///         assert!(receiver.changed().await.is_ok());
///         assert_eq!(*receiver.borrow_and_update(), 1);
///         assert!(task.await.unwrap());
///     });
/// });
/// ```
#[track_caller]
pub fn channel<T>(value: T) -> (Sender<T>, Receiver<T>) {
    let state = State { value, version: 0, senders: 1, receivers: 1, waiters: Waiters::new() };
    let shared = Arc::new(Shared(Mutex::new(state)));
    (Sender(Arc::clone(&shared)), Receiver { shared, seen: 0 })
}

impl<T> Sender<T> {
    /// Sends a value to all receivers.
    ///
    /// # Errors
    ///
    /// The value, if there is no receiver.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.0.lock().receivers == 0 {
            return Err(SendError(value));
        }
        self.send_modify(|old| *old = value);
        Ok(())
    }

    /// Changes the value for all receivers, even if there is none.
    pub fn send_modify(&self, modify: impl FnOnce(&mut T)) {
        let mut state = self.0.lock();
        modify(&mut state.value);
        state.version += 1;
        let wakers = state.waiters.take();
        drop(state);
        wake(wakers);
    }

    /// Returns the value.
    pub fn borrow(&self) -> Ref<'_, T> {
        Ref(self.0.lock())
    }

    /// Makes a receiver that has seen the present value.
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        let mut state = self.0.lock();
        state.receivers += 1;
        let seen = state.version;
        drop(state);
        Receiver { shared: Arc::clone(&self.0), seen }
    }

    /// Returns whether there is no receiver.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.lock().receivers == 0
    }
}

impl<T> Receiver<T> {
    /// Returns the value, which does not count as seen by that.
    pub fn borrow(&self) -> Ref<'_, T> {
        Ref(self.shared.lock())
    }

    /// Returns the value, which counts as seen.
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let state = self.shared.lock();
        self.seen = state.version;
        Ref(state)
    }

    /// Returns whether there is a value that was not seen.
    ///
    /// # Errors
    ///
    /// There is no sender.
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        let state = self.shared.lock();
        if state.senders == 0 { Err(RecvError) } else { Ok(state.version != self.seen) }
    }

    /// Waits for a value that was not seen, which then counts as seen.
    ///
    /// # Errors
    ///
    /// There is no sender, and the last value was seen.
    pub async fn changed(&mut self) -> Result<(), RecvError> {
        let mut number = None;
        poll_fn(|context| {
            let mut state = self.shared.lock();
            if state.version != self.seen {
                self.seen = state.version;
                return Poll::Ready(Ok(()));
            }
            if state.senders == 0 {
                return Poll::Ready(Err(RecvError));
            }
            number = Some(state.waiters.wait(number, context.waker()));
            Poll::Pending
        })
        .await
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Receiver<T> {
        self.shared.lock().receivers += 1;
        Receiver { shared: Arc::clone(&self.shared), seen: self.seen }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.senders -= 1;
        let wakers = state.waiters.take();
        drop(state);
        wake(wakers);
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.lock().receivers -= 1;
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

macro_rules! hidden {
    ($($name:ty),*) => {$(
        impl<T> fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}
hidden!(Sender<T>, Receiver<T>, Ref<'_, T>);
