//! The order that a mailbox keeps among its messages.

/// The order that the mailbox of every handler keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MailboxRule {
    /// Messages run in the order of their posts, as in the paper.
    #[default]
    Fifo,
    /// Messages run in any order.
    Bag,
    /// A message runs before those posted later, unless its delay is greater or they were posted to
    /// the front.
    Delayed,
}

/// How long a message waits in its mailbox; [`MailboxRule::Delayed`] uses it.
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
    /// Returns whether a message due at `first` runs before one due at `second` if it was posted
    /// earlier.
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
