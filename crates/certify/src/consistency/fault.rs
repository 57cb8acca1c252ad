//! Why an order of events is no witness.

use anyorder_trace::EventId;

/// An order of events in which the handlers cannot run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("place {place} of the order, event `{}`: {reason}", label.escape_debug())]
pub struct WitnessError {
    /// The place in the order, from 0; its length for an event that is missing.
    pub place: usize,
    /// The event there, or the one that is missing.
    pub event: EventId,
    /// The label of the event.
    pub label: String,
    /// Why it cannot come there.
    pub reason: WitnessReason,
}

/// Why an event cannot come at its place. Other events are named by their labels, tasks and
/// handlers by their names.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WitnessReason {
    /// It is not in the trace.
    #[error("there is no such event")]
    Unknown,
    /// It comes a second time.
    #[error("it comes twice")]
    Twice,
    /// It is not in the order.
    #[error("it is missing")]
    Missing,
    /// An event that must come before it does not.
    #[error("event `{}` must come first ({why})", first.escape_debug())]
    TooEarly {
        /// The event.
        first: String,
        /// The relation that says so.
        why: &'static str,
    },
    /// The handler is in the middle of another task.
    #[error("handler `{}` still has to run event `{}`", handler.escape_debug(), next.escape_debug())]
    Busy {
        /// The handler.
        handler: String,
        /// The next event of the task it runs.
        next: String,
    },
    /// The handler has begun another task since it began this one.
    #[error("handler `{}` has gone on to task `{}`", handler.escape_debug(), task.escape_debug())]
    Left {
        /// The handler.
        handler: String,
        /// What it runs now.
        task: String,
    },
    /// The mailbox gives another task first.
    #[error("the task posted by event `{}` must run first", first.escape_debug())]
    Overtakes {
        /// The post of that task.
        first: String,
    },
    /// A read that would see another value.
    #[error("reads {}, should read {}", value(seen), value(expected))]
    Reads {
        /// The last write in the order; `None` for the initial value.
        seen: Option<String>,
        /// What the trace says; `None` for the initial value.
        expected: Option<String>,
    },
    /// A read of something that cannot be read from.
    #[error("the trace says that it reads from something that is no write of its location")]
    NotReadable,
    /// It comes behind an event that must come after it.
    #[error("event `{}` came before it, but must come later ({why})", later.escape_debug())]
    TooLate {
        /// That event.
        later: String,
        /// The relation that says so.
        why: &'static str,
    },
}

fn value(write: &Option<String>) -> String {
    match write {
        Some(write) => format!("from event `{}`", write.escape_debug()),
        None => "the initial value".to_owned(),
    }
}
