//! Witnesses of predicted order violations: whether a sequence of events is a reordering of its
//! trace, in which two actions come the other way round, as `docs/witnesses.md` defines it.
//!
//! What is asked of the event at each place:
//! - *program order*: the events before it in its lane stand before it;
//! - *causes*: forks of its handler, what is joined, the post of a task, earlier events of a
//!   barrier, the allocation of memory;
//! - *locks*: no section of another lane that excludes the one it begins is open;
//! - *waiting*: an invocation can return there, and who takes part in a barrier has arrived;
//! - *communication*: it observes what it observed; see [`Calls`] for specified objects. The form
//!   says which events need not.
//!
//! A sequence may leave out a beginning in which all happens as in the trace: its `prefix`.
//!
//! In traces whose tasks change places ([`Lanes::Tasks`], [`Lanes::Components`]),
//! [`check_schedule`](crate::check_schedule) says what program order and mailboxes ask, and
//! handlers hold the locks, bursts of one handler together. All else is asked for as above.
//! `check_schedule` has more causes (loop points, inputs), asks for the signal of every wake, and
//! accepts no release of a lock that the handler does not hold in that mode. With
//! [`Lanes::Components`], the rules of Android's components are asked for besides.
//!
//! **Cost.** [`ReorderingChecker::new`] is linear in the trace, but for a logarithm where memory
//! ranges overlap. A check takes time linear in the sequence, with the same logarithm; and the
//! invocations that the prefix has of the objects that the sequence invokes. With [`Lanes::Tasks`]
//! it takes all that `check_schedule` does; with [`Lanes::Components`] a received broadcast takes
//! one step for each that is sent earlier and not received.

pub use calls::{Call, CallRules, Calls, NoCalls};
pub use error::{ReorderingError, ReorderingReason};
pub use run::ReorderingChecker;

mod barriers;
mod calls;
mod error;
mod index;
mod memory;
mod run;
mod sections;
mod waits;

use anyorder_trace::{EventId, Trace};

/// In which sense a witness reverses two actions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WitnessForm {
    /// Every event observes what it observed.
    Reversed,
    /// The first action is the last event, and may observe something else.
    Last,
    /// The second action and then the first are the last events; both may observe something else.
    CoEnabled,
    /// The handler of both takes the task of the second action from its mailbox, last of all, while
    /// that of the first one waits there.
    Overtakes,
}

impl WitnessForm {
    /// All forms, the strongest first.
    pub const ALL: [WitnessForm; 4] =
        [WitnessForm::Reversed, WitnessForm::Last, WitnessForm::CoEnabled, WitnessForm::Overtakes];
}

/// What runs one event after another, and cannot change places with itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Lanes {
    /// Handlers, their tasks included; and each burst of an untracked one.
    #[default]
    Handlers,
    /// Tasks and pieces of thread code: tasks of one handler may change places, as its mailbox
    /// allows.
    Tasks,
    /// The same, and as the rules of Android's components allow.
    Components,
}

/// Two actions, and the run that is said to reverse them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClaimedWitness<'w> {
    /// In which sense.
    pub form: WitnessForm,
    /// The action that comes first in the trace.
    pub first: EventId,
    /// The other.
    pub second: EventId,
    /// How many of the trace's first events happen before `order`, as in the trace.
    pub prefix: u32,
    /// The events behind them.
    pub order: &'w [EventId],
}

/// Checks one witness, of a trace in which tasks stay in order. To check several of one trace, keep
/// a [`ReorderingChecker`].
///
/// # Errors
///
/// Names the first event that cannot come where it stands, or what is missing for the form.
pub fn check_reordering(
    trace: &Trace,
    calls: &dyn Calls,
    witness: ClaimedWitness<'_>,
) -> Result<(), ReorderingError> {
    ReorderingChecker::new(trace, calls, Lanes::Handlers).check(witness)
}
