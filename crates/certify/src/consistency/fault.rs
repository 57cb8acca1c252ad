//! Why an order of events is no witness.

use anyorder_system::{StopReason, Stopped};
use anyorder_trace::EventId;

/// An order of events in which the handlers cannot run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("place {place} of the order, event `{}`: {reason}", label.escape_debug())]
pub struct WitnessError {
    /// The position in the order, from 0; its length for a missing event.
    pub place: usize,
    /// The event there, or the missing one.
    pub event: EventId,
    /// The label of the event.
    pub label: String,
    /// Why it cannot come there.
    pub reason: WitnessReason,
}

/// Why an event cannot come at its position. Other events are named by their labels, tasks and
/// handlers by their names.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WitnessReason {
    /// The event is not in the trace.
    #[error("there is no such event")]
    Unknown,
    /// The event is repeated.
    #[error("it comes twice")]
    Twice,
    /// The event is missing.
    #[error("it is missing")]
    Missing,
    /// An event that must come before it does not.
    #[error("event `{}` must come first ({why})", first.escape_debug())]
    TooEarly {
        /// The event.
        first: String,
        /// The relation that requires this.
        why: &'static str,
    },
    /// The handler has not finished another task.
    #[error("handler `{}` still has to run event `{}`", handler.escape_debug(), next.escape_debug())]
    Busy {
        /// The handler.
        handler: String,
        /// The next event of the task it runs.
        next: String,
    },
    /// The handler has begun another task since.
    #[error("handler `{}` has gone on to task `{}`", handler.escape_debug(), task.escape_debug())]
    Left {
        /// The handler.
        handler: String,
        /// The task it runs now.
        task: String,
    },
    /// The mailbox must deliver another task first.
    #[error("the task posted by event `{}` must run first", first.escape_debug())]
    Overtakes {
        /// The post of that task.
        first: String,
    },
    /// The read would see another value.
    #[error("reads {}, should read {}", value(seen), value(expected))]
    Reads {
        /// The last write in the order; `None` for the initial value.
        seen: Option<String>,
        /// The write in the trace; `None` for the initial value.
        expected: Option<String>,
    },
    /// The read refers to an event that is no write.
    #[error("the trace says that it reads from something that is no write of its location")]
    NotReadable,
    /// The event comes after an event that must come later.
    #[error("event `{}` came before it, but must come later ({why})", later.escape_debug())]
    TooLate {
        /// That event.
        later: String,
        /// The relation that requires this.
        why: &'static str,
    },
    /// Something has ended what the event begins.
    #[error("event `{}` has ended it", end.escape_debug())]
    Ended {
        /// That event.
        end: String,
    },
    /// The check was stopped.
    #[error("{0}")]
    Stopped(StopReason),
}

impl From<Stopped> for WitnessReason {
    fn from(Stopped(reason): Stopped) -> WitnessReason {
        WitnessReason::Stopped(reason)
    }
}

fn value(write: &Option<String>) -> String {
    match write {
        Some(write) => format!("from event `{}`", write.escape_debug()),
        None => "the initial value".to_owned(),
    }
}
