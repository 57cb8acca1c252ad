//! Checks witnesses of predicted order violations: whether a sequence of events is a reordering of
//! its trace that reverses two actions. `docs/witnesses.md` has the definition.
//!
//! The conditions on the event at each position:
//! - *program order*: the earlier events of its lane precede it;
//! - *causes*: forks of its handler, joined handlers, the post of a task, earlier events of a
//!   barrier, and the allocation of memory precede it;
//! - *ends*: it does not begin what an event has ended: a cancelled task, a disabled input;
//! - *locks*: no open section of another lane excludes the section it begins;
//! - *waiting*: an invocation can return there, and all participants of a barrier have arrived;
//! - *communication*: its observation is that of the trace; see [`Calls`] for specified objects.
//!   The form lists exceptions.
//!
//! A sequence may omit a beginning in which everything happens as in the trace: its `prefix`.
//!
//! In traces whose tasks can be reordered ([`Lanes::Tasks`], [`Lanes::Components`]),
//! [`check_schedule`](crate::check_schedule) checks program order and mailboxes. Handlers hold the
//! locks; the bursts of one handler hold them together. The other conditions are as above.
//! `check_schedule` has more causes (loop points, inputs), requires the signal of every wake, and
//! refuses the release of a lock that the handler holds in the trace and does not hold here. With
//! [`Lanes::Components`], the rules of Android's components apply too.
//!
//! **Cost.** [`ReorderingChecker::new`] is linear in the trace, times a logarithm where memory
//! ranges overlap. A check takes time linear in the sequence, with the same logarithm, plus the
//! invocations in the prefix of the objects that the sequence invokes. With [`Lanes::Tasks`] it
//! also takes the time of `check_schedule`. With [`Lanes::Components`] a received broadcast takes
//! one step for each broadcast sent earlier and not received.

pub use calls::{Call, CallRules, Calls, NoCalls};
pub use error::{ReorderingError, ReorderingReason};
pub use run::ReorderingChecker;

mod barriers;
mod calls;
mod deadlock;
mod error;
mod free_reads;
mod index;
mod memory;
mod permits;
mod run;
mod sections;
mod waits;

use anyorder_trace::{EventId, Trace};

/// How a witness reverses two actions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WitnessForm {
    /// Every event observes what it observed in the trace.
    Reversed,
    /// The first action is the last event, and may observe something else.
    Last,
    /// The second action and then the first are the last events; both may observe something else.
    CoEnabled,
    /// The handler of both takes the task of the second action from its mailbox as the last event,
    /// while that of the first one waits there.
    Overtakes,
}

impl WitnessForm {
    /// All forms, the strongest first.
    pub const ALL: [WitnessForm; 4] =
        [WitnessForm::Reversed, WitnessForm::Last, WitnessForm::CoEnabled, WitnessForm::Overtakes];
}

/// The lanes: sequences of events that keep their program order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Lanes {
    /// Handlers with all their tasks; and each burst of an untracked handler.
    #[default]
    Handlers,
    /// Tasks and pieces of thread code: tasks of one handler may be reordered, as its mailbox
    /// allows.
    Tasks,
    /// The same, and as the rules of Android's components allow.
    Components,
}

/// Two actions, and a run that should reverse them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClaimedWitness<'w> {
    /// The form.
    pub form: WitnessForm,
    /// The action that comes first in the trace.
    pub first: EventId,
    /// The other.
    pub second: EventId,
    /// How many of the trace's first events precede `order`, as in the trace.
    pub prefix: u32,
    /// The events after them.
    pub order: &'w [EventId],
}

/// Requests, and a run that should end in a deadlock of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClaimedDeadlock<'w> {
    /// The requests: each waits for the thread of the next one, the last for that of the first.
    pub requests: &'w [EventId],
    /// How many of the trace's first events precede `order`, as in the trace.
    pub prefix: u32,
    /// The events after them. It contains no request.
    pub order: &'w [EventId],
}

/// Checks one witness of a trace whose tasks stay in order. To check several of one trace, keep a
/// [`ReorderingChecker`].
///
/// # Errors
///
/// Names the first event that cannot come at its position, or a violation of the form.
pub fn check_reordering(
    trace: &Trace,
    calls: &dyn Calls,
    witness: ClaimedWitness<'_>,
) -> Result<(), ReorderingError> {
    ReorderingChecker::new(trace, calls, Lanes::Handlers).check(witness)
}
