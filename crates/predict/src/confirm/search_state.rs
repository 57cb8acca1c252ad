//! The state of the search for one candidate.

use super::answer::{GaveUp, Witness};
use std::rc::Rc;

/// The state of the search for one form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Open,
    Impossible,
    /// No window gives an answer.
    GivenUp,
    Found,
}

/// The remaining budget of some questions, and whether their answers are in doubt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// The remaining conflicts of the solver.
    pub(super) conflicts: u64,
    /// Whether an event was excluded because it depends on a barrier without enough information.
    pub(super) doubt: bool,
}

impl Budget {
    pub(super) fn new(conflicts: u64) -> Budget {
        Budget { conflicts, doubt: false }
    }
}

/// The search for one candidate.
pub(super) struct Search {
    pub(super) pair: (u32, u32),
    pub(super) states: [State; 4],
    pub(super) budget: Budget,
    pub(super) gave_up: GaveUp,
    pub(super) best: Option<Witness>,
    /// An order in which the task of the second action ends before that of the first begins, if
    /// any.
    pub(super) beginning: Option<Rc<Witness>>,
}

impl Search {
    pub(super) fn is_impossible(&self) -> bool {
        self.states.iter().all(|state| *state == State::Impossible)
    }

    /// Returns whether no window can improve the result, because the strongest possible form was
    /// found.
    pub(super) fn is_done(&self) -> bool {
        self.states.iter().find(|state| **state != State::Impossible) != Some(&State::Open)
    }
}
