//! A state system with a name, as a program.

use super::program::StateProgram;
use super::reduction::Reduction;
use anyorder_system::{ProgramIdentity, Reducible, StateSystem};

/// A state system with a name: all that a job needs. The system describes itself.
///
/// ```
/// use anyorder_drive::JobControl;
/// use anyorder_drive::states::{CheckOptions, Named, check_states};
/// use anyorder_search::example::Counter;
///
/// let program = Named::new("up to 10", Counter { limit: 10 });
/// let found = check_states(&program, &CheckOptions::default(), &JobControl::default())?.result;
/// assert!(found.findings.is_empty() && found.limits.is_empty());
/// # Ok::<(), anyorder_drive::Failure>(())
/// ```
#[derive(Debug)]
pub struct Named<S: StateSystem> {
    identity: ProgramIdentity,
    system: S,
    reduction: Option<Reduction<Named<S>>>,
}

impl<S: StateSystem> Named<S> {
    /// Names a system. [`check_states`](super::check_states()) searches all of its states.
    #[must_use]
    pub fn new(name: &str, system: S) -> Named<S> {
        Named { identity: ProgramIdentity::new(name), system, reduction: None }
    }

    /// Names a system whose tasks report what they touch, so that searches can leave orders out.
    #[must_use]
    pub fn reducible(name: &str, system: S) -> Named<S>
    where
        S: Reducible,
    {
        Named { reduction: Some(Reduction::of_tasks()), ..Named::new(name, system) }
    }
}

impl<S: StateSystem> StateProgram for Named<S> {
    type System = S;

    fn system(&self) -> &S {
        &self.system
    }

    fn program(&self) -> &ProgramIdentity {
        &self.identity
    }

    fn reduction(&self) -> Option<Reduction<Named<S>>> {
        self.reduction
    }
}
