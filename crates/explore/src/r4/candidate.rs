//! Candidates: runs to execute, and their results.

use super::footprint::AccessRules;
use super::names::TaskId;
use super::options::Inputs;
use super::step::{ExecutedStep, Steps};
use anyorder_system::{Cancel, Choice, Control, Observation, RunError, StopReason, Stopped};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Settings shared by all runs of an exploration.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) rules: AccessRules,
    pub(crate) inputs: Inputs,
    /// Choices, by task, that hold more than the task's name: injected values.
    pub(crate) choices: FxHashMap<TaskId, Choice>,
    /// The recorded tasks in order. They may be pending although no task posted them.
    pub(crate) recorded: Vec<TaskId>,
    /// For each task of the recording that ran an alternative other than the first: this
    /// alternative.
    pub(crate) preferred: FxHashMap<TaskId, TaskId>,
    /// The most alternatives of a task to run.
    pub(crate) alternatives_max: u32,
    /// Whether to ask the system what tasks wait for.
    pub(crate) asks_waits: AtomicBool,
    /// After the plan, a run may take any alternative that is not in the sleep set.
    pub(crate) exhaustive: bool,
    pub(crate) stop_after_plan: bool,
    /// A run with this many tasks that has not ended is cut.
    pub(crate) length_max: u64,
    pub(crate) attempts: u32,
    /// Every two tasks conflict.
    pub(crate) blind: bool,
    /// Steps are kept for reports.
    pub(crate) keep: bool,
    /// Ends the exploration without being a limit.
    pub(crate) budget: Option<Cancel>,
}

impl Config {
    /// Returns whether the budget is spent.
    pub(crate) fn is_spent(&self) -> bool {
        self.budget.as_ref().is_some_and(|budget| budget.check().is_err())
    }
}

/// A run to execute: the first `shared` steps of another run, then the rest of the plan.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) shared: usize,
    pub(crate) rest: Vec<TaskId>,
    /// Sleep sets: tasks that must not run before a task that depends on them. Empty except in
    /// exhaustive exploration.
    pub(crate) asleep: Vec<Arc<ExecutedStep>>,
}

/// The request to execute a candidate.
pub(crate) struct Request<'a> {
    pub(crate) config: &'a Config,
    pub(crate) control: &'a Control<'a>,
    /// A number for the parent run. It stays the same as long as saved states of that parent are
    /// useful.
    pub(crate) run: u64,
    pub(crate) parent: &'a Steps,
    pub(crate) candidate: &'a Candidate,
    /// Whether to ask for the enabled tasks after each step.
    pub(crate) ask: bool,
}

/// An executed run.
#[derive(Clone, Debug)]
pub(crate) struct RunResult {
    /// The steps after the shared ones.
    pub(crate) steps: Vec<Arc<ExecutedStep>>,
    pub(crate) skipped: Vec<TaskId>,
    pub(crate) observation: Observation,
    /// A limit cut the run before its end.
    pub(crate) cut: bool,
    /// The run ended because all enabled tasks were in the sleep set.
    pub(crate) blocked: bool,
    /// A task had alternatives that are not run, or an unknown number of alternatives.
    pub(crate) more_alternatives: bool,
    /// What tasks waited for, by task. Only facts that this worker has not reported yet.
    pub(crate) awaited: Vec<(TaskId, u32)>,
    /// The run followed its plan, and every task behaved as in the parent run.
    pub(crate) as_known: bool,
}

/// The reason why a candidate gave no run.
#[derive(Clone, Debug)]
pub(crate) enum NoRun {
    /// The exploration was stopped.
    Stopped(StopReason),
    /// The budget was spent before it began.
    Spent,
    /// All attempts failed. Holds the text of the last error.
    Lost(String),
}

impl From<RunError> for NoRun {
    fn from(error: RunError) -> NoRun {
        match error {
            RunError::Stopped(reason) => NoRun::Stopped(reason),
            error => NoRun::Lost(error.to_string()),
        }
    }
}

impl From<Stopped> for NoRun {
    fn from(stopped: Stopped) -> NoRun {
        NoRun::Stopped(stopped.0)
    }
}
