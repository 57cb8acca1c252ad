//! The rules by name, so that mutation tests can disable each.

/// The rules of saturation and the edges of decided orders. All of them are valid; tests disable
/// one at a time to show that each is needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// A path from the first event of a message to the last of another one forces their order.
    pub first_last: bool,
    /// A path from post to post forces the order of the messages where the mailbox keeps it.
    pub posts: bool,
    /// All events of a message come before those of messages that run later.
    pub runs_edges: bool,
    /// The post of a message comes before those of messages that run later, where the mailbox keeps
    /// their order.
    pub post_edges: bool,
}

impl Rules {
    /// All rules.
    pub const ALL: Rules =
        Rules { first_last: true, posts: true, runs_edges: true, post_edges: true };
}
