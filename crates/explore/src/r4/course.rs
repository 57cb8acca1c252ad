//! What a run is asked to be, and what it became.

use super::footprint::AccessRules;
use super::names::TaskId;
use super::options::Inputs;
use super::step::Done;
use anyorder_system::{Choice, Observation, StopReason};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What all runs of an exploration have in common.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) rules: AccessRules,
    pub(crate) inputs: Inputs,
    /// Choices that say more than the task's name: injected values. By the task.
    pub(crate) choices: FxHashMap<TaskId, Choice>,
    /// The tasks of the recording in their order: what may be pending although nobody posted it.
    pub(crate) recorded: Vec<TaskId>,
    /// The alternatives that the recording takes and that are not the first, by their task.
    pub(crate) preferred: FxHashMap<TaskId, TaskId>,
    /// How many alternatives of a task are run at most.
    pub(crate) alternatives_max: u32,
    /// Whether it is asked what tasks wait for.
    pub(crate) asks_waits: Arc<AtomicBool>,
    /// The tail takes any alternative that does not sleep.
    pub(crate) exhaustive: bool,
    pub(crate) stop_after_plan: bool,
    /// A run that has this many tasks and has not ended is cut.
    pub(crate) length_max: u64,
    pub(crate) attempts: u32,
}

/// A run to be made: the first `shared` steps of another, then the rest of the plan.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    pub(crate) shared: usize,
    pub(crate) rest: Vec<TaskId>,
    /// Tasks that are not to run before something that depends on them has: sleep sets. Empty but
    /// in exhaustive exploration.
    pub(crate) asleep: Vec<Arc<Done>>,
}

/// A run that was made.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    /// The steps after the shared ones.
    pub(crate) steps: Vec<Arc<Done>>,
    pub(crate) skipped: Vec<TaskId>,
    pub(crate) observation: Observation,
    /// It was cut before nothing was left to do.
    pub(crate) cut: bool,
    /// It ended because all that could run slept.
    pub(crate) blocked: bool,
    /// It met a task with alternatives that are not run, or whose number is not known.
    pub(crate) more_alternatives: bool,
    /// What tasks waited for, by the task: what the worker has not told yet.
    pub(crate) awaited: Vec<(TaskId, u32)>,
    /// It ran as it was planned, and every task did what it did in the run that it varies.
    pub(crate) as_known: bool,
}

/// Why there is no run.
#[derive(Clone, Debug)]
pub(crate) enum NoRun {
    /// The exploration was stopped.
    Stopped(StopReason),
    /// All attempts failed; the last error, in words.
    Lost(String),
}
