//! The mailboxes of a state.

use super::message::{Message, terms};
use super::parts::State;

impl State {
    /// Returns the messages of all mailboxes, by mailbox.
    #[inline]
    pub(crate) fn messages(&self) -> &[Message] {
        self.parts().messages()
    }

    /// Returns the mailboxes that are not empty, with their numbers.
    pub(crate) fn queues(&self) -> impl Iterator<Item = (usize, &[Message])> {
        let queues = self.messages().chunk_by(|a, b| a.queue == b.queue);
        queues.map(|queue| (queue[0].queue as usize, queue))
    }

    /// Returns the position of the first message of a mailbox among all messages, or where it would
    /// be.
    #[inline]
    pub(crate) fn first_of(&self, index: usize) -> usize {
        self.messages().partition_point(|message| (message.queue as usize) < index)
    }

    /// Returns the messages of a mailbox.
    #[inline]
    pub(crate) fn queue(&self, index: usize) -> &[Message] {
        let rest = &self.messages()[self.first_of(index)..];
        &rest[..rest.partition_point(|message| message.queue as usize == index)]
    }

    /// Changes a mailbox. Linear in all messages.
    pub(crate) fn change_queue<R>(
        &mut self,
        index: usize,
        change: impl FnOnce(&mut Vec<Message>) -> R,
    ) -> R {
        let first = self.first_of(index);
        let mut queue = self.queue(index).to_vec();
        let end = first + queue.len();
        let old = terms(&queue, 0);
        let result = change(&mut queue);
        debug_assert!(queue.iter().all(|message| message.queue as usize == index));
        self.shift(old, terms(&queue, 0));
        let all = self.messages();
        let mut mail = Vec::with_capacity(all.len() + queue.len() + first - end);
        mail.extend_from_slice(&all[..first]);
        mail.append(&mut queue);
        mail.extend_from_slice(&all[end..]);
        self.parts_mut().set_messages(mail.into_iter());
        result
    }

    /// Replaces all messages. They may be given in any order of mailboxes. The sum is wrong until
    /// [`recompute_sum`](Self::recompute_sum).
    pub(crate) fn replace_messages(&mut self, mut messages: Vec<Message>) {
        messages.sort_by_key(|message| message.queue);
        self.parts_mut().set_messages(messages.into_iter());
    }
}
