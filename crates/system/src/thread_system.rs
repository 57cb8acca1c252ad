//! A program that runs as a whole under a schedule and leaves a trace.

use crate::capabilities::Capabilities;
use crate::control::Control;
use crate::observation::Observation;
use crate::run_error::RunError;
use crate::schedule::{Choice, Program, Schedule};
use anyorder_trace::Trace;

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Nothing was left to run.
    Completed,
    /// Something was left, and nothing of it could run.
    Deadlock,
    /// The program failed: an assertion, an exception, a crash.
    Failed(String),
    /// The step limit was reached.
    StepLimit,
}

/// One run.
#[derive(Clone, Debug)]
pub struct Run {
    /// What happened.
    pub trace: Trace,
    /// All choices that were made, the prefix's and the default scheduler's.
    pub schedule: Schedule,
    /// What it amounts to.
    pub observation: Observation,
    /// How it ended.
    pub ending: Ending,
}

/// A program that can be run under a schedule prefix and then goes on by a default scheduler.
pub trait ThreadSystem {
    /// Returns what this system can do; never changes.
    fn capabilities(&self) -> Capabilities;

    /// Returns which program this is.
    fn program(&self) -> &Program;

    /// Runs the program from its start: first `prefix`, then the default scheduler, until it ends
    /// or a limit of `control` is reached.
    ///
    /// # Errors
    ///
    /// Fails with [`RunError::Diverged`] when a choice of the prefix cannot be followed, and when
    /// the program cannot be run or was stopped.
    fn run(&mut self, prefix: &[Choice], control: &Control<'_>) -> Result<Run, RunError>;
}
