//! Errors in witnesses of reorderings.

use crate::schedule::ScheduleReason;
use anyorder_commute::Mode;
use anyorder_system::{StopReason, Stopped};
use anyorder_trace::EventId;

/// A sequence that is not a witness.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("place {place}, event {}: {reason}", event.0)]
pub struct ReorderingError {
    /// The position in the order, from 0; its length for a missing event or a mistake in the whole.
    pub place: usize,
    /// The event there, or the missing one.
    pub event: EventId,
    /// Why it cannot come there.
    pub reason: ReorderingReason,
}

/// Why an event cannot come at its position. Events are given by their position in the trace, from
/// 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReorderingReason {
    /// The event is not in the trace.
    #[error("no such event")]
    Unknown,
    /// The event is repeated, or is in the prefix.
    #[error("happens twice")]
    Twice,
    /// An event that must come first is missing or comes later.
    #[error("event {} must come first ({rule})", first.0)]
    TooEarly {
        /// The event.
        first: EventId,
        /// The name of the rule.
        rule: &'static str,
    },
    /// It begins a section of a lock while another section that excludes it is open.
    #[error("the lock is held since event {}", since.0)]
    Held {
        /// The acquire of the other section.
        since: EventId,
    },
    /// An event has ended what this one needs: it cancelled its task, or disabled its input.
    #[error("event {} has ended what it needs", by.0)]
    Ended {
        /// The event.
        by: EventId,
    },
    /// It reads another write than in the trace.
    #[error("observes {}, in the trace {}", name(*now), name(*then))]
    Observes {
        /// The last write in the sequence.
        now: Option<EventId>,
        /// The last write in the trace.
        then: Option<EventId>,
    },
    /// The signal that woke it came before its wait.
    #[error("wakes from event {}, which comes before the wait {}", signal.0, wait.0)]
    WokenEarly {
        /// The signal.
        signal: EventId,
        /// The wait.
        wait: EventId,
    },
    /// It could not return there: a condition it waits for does not hold.
    #[error("could not return there: it waits for something that has not come")]
    Waits,
    /// It passes a barrier for which the trace does not determine who waits for whom.
    #[error("passes a barrier, and the trace does not say who had arrived")]
    Barrier,
    /// A failed attempt at a lock, although the section that blocked it is not open.
    #[error("the attempt would succeed: the lock is not held as in the trace")]
    Free,
    /// The end of a wait that timed out, after a signal that would have woken it.
    #[error("would be woken by event {}", by.0)]
    WokenInTime {
        /// The signal.
        by: EventId,
    },
    /// It observes other invocations than in the trace.
    #[error("observes other invocations than in the trace (`{}`)", mode.word())]
    ObservesOthers {
        /// The mode.
        mode: Mode,
    },
    /// It reads memory in more pieces than the checker keeps.
    #[error("too many overlapping ranges of memory to tell what it reads")]
    TooManyPieces,
    /// Handlers, mailboxes or locks do not allow this order of tasks.
    #[error("{0}")]
    Schedule(ScheduleReason),
    /// The prefix is longer than the trace, or than the part of it in which no excluding sections
    /// overlap.
    #[error("the prefix is no run")]
    Prefix,
    /// One of the two actions is missing.
    #[error("not in the sequence")]
    Missing,
    /// The two actions are not reversed.
    #[error("the two actions are not reversed")]
    NotReversed,
    /// By the form, it must be the last event or the one before.
    #[error("does not stand at the end")]
    NotLast,
    /// The requests are fewer than two, or two of them are of one lane, or tasks may change places.
    #[error("no cycle of requests of different threads")]
    NoCycle,
    /// A request that does not wait for the thread of the next one.
    #[error("does not wait for the thread of event {}", next.0)]
    Granted {
        /// The next request.
        next: EventId,
    },
    /// The check was stopped.
    #[error("{0}")]
    Stopped(StopReason),
}

impl From<Stopped> for ReorderingReason {
    fn from(Stopped(reason): Stopped) -> ReorderingReason {
        ReorderingReason::Stopped(reason)
    }
}

fn name(event: Option<EventId>) -> String {
    event.map_or_else(|| "no write".to_owned(), |event| format!("event {}", event.0))
}
