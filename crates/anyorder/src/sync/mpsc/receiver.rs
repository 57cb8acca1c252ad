//! The end that receives.

use super::queue::Queue;
use anyorder_threads::{Act, Patience, received};
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::panic::Location;
use std::sync::Arc;
use std::sync::mpsc::{RecvError, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

/// As [`std::sync::mpsc::Receiver`].
pub struct Receiver<T> {
    queue: Arc<Queue<T>>,
    _not_sync: PhantomData<std::cell::Cell<()>>,
}

// SAFETY: as that of the standard library: items go from thread to thread.
unsafe impl<T: Send> Send for Receiver<T> {}
impl<T> std::panic::UnwindSafe for Receiver<T> {}
impl<T> std::panic::RefUnwindSafe for Receiver<T> {}

impl<T> Receiver<T> {
    pub(super) fn new(queue: &Arc<Queue<T>>) -> Receiver<T> {
        Receiver { queue: Arc::clone(queue), _not_sync: PhantomData }
    }

    /// Receives an item, as soon as there is one.
    ///
    /// # Errors
    ///
    /// There is none, and no sender is left.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.queue.receive(Patience::Wait, Location::caller()).map_err(|_| RecvError)
    }

    /// Receives an item, if there is one.
    ///
    /// # Errors
    ///
    /// There is none.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let result = self.queue.receive(Patience::Try, Location::caller());
        result.map_err(|number| match number {
            received::EMPTY => TryRecvError::Empty,
            _ => TryRecvError::Disconnected,
        })
    }

    /// Receives an item, as soon as there is one, or until the time is over.
    ///
    /// # Errors
    ///
    /// There was none.
    #[track_caller]
    pub fn recv_timeout(&self, _timeout: Duration) -> Result<T, RecvTimeoutError> {
        let result = self.queue.receive(Patience::TimeOut, Location::caller());
        result.map_err(|number| match number {
            received::EMPTY => RecvTimeoutError::Timeout,
            _ => RecvTimeoutError::Disconnected,
        })
    }

    /// As [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Errors
    ///
    /// There was none.
    #[track_caller]
    pub fn recv_deadline(&self, _deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_timeout(Duration::ZERO)
    }

    /// Receives until no sender is left.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// Receives while there are items.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let at = Location::caller();
        self.queue.perform(Act::Receivers(false), at);
        self.queue.forget_items();
        if let Some(rendezvous) = &self.queue.rendezvous {
            rendezvous.refuse(&self.queue, at);
        } else if mem::needs_drop::<T>() {
            // What nobody receives is destroyed by who could have received it.
            while self.queue.receive(Patience::Try, at).is_ok() {}
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// As [`std::sync::mpsc::Iter`].
#[derive(Debug)]
pub struct Iter<'a, T> {
    receiver: &'a Receiver<T>,
}

/// As [`std::sync::mpsc::TryIter`].
#[derive(Debug)]
pub struct TryIter<'a, T> {
    receiver: &'a Receiver<T>,
}

/// As [`std::sync::mpsc::IntoIter`].
#[derive(Debug)]
pub struct IntoIter<T> {
    receiver: Receiver<T>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self }
    }
}
