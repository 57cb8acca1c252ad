//! Mailboxes.

use crate::value::{Value, mix};
use std::sync::Arc;

/// A pending task.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    /// The task.
    pub(crate) task: u16,
    /// In a bag: whether it was posted in front of all others.
    pub(crate) front: bool,
    /// Its handle, where something refers to it; else 0.
    pub(crate) handle: u32,
    /// In a delayed mailbox: when it is due, after the current virtual time.
    pub(crate) due: u64,
    /// Its arguments: null for none, the argument itself for one, else a list of them.
    pub(crate) args: Value,
    /// Which post it comes from, for names; not part of the state.
    pub(crate) uid: u64,
}

impl Message {
    pub(crate) fn hash(&self) -> u128 {
        let head =
            (u64::from(self.task) << 33) | (u64::from(self.front) << 32) | u64::from(self.handle);
        mix::mix(head, mix::mix(self.due, self.args.hash()))
    }

    /// The order in a bag: front messages first, which keep their order, then by content.
    pub(crate) fn bag_key(&self) -> (u16, &Value, u32) {
        (self.task, &self.args, self.handle)
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Message) -> bool {
        (self.task, self.front, self.handle, self.due)
            == (other.task, other.front, other.handle, other.due)
            && self.args == other.args
    }
}

/// The messages of one mailbox in the order in which it gives them (a bag: sorted).
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Queue {
    pub(crate) hash: u128,
    pub(crate) messages: Vec<Message>,
}

impl Queue {
    /// Computes the hash anew. Linear.
    pub(crate) fn rehash(&mut self) {
        self.hash = 0;
        for (position, message) in (0..).zip(&self.messages) {
            self.hash = self.hash.wrapping_add(mix::mix(position, message.hash()));
        }
    }
}

/// All mailboxes; `None` for an empty one.
pub(crate) type Queues = Vec<Option<Arc<Queue>>>;
