//! What a mailbox promises about the order of its messages.

/// Which order the mailbox of every handler keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MailboxRule {
    /// Messages run in the order of their posts, as in the paper.
    #[default]
    Fifo,
    /// Messages run in any order.
    Bag,
    /// A message runs before those that were posted later, unless it waits longer or they went to
    /// the front.
    Delayed,
}

/// How long a message waits in its mailbox: what [`MailboxRule::Delayed`] looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// After this delay; 0 for a plain post.
    After(u64),
    /// At once: the message was put at the front of the mailbox.
    Front,
    /// When the mailbox is idle; it keeps no order with other messages.
    Idle,
}

impl MailboxRule {
    /// Returns whether a message due at `first` runs before one due at `second` whenever it was
    /// posted before it.
    #[must_use]
    pub fn keeps(self, first: Due, second: Due) -> bool {
        match (self, first, second) {
            (MailboxRule::Fifo, ..) => true,
            (MailboxRule::Bag, ..) => false,
            (MailboxRule::Delayed, Due::After(first), Due::After(second)) => first <= second,
            (MailboxRule::Delayed, Due::Front, Due::After(_)) => true,
            (MailboxRule::Delayed, ..) => false,
        }
    }
}
