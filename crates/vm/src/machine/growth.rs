//! The longest mailbox that a search has seen, for its warnings.

use std::sync::atomic::{AtomicU64, Ordering};

/// Fewer messages in a state are no growth.
const FEW: u64 = 64;

/// The most messages in a state so far, and the mailbox that held most of them. Threads note
/// lengths without locks, so the parts need not be of one state.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    messages: AtomicU64,
    queue: AtomicU64,
    longest: AtomicU64,
}

impl Growth {
    /// Returns whether a state with so many messages is worth a closer look: only growth by a tenth
    /// is.
    #[inline]
    pub(crate) fn is_news(&self, messages: u64) -> bool {
        messages > FEW && messages > self.messages.load(Ordering::Relaxed) / 10 * 11
    }

    /// Notes the messages of a state, and its longest mailbox.
    pub(crate) fn note(&self, messages: u64, queue: usize, longest: u64) {
        self.messages.fetch_max(messages, Ordering::Relaxed);
        self.queue.store(queue as u64, Ordering::Relaxed);
        self.longest.fetch_max(longest, Ordering::Relaxed);
    }

    /// Returns the mailbox that has grown most and its length; `None` before a state was noted.
    pub(crate) fn longest(&self) -> Option<(usize, u64)> {
        let longest = self.longest.load(Ordering::Relaxed);
        (longest > 0).then(|| (self.queue.load(Ordering::Relaxed) as usize, longest))
    }
}
