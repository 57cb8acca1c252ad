//! The growth of mailboxes during a search.

use super::words::queue_name;
use crate::machine::Machine;
use crate::state::State;

impl Machine {
    /// Notes the lengths of the mailboxes of a state.
    #[inline]
    pub(crate) fn note_growth(&self, state: &State) {
        let messages = state.messages().len() as u64;
        if self.grown.is_news(messages) {
            self.note_longest(state, messages);
        }
    }

    #[cold]
    fn note_longest(&self, state: &State, messages: u64) {
        if let Some((number, queue)) = state.queues().max_by_key(|(_, queue)| queue.len()) {
            self.grown.note(messages, number, queue.len() as u64);
        }
    }

    /// Returns the mailbox that has grown most since the machine was made, and about how many
    /// messages it had. Notes only lengths above some dozens. For warnings during a search; nothing
    /// else depends on it.
    #[must_use]
    pub fn longest_mailbox(&self) -> Option<(String, u64)> {
        let (queue, longest) = self.grown.longest()?;
        Some((queue_name(self, queue).to_string(), longest))
    }
}
