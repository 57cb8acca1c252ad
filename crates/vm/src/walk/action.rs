//! What leads from one state to the next.

use crate::state::Origin;

/// What takes a step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Move {
    /// `init`.
    Init,
    /// An event begins: the number among all members of all events.
    Event(u32),
    /// A task begins: mailbox, position in it, task.
    Message { queue: u32, position: u32, task: u16 },
    /// A thread goes on; a dynamic one is told by its rank among them.
    Thread { origin: Origin, rank: u32 },
}

/// A transition of a state: what takes a step, and which alternative of its choices.
///
/// Alternatives are numbered from 0 in the order of depth over the choices met; those that an assumption drops have no number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Action {
    pub(crate) step: Move,
    pub(crate) alternative: u32,
}

impl Action {
    /// Returns which alternative of the step it is, from 0.
    #[must_use]
    pub fn alternative(&self) -> u32 {
        self.alternative
    }
}
