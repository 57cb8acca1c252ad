//! A channel of which each receiver gets all values, as that of tokio.

use super::waiters::{Waiters, wake};
use crate::sync::{Arc, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::PoisonError;
use std::task::Poll;

struct State<T> {
    /// The last values; the number of the first one is `next - values.len()`.
    values: VecDeque<T>,
    next: u64,
    capacity: usize,
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

/// An end that sends.
pub struct Sender<T>(Arc<Shared<T>>);

/// An end that receives.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    /// The number of the value that it gets next.
    next: u64,
}

/// There is no receiver; the value comes back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SendError<T>(pub T);

/// Why no value was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecvError {
    /// There is no sender, and all values were received.
    Closed,
    /// So many values were lost: the receiver was too slow. The next call gets the oldest that is
    /// left.
    Lagged(u64),
}

/// Why no value was received at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TryRecvError {
    /// There is none yet.
    Empty,
    /// As [`RecvError::Closed`].
    Closed,
    /// As [`RecvError::Lagged`].
    Lagged(u64),
}

/// Makes a channel that keeps as many values as `capacity` (that of tokio keeps the next power of
/// two).
///
/// # Panics
///
/// If the capacity is 0.
///
/// ```
/// use anyorder::future::{self, broadcast};
/// anyorder::check(|| {
///     let (sender, mut receiver) = broadcast::channel(2);
///     let task = future::spawn(async move { sender.send(1) });
///     assert_eq!(future::block_on(receiver.recv()), Ok(1));
///     assert!(future::block_on(task).unwrap().is_ok());
/// });
/// ```
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(capacity > 0, "broadcast channel capacity cannot be zero");
    let (values, waiters) = (VecDeque::new(), Waiters::new());
    let state = State { values, next: 0, capacity, senders: 1, receivers: 1, waiters };
    let shared = Arc::new(Shared(Mutex::new(state)));
    (Sender(Arc::clone(&shared)), Receiver { shared, next: 0 })
}

impl<T: Clone> Sender<T> {
    /// Sends a value to all receivers that there are now. Returns how many.
    ///
    /// # Errors
    ///
    /// The value, if there is none.
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        let mut state = self.0.lock();
        if state.receivers == 0 {
            return Err(SendError(value));
        }
        if state.values.len() == state.capacity {
            state.values.pop_front();
        }
        state.values.push_back(value);
        state.next += 1;
        let (receivers, wakers) = (state.receivers, state.waiters.take());
        drop(state);
        wake(wakers);
        Ok(receivers)
    }

    /// Makes a receiver of the values that are sent from now on.
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        let mut state = self.0.lock();
        state.receivers += 1;
        let next = state.next;
        drop(state);
        Receiver { shared: Arc::clone(&self.0), next }
    }

    /// Returns how many receivers there are.
    #[must_use]
    pub fn receiver_count(&self) -> usize {
        self.0.lock().receivers
    }
}

impl<T: Clone> Receiver<T> {
    /// Waits for the next value.
    ///
    /// # Errors
    ///
    /// There is no sender, or values were lost.
    pub async fn recv(&mut self) -> Result<T, RecvError> {
        let mut number = None;
        poll_fn(|context| {
            let mut state = self.shared.lock();
            match take(&state, &mut self.next) {
                Ok(value) => Poll::Ready(Ok(value)),
                Err(TryRecvError::Closed) => Poll::Ready(Err(RecvError::Closed)),
                Err(TryRecvError::Lagged(lost)) => Poll::Ready(Err(RecvError::Lagged(lost))),
                Err(TryRecvError::Empty) => {
                    number = Some(state.waiters.wait(number, context.waker()));
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Returns the next value, if there is one.
    ///
    /// # Errors
    ///
    /// There is none yet, there is no sender, or values were lost.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        take(&self.shared.lock(), &mut self.next)
    }
}

fn take<T: Clone>(state: &State<T>, next: &mut u64) -> Result<T, TryRecvError> {
    let oldest = state.next - state.values.len() as u64;
    if *next < oldest {
        let lost = oldest - *next;
        *next = oldest;
        return Err(TryRecvError::Lagged(lost));
    }
    match state.values.get((*next - oldest) as usize) {
        Some(value) => {
            *next += 1;
            Ok(value.clone())
        }
        None if state.senders == 0 => Err(TryRecvError::Closed),
        None => Err(TryRecvError::Empty),
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.0.lock().senders += 1;
        Sender(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.senders -= 1;
        let wakers = if state.senders == 0 { state.waiters.take() } else { Vec::new() };
        drop(state);
        wake(wakers);
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.lock().receivers -= 1;
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
