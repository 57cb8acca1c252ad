//! From a trace to a consistency problem: the given orders and the open ones.
//!
//! The definitions for each format are in `docs/consistency.md`.

pub use kept::Kept;
pub use split::split_own_code;

mod dues;
mod ended;
mod handlers;
mod kept;
mod memory;
mod messages;
mod orders;
mod split;
mod writes;

use crate::mailbox::MailboxRule;
use crate::partial::PartialTrace;
use anyorder_trace::{EventId, LocationId, Mailbox, Position, TaskId, TaskKind, Trace};

/// Options of the conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FromTrace {
    /// The order that the mailboxes keep. [`MailboxRule::recorded`] is the rule that the trace
    /// records.
    pub mailboxes: MailboxRule,
    /// Whether a location with several writes may have no coherence order in the trace.
    pub infer_coherence: bool,
}

/// Why a trace cannot be converted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FromTraceError {
    /// A read refers to an event that is no other write of its location.
    #[error("event number {event} reads from what is no other write of its location", event = .event.0)]
    NoWrite {
        /// The read.
        event: EventId,
    },
    /// A read of a partial trace lacks its write.
    #[error("event number {event} does not say what it reads from", event = .event.0)]
    NoSource {
        /// The read.
        event: EventId,
    },
    /// A location of a partial trace has several writes but no coherence order.
    #[error("location number {location} has several writes and no coherence order", location = .location.0)]
    NoCoherence {
        /// The location.
        location: LocationId,
    },
    /// A coherence order does not name each write of its location once.
    #[error("the coherence order of location number {location} does not name each of its writes once", location = .location.0)]
    BadCoherence {
        /// The location.
        location: LocationId,
    },
    /// A task with events has no handler.
    #[error("nothing says which handler runs task number {task}", task = .task.0)]
    NoHandler {
        /// The task.
        task: TaskId,
    },
}

impl PartialTrace {
    /// Removes the orders of the messages from a trace.
    ///
    /// Takes time linear in the trace, and about 16 bytes per event besides the result.
    ///
    /// # Errors
    ///
    /// Fails when the reads and writes of the trace have no meaning, see [`FromTraceError`].
    pub fn from_trace(
        trace: &Trace,
        options: &FromTrace,
    ) -> Result<(PartialTrace, Kept), FromTraceError> {
        let mut kept = Kept { events: trace.len() as u64, ..Kept::default() };
        let mut layout = messages::Layout::new(trace, &mut kept)?;
        dues::fill(trace, &mut layout, &mut kept);
        let mut orders = orders::Orders::new(&layout);
        let open = memory::fill(trace, options, &layout, &mut orders, &mut kept)?;
        handlers::fill(trace, &layout, &mut orders, &mut kept);
        let ends = ended::fill(trace, &layout, &mut orders);
        let orders::Orders { given, backward, .. } = orders;
        let partial = PartialTrace {
            mailboxes: options.mailboxes,
            handlers: layout.handlers,
            messages: layout.messages,
            events: layout.events,
            given,
            backward,
            open,
            ends,
        };
        Ok((partial, kept))
    }
}

impl MailboxRule {
    /// Returns the rule that a trace records for the mailboxes that run posted tasks. It is bag if
    /// one of them keeps no order. Otherwise it is delayed if one is delayed, or ran a task posted
    /// with a delay or to the front, or in idle time. Otherwise it is fifo. Where mailboxes differ,
    /// this is the weakest rule. Takes linear time.
    #[must_use]
    pub fn recorded(trace: &Trace) -> MailboxRule {
        let tables = trace.tables();
        let idle = dues::idle_tasks(trace);
        let mut rule = MailboxRule::Fifo;
        for (task, def) in trace.task_ids().zip(&tables.tasks) {
            let span = trace.span(task);
            if def.kind != TaskKind::Posted || span.first.is_none() {
                continue;
            }
            match tables.handlers.get(span.handler.index()).map(|handler| handler.mailbox) {
                Some(Mailbox::Bag) => return MailboxRule::Bag,
                Some(Mailbox::Delayed) => rule = MailboxRule::Delayed,
                _ if def.delay > 0 || def.position == Position::Front || idle[task.index()] => {
                    rule = MailboxRule::Delayed;
                }
                _ => {}
            }
        }
        rule
    }
}
