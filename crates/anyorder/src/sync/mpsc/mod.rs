//! As [`std::sync::mpsc`].

pub use receiver::{IntoIter, Iter, Receiver, TryIter};
pub use sender::{Sender, SyncSender};
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use queue::Queue;

mod queue;
mod receiver;
mod rendezvous;
mod sender;

/// As [`std::sync::mpsc::channel`].
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let queue = Queue::new(None);
    (Sender::new(&queue), Receiver::new(&queue))
}

/// As [`std::sync::mpsc::sync_channel`].
#[must_use]
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let queue = Queue::new(Some(bound));
    (SyncSender::new(&queue), Receiver::new(&queue))
}
