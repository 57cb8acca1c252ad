//! What becomes of a candidate.

use anyorder_trace::EventId;

/// In which sense a witness reverses two actions; the strongest first. See `docs/witnesses.md`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Form {
    /// Both occur, reversed, and every event observes what it observed.
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

/// Another run in which the two actions come the other way round.
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
    /// Whether it is proved that the two actions can never be next at the same time, because one
    /// waits for what the other gives: a semaphore keeps them apart. Asked only where invocations
    /// wait.
    pub apart: bool,
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum GaveUp {
    /// No witness within the window; what lies before it was not looked at. Also where the trace
    /// has more edges than are kept, and where tasks change places and it depends on their order
    /// which acquire a release belongs to.
    Window,
    /// Every witness rests on a barrier that records who passed, and not who arrived, so that it is
    /// not known who waits for whom.
    Barrier,
    /// The conflicts allowed were used up.
    Conflicts,
    /// The caller stopped the search.
    Stopped,
}

/// What became of a candidate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// There is a witness.
    Confirmed(Witness),
    /// There is none: proved.
    Impossible,
    /// Not known.
    Unconfirmed(GaveUp),
}
