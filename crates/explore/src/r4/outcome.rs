//! The outcome of an exploration.

use super::driver::everything;
use super::kept::KeptTask;
use super::names::{NameCache, TaskId};
use super::race_counts::RaceCounts;
use super::step::ExecutedStep;
use super::store::Store;
use super::verdict::Comparison;
use anyorder_system::{
    Choice, Failure, Observation, ProgramIdentity, Schedule, StopReason, TaskName,
};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// Why two tasks form a pair.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ReversalKind {
    /// They conflict.
    Conflict,
    /// The first disabled the second in the parent, so the second did not run.
    Disabling,
    /// No order is reversed: both are alternatives of one task, and the run takes another one than
    /// the parent. Holds the number of the alternative, from 0.
    Alternative(u32),
    /// They write locations that a third task waits for. That task may run between them now.
    Waiting,
    /// They share no reported location, so their order should make no difference.
    Unreported,
}

/// The pair of tasks whose order a run reverses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reversal {
    /// The task that came first in the parent.
    pub first: TaskName,
    /// The task that comes first now.
    pub second: TaskName,
    /// Why they form a pair.
    pub kind: ReversalKind,
    /// The locations on which they conflict, by their text, sorted.
    pub locations: Vec<String>,
}

/// One sequence of tasks.
#[derive(Clone, Debug)]
pub struct RunInfo {
    /// The number of its parent run. `None` for the recording.
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
    /// Tasks that ran without being planned.
    pub new: Vec<TaskName>,
    /// The first run with the same tasks in the same order, up to independent tasks. `None` if this
    /// run is the first.
    pub equivalent_to: Option<usize>,
    /// It was not run: its effects are known from [`equivalent_to`](Self::equivalent_to).
    pub slept: bool,
    /// A limit cut it before its end.
    pub cut: bool,
    /// The failures of the program, in the order of occurrence.
    pub failures: Vec<Failure>,
    /// The comparison with its parent.
    pub comparison: Option<Comparison>,
    /// The observation at its end.
    pub observation: Arc<Observation>,
}

/// The kind of a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FindingKind {
    /// The reversal makes a difference: see the run's comparison.
    Harmful,
    /// The program fails, and its parent does not have this failure. The recording may fail, too.
    Failure(Failure),
    /// Two tasks that share no reported location were swapped, which makes a difference: see the
    /// run's comparison.
    Unreported,
    /// A run could not be repeated, or gave another result when repeated; a description.
    Unstable(String),
}

/// A finding. The two runs to show are `run` and its parent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Its kind.
    pub kind: FindingKind,
    /// The number of the run that shows it; `None` for a plan that never became a run.
    pub run: Option<usize>,
    /// The number of the run it is compared with.
    pub parent: Option<usize>,
    /// The pair that was reversed.
    pub reversal: Option<Reversal>,
    /// Whether both runs were repeated with the same result. `None`: not tried.
    pub confirmed: Option<bool>,
}

/// Counters of an exploration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Sequences that the program ran, the recording among them.
    pub executions: u64,
    /// Plans whose sequence was planned or run before.
    pub repeated: u64,
    /// Plans that did not run because they are equivalent to a run.
    pub slept: u64,
    /// Runs that turned out to be equivalent to an earlier one.
    pub duplicates: u64,
    /// Runs that ended because all enabled tasks were in the sleep set (exhaustive exploration).
    pub sleep_blocked: u64,
    /// Runs repeated to confirm a difference.
    pub confirmations: u64,
    /// Runs that swap two tasks without a reported conflict.
    pub swaps: u64,
    /// Attempts that the system lost, and that were repeated.
    pub retries: u64,
    /// Plans given up because all attempts failed.
    pub lost: u64,
    /// Runs that gave another result when repeated.
    pub unstable: u64,
    /// Runs cut by a limit on their length.
    pub cut: u64,
    /// Restarts of an exploration without a bound, each because new waits of tasks became known.
    pub restarts: u64,
    /// Relevant conflicts, disablings and other alternatives of the runs whose pairs were reversed.
    pub plans: u64,
    /// The executed tasks, without repeated ones: beginnings that runs share, confirmations, swaps.
    pub tasks: u64,
    /// All executed tasks. A beginning that was restored from a saved state is not executed again.
    pub all_tasks: u64,
}

impl Counts {
    /// Returns how often the program ran: what `Limits::executions` counts.
    #[must_use]
    pub const fn runs(&self) -> u64 {
        self.executions + self.confirmations + self.retries + self.swaps
    }

    /// Adds the counts of another exploration.
    pub fn add(&mut self, other: &Counts) {
        let Counts {
            executions,
            repeated,
            slept,
            duplicates,
            sleep_blocked,
            confirmations,
            swaps,
            retries,
            lost,
            unstable,
            cut,
            restarts,
            plans,
            tasks,
            all_tasks,
        } = other;
        for (sum, count) in [
            (&mut self.executions, executions),
            (&mut self.repeated, repeated),
            (&mut self.slept, slept),
            (&mut self.duplicates, duplicates),
            (&mut self.sleep_blocked, sleep_blocked),
            (&mut self.confirmations, confirmations),
            (&mut self.swaps, swaps),
            (&mut self.retries, retries),
            (&mut self.lost, lost),
            (&mut self.unstable, unstable),
            (&mut self.cut, cut),
            (&mut self.restarts, restarts),
            (&mut self.plans, plans),
            (&mut self.tasks, tasks),
            (&mut self.all_tasks, all_tasks),
        ] {
            *sum = sum.saturating_add(*count);
        }
    }
}

/// A limit that cut an exploration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Limit {
    /// [`Limits::executions`](anyorder_system::Limits).
    Executions,
    /// The length of runs: `Limits::steps`, or
    /// [`ReversalOptions::tail_max`](super::ReversalOptions).
    Steps,
    /// `Limits::memory_bytes`.
    Memory,
    /// Sequences that the system lost in every attempt.
    Lost,
    /// Some task has more alternatives than
    /// [`ReversalOptions::alternatives_max`](super::ReversalOptions), or a program whose list of
    /// enabled tasks is not exact lists alternatives.
    Alternatives,
    /// Without a bound: the program does not report waits of tasks, so further orders may exist.
    Waiting,
    /// [`ReversalOptions::budget`](super::ReversalOptions): the caller ended the exploration.
    Budget,
    /// The job was stopped.
    Stopped(StopReason),
}

/// What an exploration found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// All sequences, the recording first; parents before children.
    pub runs: Vec<RunInfo>,
    /// The findings, ordered by run.
    pub findings: Vec<Found>,
    /// Counters.
    pub counts: Counts,
    /// The races of the recording; `None` if it has more than 8,192 tasks.
    pub races: Option<RaceCounts>,
    /// Nothing was cut: the runs are all sequences up to the bound, or all without a bound.
    pub complete: bool,
    /// Every conflict of every run is reversed in some run here, so a higher bound would give
    /// nothing more. With a bound, this is false if tasks wait for locations that independent tasks
    /// write, or if the program does not report waits.
    pub exhausted: bool,
    /// The limits that cut it.
    pub limits: Vec<Limit>,
    /// With a bound: all sequences of at most this many reversals were run.
    pub depth_complete: u32,
    /// The recorded tasks with the role of an input event.
    pub inputs: usize,
    pub(crate) program: ProgramIdentity,
    pub(crate) sequences: Arc<Sequences>,
}

impl Outcome {
    /// Returns the tasks of a run, in order. Takes time linear in the length of the run for each
    /// reversal that led to it.
    ///
    /// # Panics
    ///
    /// Panics if no run has this number.
    #[must_use]
    pub fn sequence(&self, run: usize) -> Vec<TaskName> {
        self.choices(run).into_iter().map(|choice| choice.task).collect()
    }

    /// Returns the schedule that reproduces a run.
    ///
    /// # Panics
    ///
    /// Panics if no run has this number.
    #[must_use]
    pub fn schedule(&self, run: usize) -> Schedule {
        let mut schedule = Schedule::new(self.program.clone());
        schedule.choices = self.choices(run);
        schedule
    }

    /// Returns whether every two tasks counted as conflicting: the system says that it reports no
    /// access, or [`ReversalOptions::blind`](super::ReversalOptions::blind) asked for it.
    #[must_use]
    pub fn is_blind(&self) -> bool {
        self.sequences.name_cache.names.has_location(&everything())
    }

    /// Returns whether some step reported an access to something else than the status of a task.
    #[must_use]
    pub fn reports_data(&self) -> bool {
        self.sequences.name_cache.names.any_data()
    }

    /// Returns the tasks of a run with what they did; `None` unless
    /// [`ReversalOptions::keep`](super::ReversalOptions) asked for it.
    ///
    /// # Panics
    ///
    /// Panics if no run has this number.
    #[must_use]
    pub fn kept(&self, run: usize) -> Option<Vec<KeptTask>> {
        self.sequences.kept(run)
    }

    /// Returns the choices of a run.
    ///
    /// # Panics
    ///
    /// Panics if no run has this number.
    #[must_use]
    pub fn choices(&self, run: usize) -> Vec<Choice> {
        self.sequences.choices(run)
    }
}

/// The runs, the names of their tasks, and the choices that hold more than a name.
pub(crate) struct Sequences {
    pub(crate) store: Store,
    pub(crate) name_cache: NameCache,
    pub(crate) choices: FxHashMap<TaskId, Choice>,
}

impl Sequences {
    pub(crate) fn choices(&self, run: usize) -> Vec<Choice> {
        let steps = self.store.steps(u32::try_from(run).unwrap_or(u32::MAX));
        steps.iter().map(|step| self.name_cache.choice(step.task, &self.choices)).collect()
    }

    fn kept(&self, run: usize) -> Option<Vec<KeptTask>> {
        let steps = self.store.steps(u32::try_from(run).unwrap_or(u32::MAX));
        let one = |step: &Arc<ExecutedStep>| {
            Some(KeptTask {
                choice: self.name_cache.choice(step.task, &self.choices),
                handler: self.name_cache.names.handler(step.base),
                step: step.kept.clone()?,
                failures: step.failures.to_vec(),
            })
        };
        steps.iter().map(one).collect()
    }
}

impl fmt::Debug for Sequences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sequences").field("runs", &self.store.len()).finish()
    }
}

/// Why no outcome exists.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// The system lacks a required capability.
    #[error("the program does not tell {0}, which this exploration needs")]
    Lacks(&'static str),
    /// No system could be started.
    #[error("the program cannot be started: {0}")]
    Start(String),
    /// The first run could not be made.
    #[error("the recording failed in every attempt: {0}")]
    Recording(String),
    /// None of the recorded choices could be taken.
    #[error("the recorded schedule is for another program: none of its tasks could run")]
    Schedule,
    /// The job was stopped before the recording was made.
    #[error("stopped: {0}")]
    Stopped(StopReason),
}
