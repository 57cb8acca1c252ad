//! Transitions of a state.

use crate::state::Origin;

/// Identifies a step of a state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum StepId {
    /// `init`.
    Init,
    /// An event begins: the number among all members of all events.
    Event(u32),
    /// A task begins: mailbox, position in it, task.
    Message { queue: u32, position: u32, task: u16 },
    /// A thread continues. A dynamic one is identified by its rank among them.
    Thread { origin: Origin, rank: u32 },
}

/// A transition of a state: a step, and one alternative of its choices.
///
/// Alternatives are numbered from 0, depth-first over the choices. Alternatives that an assumption
/// drops have no number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Action {
    pub(crate) step: StepId,
    pub(crate) alternative: u32,
}

impl Action {
    /// Returns which alternative of the step it is, from 0.
    #[must_use]
    pub fn alternative(&self) -> u32 {
        self.alternative
    }
}
