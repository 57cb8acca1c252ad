//! The answer for a candidate.

use anyorder_trace::EventId;

/// The sense in which a witness reverses two actions, the strongest first. See `docs/witnesses.md`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Form {
    /// Both occur, reversed, and every event observes what it observed in the trace.
    Reversed,
    /// The same, but the first action, now the last event, may observe something else.
    Last,
    /// Both could be the next event.
    CoEnabled,
    /// The handler of both takes the task of the second action while the task of the first waits in
    /// the mailbox.
    Overtakes,
    /// No pair: several threads wait for one another. The run ends before their requests.
    Deadlock,
}

impl Form {
    /// The forms in which two actions are reversed, the strongest first.
    pub const ALL: [Form; 4] = [Form::Reversed, Form::Last, Form::CoEnabled, Form::Overtakes];

    /// Returns the form with this word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Form> {
        Form::ALL.into_iter().chain([Form::Deadlock]).find(|form| form.word() == word)
    }

    /// Returns the word of the form.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Form::Reversed => "reversed",
            Form::Last => "last",
            Form::CoEnabled => "co_enabled",
            Form::Overtakes => "overtakes",
            Form::Deadlock => "deadlock",
        }
    }
}

/// Whether two actions can be enabled at the same time: whether they have a witness of the form
/// [`Form::CoEnabled`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Together {
    /// There is such a witness.
    Yes,
    /// It is not known: there was no search, or it was cut.
    #[default]
    Undecided,
    /// It is proved that there is none: a semaphore, nested locks or the like keep the two apart.
    No,
}

/// Another run in which the two actions come in the reverse order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    /// The sense in which they are reversed.
    pub form: Form,
    /// The events of the run, in order. It ends with the first action of the candidate; for
    /// [`Form::Overtakes`], with the `get` of the task of the second one; for [`Form::Deadlock`],
    /// before all requests.
    pub order: Vec<EventId>,
    /// The number of events at the beginning that are the trace's first ones, in the trace's order.
    /// `order` omits them. 0 unless the search had a window.
    pub prefix: u32,
    /// Whether no witness of this form has fewer events.
    pub shortest: bool,
    /// Whether the first action may wait for ever, because the second one took what it waited for:
    /// a lost wake-up.
    pub waits: bool,
    /// Whether the two actions can also be enabled at the same time. Asked only for accesses of two
    /// handlers.
    pub together: Together,
}

/// The reason for the lack of an answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum GaveUp {
    /// There is no witness within the window, and the search did not reorder earlier events. Also
    /// if the trace has more edges than are kept, or if the order of reordered tasks decides which
    /// acquire a release belongs to.
    Window,
    /// Every witness depends on a barrier that records passing threads but not arrivals, so it is
    /// unknown which thread waits for which.
    Barrier,
    /// The search used up the allowed conflicts.
    Conflicts,
    /// The caller stopped the search.
    Stopped,
}

/// The answer for a candidate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// There is a witness.
    Confirmed(Witness),
    /// The pair is proved to have no witness.
    Impossible,
    /// It is unknown whether there is a witness.
    Unconfirmed(GaveUp),
}
