//! Counts of the kept and dropped parts of a trace.

/// How much of a trace was kept and how much was dropped. All fields are counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// Events.
    pub events: u64,
    /// Handlers that have messages.
    pub handlers: u64,
    /// Posted tasks that ran.
    pub posted: u64,
    /// Initial messages.
    pub initial: u64,
    /// Reads that have a write, or the initial value, to read from.
    pub reads: u64,
    /// Writes, read-modify-writes and frees.
    pub writes: u64,
    /// Forks of handlers that ran.
    pub forks: u64,
    /// Joins of handlers that ran.
    pub joins: u64,
    /// Locations whose coherence order is to be found.
    pub open_locations: u64,
    /// Pieces of a handler's own code between its tasks: each is a separate sequence, like a burst.
    pub pieces: u64,
    /// Exits of handlers that run tasks: each comes after all other events of its handler.
    pub exits: u64,
    /// Bursts of handlers of the environment, and tasks that begin without a get: each is a
    /// separate sequence.
    pub bursts: u64,
    /// Posted tasks whose post is not in the trace: messages without a poster.
    pub without_post: u64,
    /// Tasks that were posted but never begun, including cancelled ones: their posts constrain
    /// nothing.
    pub never_begun: u64,
    /// Tasks that were cancelled before they began.
    pub cancelled: u64,
    /// Messages posted with a delay. [`MailboxRule::Fifo`](crate::MailboxRule::Fifo) ignores
    /// delays.
    pub delayed: u64,
    /// Messages posted to the front of a mailbox. [`MailboxRule::Fifo`](crate::MailboxRule::Fifo)
    /// ignores the position.
    pub front: u64,
    /// Messages that ran because the mailbox was idle.
    /// [`MailboxRule::Fifo`](crate::MailboxRule::Fifo) ignores this.
    pub idle: u64,
    /// Messages of mailboxes that keep no order; the rule applies to them all the same.
    pub bag: u64,
    /// Acquires, releases and destructions of locks: dropped.
    pub locks: u64,
    /// Signals, broadcasts, waits and wakes: dropped.
    pub conditions: u64,
    /// Passages of barriers: dropped.
    pub barriers: u64,
    /// Inputs enabled, disabled or triggered, in a trace that does not say which enabling enabled
    /// what: dropped.
    pub inputs: u64,
    /// Attachments of mailboxes: dropped.
    pub attaches: u64,
    /// Locations that overlap others: treated as separate.
    pub overlapping: u64,
    /// Forks and joins ordered with one message of the handler only, as handlers with many messages
    /// were forked or joined many times.
    pub thin_forks: u64,
}
