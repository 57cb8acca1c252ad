//! Messages: all pending tasks of a state in one list. States share messages.

use super::parts::QUEUE;
use crate::program::MailboxKind;
use crate::value::{Value, mix};
use std::ops::Deref;
use std::sync::Arc;

/// A pending task.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// The task.
    pub(crate) task: u16,
    /// In a bag: whether it was posted in front of all others.
    pub(crate) front: bool,
    /// Its handle if something refers to it, else 0.
    pub(crate) handle: u32,
    /// In a delayed mailbox: its due time, relative to the current virtual time.
    pub(crate) due: u64,
    /// Its arguments: null for none, the argument itself for one, else a list of them.
    pub(crate) args: Value,
}

/// The shared content of a message.
#[derive(Debug)]
struct Content {
    body: Body,
    /// Whether its position in its mailbox matters.
    ordered: bool,
    hash: u128,
    /// Its term in the sum of a state, if its position does not matter.
    term: u128,
    /// The hash of its arguments.
    args: u128,
}

/// A pending task in a mailbox.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    content: Arc<Content>,
    /// The post that it comes from, for names; not part of the state.
    pub(crate) uid: u64,
    /// The mailbox.
    pub(crate) queue: u32,
}

const _: () = assert!(std::mem::size_of::<Message>() == 24);

impl Deref for Message {
    type Target = Body;

    #[inline]
    fn deref(&self) -> &Body {
        &self.content.body
    }
}

impl PartialEq for Message {
    #[inline]
    fn eq(&self, other: &Message) -> bool {
        let (a, b) = (&*self.content, &*other.content);
        self.queue == other.queue
            && (std::ptr::eq(a, b)
                || (a.hash == b.hash
                    && (self.task, self.front, self.handle, self.due)
                        == (other.task, other.front, other.handle, other.due)
                    && self.args == other.args))
    }
}

impl Message {
    /// Makes a message for a mailbox of a kind. Posts to `any` go to a bag.
    pub(crate) fn new(queue: u32, kind: MailboxKind, uid: u64, body: Body) -> Message {
        let ordered = body.front || kind != MailboxKind::Bag;
        Message { content: Message::content(queue, ordered, body), uid, queue }
    }

    /// Returns the same message from another post.
    #[inline]
    pub(crate) fn with_uid(&self, uid: u64) -> Message {
        Message { uid, ..self.clone() }
    }

    fn content(queue: u32, ordered: bool, body: Body) -> Arc<Content> {
        let head =
            (u64::from(body.task) << 33) | (u64::from(body.front) << 32) | u64::from(body.handle);
        let args = body.args.hash();
        let hash = mix::mix(head, mix::mix(body.due, args));
        let term = mix::mix(QUEUE + u64::from(queue), hash);
        Arc::new(Content { body, ordered, hash, term, args })
    }

    /// Changes its body.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Body)) {
        let mut body = self.content.body.clone();
        change(&mut body);
        self.content = Message::content(self.queue, self.content.ordered, body);
    }

    /// Moves it to another mailbox of the same kind.
    pub(crate) fn move_to_queue(&mut self, queue: u32) {
        self.queue = queue;
        self.change(|_| {});
    }

    /// Returns its term in the sum of a state, at a position of its mailbox. If the position does
    /// not matter, all positions have the same term: the sum is that of a multiset.
    #[inline]
    pub(crate) fn term(&self, position: usize) -> u128 {
        if !self.content.ordered {
            return self.content.term;
        }
        let place = (position as u64 + 1).rotate_left(43);
        mix::mix((QUEUE + u64::from(self.queue)) ^ place, self.content.hash)
    }

    /// Returns the hash of its arguments; constant time.
    #[inline]
    pub(crate) fn args_hash(&self) -> u128 {
        self.content.args
    }

    /// Returns whether its position in its mailbox matters.
    #[inline]
    pub(crate) fn is_ordered(&self) -> bool {
        self.content.ordered
    }

    /// Returns its position in a mailbox when it is posted, behind all others if possible.
    pub(crate) fn place_in(&self, queue: &[Message], kind: MailboxKind) -> usize {
        match kind {
            MailboxKind::Fifo => queue.len(),
            MailboxKind::Delayed => queue.partition_point(|other| other.due <= self.due),
            MailboxKind::Bag => {
                queue.partition_point(|other| other.front || other.bag_key() <= self.bag_key())
            }
        }
    }

    /// Returns its sort key in a bag. Front messages come first and keep their order.
    pub(crate) fn bag_key(&self) -> (u16, &Value, u32) {
        (self.task, &self.args, self.handle)
    }
}

/// Returns the sum of the terms of messages of one mailbox, from a position on.
#[inline]
pub(crate) fn terms(messages: &[Message], from: usize) -> u128 {
    (from..).zip(messages).fold(0, |sum, (i, m)| u128::wrapping_add(sum, m.term(i)))
}
