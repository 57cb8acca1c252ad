//! What shrinking is asked, and what it answers.

use anyorder_system::{Observation, RunError, Schedule, StopReason};
use std::fmt;

/// What is wrong with a run, and must still be wrong with a smaller one.
#[derive(Clone, Copy)]
pub struct Symptom<'a> {
    /// Whether a failure of a step is the one that is meant: of the same kind, at the same place.
    pub failure: &'a (dyn Fn(&str) -> bool + Sync),
    /// Whether what a run amounts to, once nothing is left to do, is what is meant. None: only
    /// failures of steps count.
    pub end: Option<&'a (dyn Fn(&Observation) -> bool + Sync)>,
}

impl fmt::Debug for Symptom<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Symptom").field("end", &self.end.is_some()).finish_non_exhaustive()
    }
}

/// Options of shrinking.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// From where reversals are counted. None: the default scheduler's run.
    pub recording: Option<Schedule>,
    /// The number of runs, about; half of them for the fewest reversals.
    pub executions_max: u64,
    /// The most tasks of a run beyond those that were planned.
    pub tail_max: u64,
    /// How often a run is tried that the system loses, at least once.
    pub attempts: u32,
    /// The most reversals that are looked for.
    pub reversals_max: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            recording: None,
            executions_max: 2_000,
            tail_max: 1_000,
            attempts: 5,
            reversals_max: 8,
        }
    }
}

/// A small run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shrunk {
    /// The run, up to its failure.
    pub schedule: Schedule,
    /// The number of reversals from the recording: the smallest there is if `fewest`, else how many
    /// pairs that conflict come in the other order.
    pub reversals: u32,
    /// No run with fewer reversals shows it.
    pub fewest: bool,
    /// No task can be left out alone.
    pub minimal: bool,
    /// The number of tasks of the schedule given, up to its failure.
    pub length_before: usize,
    /// The number of runs that were made.
    pub executions: u64,
}

/// Why nothing was shrunk.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// The program cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The schedule given does not show the symptom.
    #[error("the schedule does not fail when it runs again")]
    NotShown,
    /// The job was stopped before the first run was made.
    #[error("stopped: {0}")]
    Stopped(StopReason),
}
