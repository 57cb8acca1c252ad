//! A channel of tasks, as that of tokio.

use super::semaphore::Semaphore;
use super::waiters::wake;
use crate::sync::{Arc, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

struct State<T> {
    items: VecDeque<T>,
    senders: usize,
    has_receiver: bool,
    receiver: Option<Waker>,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    /// A permit for each free place; none for a channel without a bound.
    room: Option<Semaphore>,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, item: T) -> Result<(), SendError<T>> {
        let mut state = self.lock();
        if !state.has_receiver {
            return Err(SendError(item));
        }
        state.items.push_back(item);
        let waker = state.receiver.take();
        drop(state);
        wake(waker);
        Ok(())
    }

    #[track_caller]
    fn new(bound: Option<usize>) -> Arc<Shared<T>> {
        let (items, receiver) = (VecDeque::new(), None);
        let state = State { items, senders: 1, has_receiver: true, receiver };
        Arc::new(Shared { state: Mutex::new(state), room: bound.map(Semaphore::new) })
    }
}

/// The receiver is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SendError<T>(pub T);

/// Why an item was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrySendError<T> {
    /// There is no room.
    Full(T),
    /// The receiver is gone.
    Closed(T),
}

/// Why there is no item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TryRecvError {
    /// There is none yet.
    Empty,
    /// No sender is left.
    Disconnected,
}

/// The end that sends, of a channel with a bound.
pub struct Sender<T>(Arc<Shared<T>>);

/// The end that sends, of a channel without a bound.
pub struct UnboundedSender<T>(Arc<Shared<T>>);

/// The end that receives, of a channel with a bound.
pub struct Receiver<T>(Arc<Shared<T>>);

/// The end that receives, of a channel without a bound.
pub type UnboundedReceiver<T> = Receiver<T>;

/// Makes a channel with a bound.
///
/// # Panics
///
/// If the bound is 0.
#[must_use]
#[track_caller]
pub fn channel<T>(bound: usize) -> (Sender<T>, Receiver<T>) {
    assert!(bound > 0, "mpsc bounded channel requires buffer > 0");
    let shared = Shared::new(Some(bound));
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

/// Makes a channel without a bound.
#[must_use]
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let shared = Shared::new(None);
    (UnboundedSender(Arc::clone(&shared)), Receiver(shared))
}

impl<T> Sender<T> {
    /// Sends an item, as soon as there is room.
    ///
    /// # Errors
    ///
    /// The item, if the receiver is gone.
    pub async fn send(&self, item: T) -> Result<(), SendError<T>> {
        if let Some(room) = &self.0.room {
            match room.acquire().await {
                Ok(permit) => permit.forget(),
                Err(_) => return Err(SendError(item)),
            }
        }
        self.0.push(item)
    }

    /// Sends an item, if there is room.
    ///
    /// # Errors
    ///
    /// The item.
    pub fn try_send(&self, item: T) -> Result<(), TrySendError<T>> {
        if let Some(room) = &self.0.room {
            match room.try_acquire() {
                Ok(permit) => permit.forget(),
                Err(super::TryAcquireError::NoPermits) => return Err(TrySendError::Full(item)),
                Err(super::TryAcquireError::Closed) => return Err(TrySendError::Closed(item)),
            }
        }
        self.0.push(item).map_err(|error| TrySendError::Closed(error.0))
    }
}

impl<T> UnboundedSender<T> {
    /// Sends an item.
    ///
    /// # Errors
    ///
    /// The item, if the receiver is gone.
    pub fn send(&self, item: T) -> Result<(), SendError<T>> {
        self.0.push(item)
    }
}

macro_rules! sender {
    ($($name:ident),*) => {$(
        impl<T> $name<T> {
            /// Returns whether the receiver is gone.
            #[must_use]
            pub fn is_closed(&self) -> bool {
                !self.0.lock().has_receiver
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> $name<T> {
                self.0.lock().senders += 1;
                $name(Arc::clone(&self.0))
            }
        }

        impl<T> Drop for $name<T> {
            fn drop(&mut self) {
                let mut state = self.0.lock();
                state.senders -= 1;
                let waker = if state.senders == 0 { state.receiver.take() } else { None };
                drop(state);
                wake(waker);
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}
sender!(Sender, UnboundedSender);

impl<T> Receiver<T> {
    fn free(&self) {
        if let Some(room) = &self.0.room {
            room.add_permits(1);
        }
    }

    /// As [`recv`](Self::recv), for a poll by hand.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut state = self.0.lock();
        match state.items.pop_front() {
            Some(item) => {
                drop(state);
                self.free();
                Poll::Ready(Some(item))
            }
            None if state.senders == 0 || !state.has_receiver => Poll::Ready(None),
            None => {
                state.receiver = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Receives an item; `None` if there is none and no sender is left.
    pub async fn recv(&mut self) -> Option<T> {
        poll_fn(|context| self.poll_recv(context)).await
    }

    /// Receives an item, if there is one.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let mut state = self.0.lock();
        match state.items.pop_front() {
            Some(item) => {
                drop(state);
                self.free();
                Ok(item)
            }
            None if state.senders == 0 => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Refuses further items.
    pub fn close(&mut self) {
        self.0.lock().has_receiver = false;
        if let Some(room) = &self.0.room {
            room.close();
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.close();
        let items = std::mem::take(&mut self.0.lock().items);
        drop(items);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
