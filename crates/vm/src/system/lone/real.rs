//! The steps of a thread in states of the machine.

use crate::machine::Machine;
use crate::state::{Origin, State, Status, StepId, Thread};
use crate::transitions::{Action, StepExecutor};
use anyorder_system::Successor;

/// A thread in the states of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RealThread {
    /// A declared thread, by its number among the members of all families.
    Declared(u32),
    /// A forked thread, by its creation.
    Forked(u64),
}

impl RealThread {
    fn is(self, thread: &Thread) -> bool {
        match self {
            RealThread::Declared(member) => thread.origin == Origin::Declared(member),
            RealThread::Forked(uid) => thread.origin == Origin::Dynamic && thread.uid == uid,
        }
    }
}

impl Machine {
    /// Returns the successors of a state by the next step of a thread, in the order of its
    /// alternatives.
    #[must_use]
    pub fn steps_of(&self, state: &State, who: RealThread) -> Vec<Successor<State, Action>> {
        let steps = crate::state::threads(state);
        let Some((_, step)) = steps.into_iter().find(|(thread, _)| who.is(thread)) else {
            return Vec::new();
        };
        let mut successors = Vec::new();
        // One that waits is no candidate.
        let is_waiting = |step: StepId| {
            step.thread(state).is_none_or(|one| matches!(one.status, Status::Waiting { .. }))
        };
        if !is_waiting(step) {
            StepExecutor::new(self, state).run(step, |_, alternative, outcome| {
                successors.push(outcome.successor(self, Action { step, alternative }));
            });
        }
        successors
    }

    /// Returns the thread that a step forked.
    #[must_use]
    pub fn forked(&self, before: &State, after: &State) -> Option<RealThread> {
        let is_old = |uid| before.threads().iter().any(|thread| thread.uid == uid);
        let mut all = after.threads().iter().filter(|one| one.origin == Origin::Dynamic);
        all.find(|one| !is_old(one.uid)).map(|one| RealThread::Forked(one.uid))
    }

    /// Returns whether a thread was notified and has not gone on.
    #[must_use]
    pub fn is_woken(&self, state: &State, who: RealThread) -> bool {
        let mut threads = state.threads().iter();
        threads.any(|thread| who.is(thread) && matches!(thread.status, Status::Woken { .. }))
    }
}
