//! The ends that send.

use super::queue::Queue;
use super::rendezvous::Unsent;
use anyorder_threads::{Act, Patience, sent};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::mpsc::{SendError, TrySendError};

/// As [`std::sync::mpsc::Sender`].
pub struct Sender<T> {
    queue: Arc<Queue<T>>,
}

/// As [`std::sync::mpsc::SyncSender`].
pub struct SyncSender<T> {
    queue: Arc<Queue<T>>,
}

macro_rules! end {
    ($name:ident) => {
        // SAFETY: as that of the standard library: items go from thread to thread.
        unsafe impl<T: Send> Send for $name<T> {}
        // SAFETY: as above; no borrow of an item is given out.
        unsafe impl<T: Send> Sync for $name<T> {}
        impl<T> std::panic::UnwindSafe for $name<T> {}
        impl<T> std::panic::RefUnwindSafe for $name<T> {}

        impl<T> $name<T> {
            pub(super) fn new(queue: &Arc<Queue<T>>) -> $name<T> {
                $name { queue: Arc::clone(queue) }
            }
        }

        impl<T> Clone for $name<T> {
            #[track_caller]
            fn clone(&self) -> $name<T> {
                self.queue.perform(Act::Senders(true), Location::caller());
                $name { queue: Arc::clone(&self.queue) }
            }
        }

        impl<T> Drop for $name<T> {
            #[track_caller]
            fn drop(&mut self) {
                self.queue.perform(Act::Senders(false), Location::caller());
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}
end!(Sender);
end!(SyncSender);

impl<T> Sender<T> {
    /// Sends an item.
    ///
    /// # Errors
    ///
    /// The item, if no receiver is left.
    #[track_caller]
    pub fn send(&self, item: T) -> Result<(), SendError<T>> {
        let result = self.queue.send(item, Patience::Wait, Location::caller());
        result.map_err(|(item, _)| SendError(item))
    }
}

impl<T> SyncSender<T> {
    /// Sends an item, as soon as there is room.
    ///
    /// # Errors
    ///
    /// The item, if no receiver is left.
    #[track_caller]
    pub fn send(&self, item: T) -> Result<(), SendError<T>> {
        let at = Location::caller();
        if let Some(rendezvous) = &self.queue.rendezvous {
            return rendezvous.send(&self.queue, item, at).map_err(SendError);
        }
        self.queue.send(item, Patience::Wait, at).map_err(|(item, _)| SendError(item))
    }

    /// Sends an item if there is room.
    ///
    /// # Errors
    ///
    /// The item, if there is no room or no receiver is left.
    #[track_caller]
    pub fn try_send(&self, item: T) -> Result<(), TrySendError<T>> {
        let at = Location::caller();
        if let Some(rendezvous) = &self.queue.rendezvous {
            return rendezvous.try_send(&self.queue, item, at).map_err(|failed| match failed {
                (item, Unsent::Full) => TrySendError::Full(item),
                (item, Unsent::Disconnected) => TrySendError::Disconnected(item),
            });
        }
        self.queue.send(item, Patience::Try, at).map_err(|failed| match failed {
            (item, sent::FULL) => TrySendError::Full(item),
            (item, _) => TrySendError::Disconnected(item),
        })
    }
}
