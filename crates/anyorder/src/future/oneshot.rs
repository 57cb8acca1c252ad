//! A channel for one item, as that of tokio.

use crate::sync::{Arc, Mutex, MutexGuard};
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

struct State<T> {
    item: Option<T>,
    has_sender: bool,
    has_receiver: bool,
    receiver: Option<Waker>,
    sender: Option<Waker>,
}

struct Shared<T>(Mutex<State<T>>);

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end that sends.
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

/// The end that receives: a future of the item.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
}

/// The sender is gone, and sent nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RecvError;

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("channel closed")
    }
}

impl std::error::Error for RecvError {}

/// Why there is no item.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TryRecvError {
    /// It was not sent yet.
    Empty,
    /// The sender is gone, and sent nothing.
    Closed,
}

/// Makes a channel for one item.
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let state =
        State { item: None, has_sender: true, has_receiver: true, receiver: None, sender: None };
    let shared = Arc::new(Shared(Mutex::new(state)));
    (Sender { shared: Arc::clone(&shared) }, Receiver { shared })
}

impl<T> Sender<T> {
    /// Sends the item.
    ///
    /// # Errors
    ///
    /// The item, if the receiver is gone.
    pub fn send(self, item: T) -> Result<(), T> {
        let mut state = self.shared.lock();
        if !state.has_receiver {
            return Err(item);
        }
        state.item = Some(item);
        Ok(())
    }

    /// Returns whether the receiver is gone.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        !self.shared.lock().has_receiver
    }

    /// Waits until the receiver is gone.
    pub async fn closed(&mut self) {
        poll_fn(|context| {
            let mut state = self.shared.lock();
            if !state.has_receiver {
                return Poll::Ready(());
            }
            state.sender = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.has_sender = false;
        let waker = state.receiver.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl<T> Receiver<T> {
    /// Returns the item, if it was sent.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let mut state = self.shared.lock();
        match state.item.take() {
            Some(item) => Ok(item),
            None if state.has_sender => Err(TryRecvError::Empty),
            None => Err(TryRecvError::Closed),
        }
    }

    /// Refuses the item, unless it was sent.
    pub fn close(&mut self) {
        let mut state = self.shared.lock();
        state.has_receiver = false;
        let waker = state.sender.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.shared.lock();
        match state.item.take() {
            Some(item) => Poll::Ready(Ok(item)),
            None if !state.has_sender => Poll::Ready(Err(RecvError)),
            None => {
                state.receiver = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.close();
        let item = self.shared.lock().item.take();
        drop(item);
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
