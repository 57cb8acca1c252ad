//! What is wrong with a witness.

use crate::schedule::ScheduleReason;
use anyorder_commute::Mode;
use anyorder_trace::EventId;

/// A sequence that is no witness.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("place {place}, event {}: {reason}", event.0)]
pub struct ReorderingError {
    /// The place in the order, from 0; its length for what is missing or wrong with the whole.
    pub place: usize,
    /// The event there, or the one that is missing.
    pub event: EventId,
    /// Why it cannot come there.
    pub reason: ReorderingReason,
}

/// Why an event cannot come at its place. Events are given by their position in the trace, from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReorderingReason {
    /// It is not in the trace.
    #[error("no such event")]
    Unknown,
    /// It stands before, or in the prefix.
    #[error("happens twice")]
    Twice,
    /// An event that must come first is missing or comes later.
    #[error("event {} must come first ({rule})", first.0)]
    TooEarly {
        /// The event.
        first: EventId,
        /// The word of the rule.
        rule: &'static str,
    },
    /// Its section of a lock begins while another that it excludes is open.
    #[error("the lock is held since event {}", since.0)]
    Held {
        /// The acquire of the other section.
        since: EventId,
    },
    /// It reads what another event wrote than the one in the trace.
    #[error("observes {}, in the trace {}", name(*now), name(*then))]
    Observes {
        /// The last write in the sequence.
        now: Option<EventId>,
        /// The last write in the trace.
        then: Option<EventId>,
    },
    /// The signal that woke it was given before the wait for it.
    #[error("wakes from event {}, which comes before the wait {}", signal.0, wait.0)]
    WokenEarly {
        /// The signal.
        signal: EventId,
        /// The wait.
        wait: EventId,
    },
    /// It waits for something that has not come, and could not return there.
    #[error("could not return there: it waits for something that has not come")]
    Waits,
    /// It passes a barrier of which the trace does not say who waits for whom.
    #[error("passes a barrier, and the trace does not say who had arrived")]
    Barrier,
    /// An attempt at a lock that failed, and the section that it met is not open.
    #[error("the attempt would succeed: the lock is not held as in the trace")]
    Free,
    /// The end of a wait whose time ran out, and a signal comes before that.
    #[error("would be woken by event {}", by.0)]
    WokenInTime {
        /// The signal.
        by: EventId,
    },
    /// It observes other invocations than in the trace.
    #[error("observes other invocations than in the trace (`{}`)", mode.word())]
    ObservesOthers {
        /// In which mode.
        mode: Mode,
    },
    /// It reads memory in more pieces than are kept.
    #[error("too many overlapping ranges of memory to tell what it reads")]
    TooManyPieces,
    /// The order of tasks is not one that handlers, mailboxes and locks allow.
    #[error("{0}")]
    Schedule(ScheduleReason),
    /// The prefix is longer than the trace, or than its part in which no two sections that exclude
    /// each other overlap.
    #[error("the prefix is no run")]
    Prefix,
    /// It is one of the two actions, and is not in the order.
    #[error("not in the sequence")]
    Missing,
    /// The two actions do not come the other way round than in the trace.
    #[error("the two actions are not reversed")]
    NotReversed,
    /// It must be the last event by the form, or the one before.
    #[error("does not stand at the end")]
    NotLast,
}

fn name(event: Option<EventId>) -> String {
    event.map_or_else(|| "no write".to_owned(), |event| format!("event {}", event.0))
}
