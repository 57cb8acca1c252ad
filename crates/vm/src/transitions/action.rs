//! Transitions of a state.

use crate::state::StepId;

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
    /// Returns whether two actions are alternatives of one step.
    #[must_use]
    pub fn is_alternative_of(&self, other: &Action) -> bool {
        self.step == other.step
    }

    /// Returns which alternative of the step it is, from 0.
    #[must_use]
    pub fn alternative(&self) -> u32 {
        self.alternative
    }
}
