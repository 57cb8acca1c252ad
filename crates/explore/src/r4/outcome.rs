//! What an exploration found.

use super::verdict::Comparison;
use anyorder_system::{Choice, Observation, Program, Schedule, StopReason, TaskName};
use std::sync::Arc;

/// Why two tasks are a pair.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ReversalKind {
    /// They conflict.
    Conflict,
    /// The first had disabled the second, which therefore did not come.
    Disabling,
    /// No order is reversed: both are one task, which takes another alternative than in the parent.
    /// Its number, from 0.
    Alternative(u32),
    /// They write what a third task waits for, which may run between them now.
    Waiting,
}

/// The pair of tasks whose order a run reverses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reversal {
    /// The one that came first in the parent.
    pub first: TaskName,
    /// The one that comes first now.
    pub second: TaskName,
    /// Why they are a pair.
    pub kind: ReversalKind,
    /// The locations on which they conflict, by their text, sorted.
    pub locations: Vec<String>,
}

/// One sequence of tasks.
#[derive(Clone, Debug)]
pub struct RunInfo {
    /// The run it varies, by its number. None for the recording.
    pub parent: Option<usize>,
    /// The pair whose order it reverses.
    pub reversal: Option<Reversal>,
    /// The smallest number of reversals from the recording.
    pub depth: u32,
    /// The number of tasks.
    pub length: usize,
    /// Planned tasks that did not run, in the order of the plan.
    pub skipped: Vec<TaskName>,
    /// Planned tasks that could not run when their turn came, and ran later.
    pub late: Vec<TaskName>,
    /// Tasks that ran and were not planned.
    pub new: Vec<TaskName>,
    /// The first run that does the same tasks in the same order up to independent ones, if that is
    /// another.
    pub equivalent_to: Option<usize>,
    /// It was not run: what it does is known from [`equivalent_to`](Self::equivalent_to).
    pub slept: bool,
    /// It was cut by a limit before nothing was left to do.
    pub cut: bool,
    /// The failures of the program, in the order in which they came.
    pub failures: Vec<String>,
    /// How it compares with its parent.
    pub comparison: Option<Comparison>,
    /// What it amounts to.
    pub observation: Arc<Observation>,
}

/// What kind of result a finding is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FindingKind {
    /// The reversal makes a difference: see the run's comparison.
    Harmful,
    /// The program fails, and its parent does not fail so. The recording may fail, too.
    Failure(String),
    /// A run could not be repeated, or gave something else when it was; in words.
    Unstable(String),
}

/// A result. The two runs to show are `run` and its parent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// What it is.
    pub kind: FindingKind,
    /// The run that shows it, by its number; none for a plan that never became a run.
    pub run: Option<usize>,
    /// The run it is compared with.
    pub parent: Option<usize>,
    /// The pair that was reversed.
    pub reversal: Option<Reversal>,
    /// Whether both runs were repeated and gave the same again. None: not tried.
    pub confirmed: Option<bool>,
}

/// What was counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Sequences that the program ran, the recording among them.
    pub executions: u64,
    /// Plans that are a sequence planned before, or run before.
    pub repeated: u64,
    /// Plans that were not run because a run is known to do the same.
    pub slept: u64,
    /// Runs that turned out to do the same as an earlier one.
    pub duplicates: u64,
    /// Runs that ended because all that could go on slept (exhaustive exploration).
    pub sleep_blocked: u64,
    /// Runs that were made again to confirm a difference.
    pub confirmations: u64,
    /// Attempts that the system lost and that were repeated.
    pub retries: u64,
    /// Plans that were given up because all attempts failed.
    pub lost: u64,
    /// Runs that gave something else when they were repeated.
    pub unstable: u64,
    /// Runs that a limit on their length cut.
    pub cut: u64,
    /// Runs without a bound that were made again from the start, as more became known of what tasks
    /// wait for.
    pub restarts: u64,
    /// Relevant conflicts, disablings and other alternatives of the runs that were varied.
    pub plans: u64,
    /// The tasks that were executed, repeated beginnings not counted.
    pub tasks: u64,
}

/// A limit that cut an exploration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Limit {
    /// [`Limits::executions`](anyorder_system::Limits).
    Executions,
    /// The length of runs: `Limits::steps`, or [`Options::tail_max`](super::Options).
    Steps,
    /// `Limits::memory_bytes`.
    Memory,
    /// Sequences that the system lost in every attempt.
    Lost,
    /// Tasks have more alternatives than [`Options::alternatives_max`](super::Options), or a
    /// program that does not list its enabled tasks exactly lists some.
    Alternatives,
    /// Without a bound: the program does not tell what tasks wait for, so there may be more orders
    /// than these.
    Waiting,
    /// The job was stopped.
    Stopped(StopReason),
}

/// What an exploration found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// All sequences, the recording first; parents before children.
    pub runs: Vec<RunInfo>,
    /// What is to be reported, by run.
    pub findings: Vec<Found>,
    /// What was counted.
    pub counts: Counts,
    /// Nothing was cut: these are all sequences up to the bound, or all there are.
    pub complete: bool,
    /// No run has a conflict left whose reversal is not here: a higher bound would give nothing
    /// more. At a bound this is not said where tasks wait for what independent tasks write, or
    /// where the program does not tell what tasks wait for.
    pub exhausted: bool,
    /// What cut it.
    pub limits: Vec<Limit>,
    pub(crate) program: Program,
    pub(crate) sequences: super::sequences::Sequences,
}

impl Outcome {
    /// Returns the tasks of a run, in order; in time linear in its length for each reversal that
    /// led to it.
    ///
    /// # Panics
    ///
    /// Panics when there is no run of this number.
    #[must_use]
    pub fn sequence(&self, run: usize) -> Vec<TaskName> {
        self.sequences.names(run)
    }

    /// Returns the schedule that gives a run again.
    ///
    /// # Panics
    ///
    /// Panics when there is no run of this number.
    #[must_use]
    pub fn schedule(&self, run: usize) -> Schedule {
        let mut schedule = Schedule::new(self.program.clone());
        schedule.choices = self.sequences.choices(run);
        schedule
    }

    /// Returns the choices of a run.
    #[must_use]
    pub fn choices(&self, run: usize) -> Vec<Choice> {
        self.sequences.choices(run)
    }
}

/// Why there is no outcome at all.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// The system lacks what is needed.
    #[error("the program does not tell {0}, which this exploration needs")]
    Lacks(&'static str),
    /// No system could be started.
    #[error("the program cannot be started: {0}")]
    Start(String),
    /// There is no run to begin with.
    #[error("the recording failed in every attempt: {0}")]
    Recording(String),
    /// None of the recorded choices could be made.
    #[error("the recorded schedule is for another program: none of its tasks could run")]
    Schedule,
    /// The job was stopped before the recording was made.
    #[error("stopped: {0}")]
    Stopped(StopReason),
}
