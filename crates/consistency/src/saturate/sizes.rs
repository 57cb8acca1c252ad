//! The sizes of a trace.

use crate::answer::Stats;
use crate::partial::PartialTrace;

/// The counts of a trace before any work.
pub(crate) fn sizes(trace: &PartialTrace) -> Stats {
    Stats {
        events: trace.events.len() as u64,
        messages: trace.messages.len() as u64,
        handlers: u64::from(trace.handlers),
        pairs_total: trace.pairs(),
        ..Stats::default()
    }
}
