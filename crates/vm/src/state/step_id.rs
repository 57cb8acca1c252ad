//! The steps of a state, by number.

use super::parts::State;
use super::{Message, Origin, Thread};
use std::sync::Arc;

/// Identifies a step of a state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum StepId {
    /// `init`.
    Init,
    /// An event begins: the number among all members of all events.
    Event(u32),
    /// A task begins: mailbox, position in it, task.
    Message { queue: u32, position: u32, task: u16 },
    /// A thread continues. A dynamic one is identified by its rank among them; the rank of others
    /// is 0.
    Thread { origin: Origin, rank: u32 },
}

impl StepId {
    /// Returns the message that the step takes.
    pub(crate) fn message(self, state: &State) -> Option<&Message> {
        match self {
            StepId::Message { queue, position, .. } => {
                state.queue(queue as usize).get(position as usize)
            }
            _ => None,
        }
    }

    /// Returns whether two steps take equal messages of one mailbox.
    pub(crate) fn is_equal(self, other: StepId, state: &State) -> bool {
        let queue = |step: StepId| match step {
            StepId::Message { queue, .. } => Some(queue),
            _ => None,
        };
        queue(self).is_some()
            && queue(self) == queue(other)
            && self.message(state) == other.message(state)
    }

    /// Returns the thread that takes the step.
    pub(crate) fn thread(self, state: &State) -> Option<&Arc<Thread>> {
        self.position_in(state).map(|at| &state.threads()[at])
    }

    /// Returns the position of the thread that takes the step, among all threads.
    pub(crate) fn position_in(self, state: &State) -> Option<usize> {
        let StepId::Thread { origin, rank } = self else { return None };
        let first = state.threads().iter().position(|thread| thread.origin == origin)?;
        let at = first + rank as usize;
        state.threads().get(at).filter(|thread| thread.origin == origin).map(|_| at)
    }
}

/// Returns all threads of a state with their steps. Dynamic threads come last.
pub(crate) fn threads(state: &State) -> impl Iterator<Item = (&Arc<Thread>, StepId)> {
    let mut rank = 0;
    state.threads().iter().map(move |thread| {
        let step = StepId::Thread { origin: thread.origin, rank };
        rank += u32::from(thread.origin == Origin::Dynamic);
        (thread, step)
    })
}
