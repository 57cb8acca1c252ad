//! The answer for a candidate.

use anyorder_trace::EventId;

/// The sense in which a witness reverses two actions, the strongest first. See `docs/witnesses.md`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Form {
    /// Both occur, reversed, and every event observes what it observed in the trace.
    Reversed,
    /// The same, but the first action, now last of all, may observe something else.
    Last,
    /// Both could be the next event.
    CoEnabled,
    /// The handler of both takes the task of the second action while that of the first waits in the
    /// mailbox.
    Overtakes,
}

impl Form {
    /// All forms, the strongest first.
    pub const ALL: [Form; 4] = [Form::Reversed, Form::Last, Form::CoEnabled, Form::Overtakes];

    /// Returns the word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Form::Reversed => "reversed",
            Form::Last => "last",
            Form::CoEnabled => "co_enabled",
            Form::Overtakes => "overtakes",
        }
    }
}

/// Another run in which the two actions come in the reverse order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    /// In which sense.
    pub form: Form,
    /// The events of the run, in order. It ends with the first action of the candidate; for
    /// [`Form::Overtakes`], with the `get` of the task of the second one.
    pub order: Vec<EventId>,
    /// How many events at its beginning are the trace's own first ones, in the trace's order, left
    /// out of `order`: 0 unless the search had a window.
    pub prefix: u32,
    /// Whether no witness of this form has fewer events.
    pub shortest: bool,
    /// Whether the first action may wait for ever, because the second one took what it waited for:
    /// a lost wake-up.
    pub waits: bool,
    /// Whether it is proved that the two actions can never be enabled at the same time, because one
    /// waits for something that the other gives: a semaphore separates them. Only decided where
    /// invocations wait.
    pub apart: bool,
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum GaveUp {
    /// No witness within the window; the search did not reorder earlier events. Also if the trace
    /// has more edges than are kept, or if the order of reordered tasks decides which acquire a
    /// release belongs to.
    Window,
    /// Every witness depends on a barrier that records passing threads but not arrivals, so that it
    /// is unknown which thread waits for which.
    Barrier,
    /// The conflicts allowed were used up.
    Conflicts,
    /// The caller stopped the search.
    Stopped,
}

/// The answer for a candidate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// There is a witness.
    Confirmed(Witness),
    /// Proved to have no witness.
    Impossible,
    /// Not known.
    Unconfirmed(GaveUp),
}
