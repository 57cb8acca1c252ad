//! Limits on the time and size of replies.

use std::time::Duration;

/// The limits of a conversation with a child. Exceeding one of them ends the child; the next
/// [`reset`](anyorder_system::TaskSystem::reset) starts another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PipeOptions {
    /// The time from the start of a child to its first reply. Default: 10 s.
    pub start_timeout: Duration,
    /// The time for any other reply. Default: 10 s.
    pub reply_timeout: Duration,
    /// The time without a reply after which the child gets a ping. A child that answers the ping
    /// but not the request has lost a reply, so there is nothing to wait for. The interval doubles
    /// after each ping. `None`: never. Default: 250 ms.
    pub probe_after: Option<Duration>,
    /// The time for a child to quit before it is killed. Default: 200 ms.
    pub quit_timeout: Duration,
    /// The longest line read, in bytes. Its form in memory is at most about fifty times as large.
    /// Default: 4 MiB.
    pub line_bytes_max: usize,
    /// The longest task name, in bytes. Default: 64 KiB.
    pub name_bytes_max: usize,
    /// The total size of all names of locations and sites, over all runs, in bytes. Default: 256
    /// MiB.
    pub tables_bytes_max: usize,
    /// The size of the end of standard error that is kept for messages, in bytes. Default: 4 KiB.
    pub stderr_bytes_max: usize,
    /// Whether observations keep their readable texts besides their hashes. Default: true.
    pub keep_texts: bool,
}

impl Default for PipeOptions {
    fn default() -> PipeOptions {
        PipeOptions {
            start_timeout: Duration::from_secs(10),
            reply_timeout: Duration::from_secs(10),
            probe_after: Some(Duration::from_millis(250)),
            quit_timeout: Duration::from_millis(200),
            line_bytes_max: 4 << 20,
            name_bytes_max: 64 << 10,
            tables_bytes_max: 256 << 20,
            stderr_bytes_max: 4 << 10,
            keep_texts: true,
        }
    }
}

/// The deepest nesting of a reply. Version 1 of the protocol needs 6; future fields may need more.
pub(crate) const DEPTH_MAX: usize = 32;

/// The most entries of any list in a reply.
pub(crate) const LIST_MAX: usize = 65_536;
