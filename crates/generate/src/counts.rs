//! The size of a trace, in the numbers that benchmark tables print.

use anyorder_trace::Trace;

/// The size of a trace.
///
/// `messages` counts every posted message and every initial message with events; `handlers` counts
/// the handlers with events. With this convention the six benchmark programs have exactly the
/// printed numbers (see the family list in `docs/generate.md`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Counts {
    /// Events.
    pub events: u64,
    /// Messages with events, including initial ones.
    pub messages: u64,
    /// Handlers with events.
    pub handlers: u64,
}

impl Counts {
    /// Makes the counts from numbers in the order of the tables.
    #[must_use]
    pub const fn new(events: u64, messages: u64, handlers: u64) -> Counts {
        Counts { events, messages, handlers }
    }

    /// Counts a trace, in time linear in the number of its tasks.
    #[must_use]
    pub fn of(trace: &Trace) -> Counts {
        let mut used = vec![false; trace.tables().handlers.len()];
        let mut messages = 0;
        for span in trace.task_ids().map(|task| trace.span(task)) {
            if span.first.is_none() {
                continue;
            }
            messages += 1;
            if let Some(used) = used.get_mut(span.handler.index()) {
                *used = true;
            }
        }
        let handlers = used.iter().filter(|used| **used).count() as u64;
        Counts { events: trace.len() as u64, messages, handlers }
    }
}
