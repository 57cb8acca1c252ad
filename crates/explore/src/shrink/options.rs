//! Options and outcome of shrinking.

use anyorder_system::{Failure, Observation, RunError, Schedule, StopReason};
use std::fmt;

/// The fault of a run, which a smaller run must still show.
#[derive(Clone, Copy)]
pub struct Symptom<'a> {
    /// Whether a failure of a step is the wanted one: of the same kind, at the same place.
    pub failure: &'a (dyn Fn(&Failure) -> bool + Sync),
    /// Whether the observation at the end of a run is the wanted one. `None`: only failures of
    /// steps count.
    pub end: Option<&'a (dyn Fn(&Observation) -> bool + Sync)>,
}

impl fmt::Debug for Symptom<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Symptom").field("end", &self.end.is_some()).finish_non_exhaustive()
    }
}

/// Options of shrinking.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShrinkOptions {
    /// The recording from which reversals are counted. `None`: the default scheduler's run.
    pub recording: Option<Schedule>,
    /// The approximate number of runs; half of them search for the fewest reversals.
    pub executions_max: u64,
    /// The most tasks of a run beyond its plan.
    pub tail_max: u64,
    /// The most attempts for a run that the system loses, at least 1.
    pub attempts: u32,
    /// The most reversals to try.
    pub reversals_max: u32,
}

impl Default for ShrinkOptions {
    fn default() -> ShrinkOptions {
        ShrinkOptions {
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
    /// The number of reversals from the recording: the minimum if `fewest`, else the number of
    /// conflicting pairs in the other order.
    pub reversals: u32,
    /// No run with fewer reversals shows the symptom.
    pub fewest: bool,
    /// No single task can be removed.
    pub minimal: bool,
    /// The number of tasks of the given schedule, up to its failure.
    pub length_before: usize,
    /// The number of runs executed.
    pub executions: u64,
}

/// Why nothing was shrunk.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// The program cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The given schedule does not show the symptom.
    #[error("the schedule does not fail when it runs again")]
    NotShown,
    /// The job was stopped before the first run was made.
    #[error("stopped: {0}")]
    Stopped(StopReason),
}
