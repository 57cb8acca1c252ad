//! Programs that run as a whole under a schedule and leave a trace.

use crate::capabilities::Capabilities;
use crate::control::Control;
use crate::failure::Failure;
use crate::observation::Observation;
use crate::run_error::RunError;
use crate::schedule::{Choice, ProgramIdentity, Schedule};
use anyorder_trace::Trace;

/// The end of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// No task was left to run.
    Completed,
    /// Some tasks were left, and none of them could run.
    Deadlock,
    /// The program failed: an assertion, an exception, a crash.
    Failed(Failure),
    /// The step limit was reached.
    StepLimit,
}

/// One run.
#[derive(Clone, Debug)]
pub struct ThreadRun {
    /// The recorded events.
    pub trace: Trace,
    /// All choices: those of the prefix, then those of the default scheduler.
    pub schedule: Schedule,
    /// The observation at its end.
    pub observation: Observation,
    /// Its end.
    pub ending: Ending,
}

/// A program that can run under a schedule prefix, after which a default scheduler continues.
pub trait ThreadSystem {
    /// Returns the capabilities of this system; they never change.
    fn capabilities(&self) -> Capabilities;

    /// Returns the identity of this program.
    fn program(&self) -> &ProgramIdentity;

    /// Runs the program from its start: first `prefix`, then the default scheduler, until it ends
    /// or reaches a limit of `control`.
    ///
    /// # Errors
    ///
    /// Fails with [`RunError::Diverged`] if a choice of the prefix cannot be taken, and if the
    /// program cannot be run or was stopped.
    fn run(&mut self, prefix: &[Choice], control: &Control<'_>) -> Result<ThreadRun, RunError>;
}
