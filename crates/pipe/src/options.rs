//! How long a reply may take and how large it may be.

use std::time::Duration;

/// The limits of a conversation with a child. Whatever passes one of them ends the child; the next
/// [`reset`](anyorder_system::TaskSystem::reset) starts another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PipeOptions {
    /// How long a child may take from its start to its first reply. Default: 10 s.
    pub start_timeout: Duration,
    /// How long any other reply may take. Default: 10 s.
    pub reply_timeout: Duration,
    /// After how long without a reply a child is asked for a sign of life. A child that answers
    /// this, and not what was asked before, has lost a reply: there is nothing to wait for. Asked
    /// again after twice the time, and so on. `None`: never. Default: 250 ms.
    pub probe_after: Option<Duration>,
    /// How long a child that was told to quit may take before it is killed. Default: 200 ms.
    pub quit_timeout: Duration,
    /// The bytes of the longest line that is read. What a line becomes in memory is at most some
    /// fifty times as large. Default: 4 MiB.
    pub line_bytes_max: usize,
    /// The bytes of the longest task name. Default: 64 KiB.
    pub name_bytes_max: usize,
    /// The bytes that all names of locations and sites may take together, over all runs. Default:
    /// 256 MiB.
    pub tables_bytes_max: usize,
    /// The bytes of standard error that are kept for messages: the last ones. Default: 4 KiB.
    pub stderr_bytes_max: usize,
    /// Whether observations keep their texts for people to read, and not only hashes. Default:
    /// true.
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

/// The deepest nesting of a reply. Version 1 of the protocol needs 6; fields to come may need more.
pub(crate) const DEPTH_MAX: usize = 32;

/// The most entries of any one list in a reply.
pub(crate) const LIST_MAX: usize = 65_536;
