//! The interface for programs whose robustness can be decided.

use crate::Failure;
use crate::states::StateProgram;
use anyorder_system::{Hash128, InterleavedSystem, Schedule, StateSystem, WaitPlace};

/// The state of a program.
pub(super) type StateOf<P> = <<P as StateProgram>::System as StateSystem>::State;
/// What leads from one state of a program to the next.
pub(super) type ActionOf<P> = <<P as StateProgram>::System as StateSystem>::Action;

/// A program of events and their tasks, whose robustness against concurrency can be decided. It is
/// given twice: as states, in which all orders are searched, and as events with their tasks, which
/// run one after another or stop half-way. Both must be the same program, with steps that end at
/// each shared access.
pub trait RobustProgram: StateProgram<System: StateSystem<Action: PartialEq>> {
    /// The program as events and tasks.
    type Tasks: InterleavedSystem<State = StateOf<Self>>;

    /// Makes the program as events and tasks.
    ///
    /// # Errors
    ///
    /// Fails for a program with anything that is neither.
    fn tasks(&self) -> Result<Self::Tasks, Failure>;

    /// Returns the memory of a state in which nothing runs and nothing is pending; `None` for the
    /// other states. It is what [`InterleavedSystem`] calls the memory of the same state.
    fn quiet_memory(&self, state: &StateOf<Self>) -> Option<Hash128>;

    /// Returns the event that an action starts, if it starts one.
    fn started(&self, action: &ActionOf<Self>) -> Option<u32>;

    /// Returns where tasks wait that must not wait for ever, in a state without steps; `None` if
    /// nothing waits there.
    fn waiting(&self, state: &StateOf<Self>) -> Option<Vec<WaitPlace>>;

    /// Returns how many tasks and procedures the program declares, for statistics.
    fn declared(&self) -> Declared {
        Declared::default()
    }

    /// Says in a schedule what its steps are, where they are not the program's own.
    fn mark_steps(&self, _schedule: &mut Schedule) {}
}

/// How many parts a program declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Declared {
    /// Tasks.
    pub tasks: usize,
    /// Procedures that tasks and events call.
    pub procedures: usize,
}
