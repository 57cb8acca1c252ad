//! What a search found.

use anyorder_system::{Hash128, Place, Reducible, StopReason, TaskKey};
use std::fmt;

/// What cut a search.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Limit {
    /// [`Options::states_max`](super::Options::states_max), or more states than can be numbered (2^31 - 2).
    States,
    /// [`Options::depth_max`](super::Options::depth_max): what lies deeper is not covered.
    Depth,
    /// [`Options::transitions_max`](super::Options::transitions_max).
    Transitions,
    /// The limit on executions of the control.
    Executions,
    /// The memory limit of the control.
    Memory,
    /// The time limit, kept by the front end.
    Time,
    /// The user.
    Interrupt,
}

impl Limit {
    /// Returns the name under which a report lists it among its `limits`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Limit::States => "max-states",
            Limit::Depth => "max-depth",
            Limit::Transitions => "max-transitions",
            Limit::Executions => "max-executions",
            Limit::Memory => "memory-limit",
            Limit::Time => "time-limit",
            Limit::Interrupt => "interrupt",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl From<StopReason> for Limit {
    fn from(reason: StopReason) -> Limit {
        match reason {
            StopReason::Interrupted => Limit::Interrupt,
            StopReason::TimeLimit => Limit::Time,
            StopReason::MemoryLimit => Limit::Memory,
        }
    }
}

/// What is wrong.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Property {
    /// A step failed, with this message. Each message is a property of its own.
    Failure(String),
    /// The invariant with this index.
    Invariant(usize),
    /// Nothing can happen in a state that is not final, and something waits there.
    Deadlock,
    /// All is done, in a state that is not final.
    Final,
    /// Two components, the lower index first, have updated an attribute, one right after the other.
    UpdateConflict {
        /// The attribute.
        place: Place,
        /// The components.
        components: (u32, u32),
    },
}

/// One step of a path.
pub struct Step<S: Reducible> {
    /// The task that ran.
    pub task: TaskKey,
    /// Which of its alternatives.
    pub alternative: u32,
    /// What was done.
    pub action: S::Action,
    /// The state after it.
    pub state: S::State,
    /// What failed.
    pub failure: Option<String>,
}

/// A way through a system from an initial state.
pub struct Path<S: Reducible> {
    /// The place of the initial state among them.
    pub start: u32,
    /// The initial state.
    pub initial: S::State,
    /// The steps.
    pub steps: Vec<Step<S>>,
}

impl<S: Reducible> Path<S> {
    /// Returns the last state.
    #[must_use]
    pub fn last(&self) -> &S::State {
        self.steps.last().map_or(&self.initial, |step| &step.state)
    }

    /// Returns each step in words.
    #[must_use]
    pub fn describe(&self, system: &S) -> Vec<String> {
        let before =
            std::iter::once(&self.initial).chain(self.steps.iter().map(|step| &step.state));
        let steps = self.steps.iter().zip(before);
        steps.map(|(step, state)| system.describe(state, &step.action)).collect()
    }
}

/// Something wrong, and a way to see it.
pub struct Finding<S: Reducible> {
    /// What is wrong.
    pub property: Property,
    /// Its name: the system's, the message of a failure, `deadlock`, `final`, or the attribute of an update conflict.
    pub name: String,
    /// A shortest way to it in the explored graph, of those equally short the first in the order of states and tasks. A failure is its
    /// last step, and so is the second update of a conflict; anything else is in its last state.
    pub path: Path<S>,
}

/// What was done, in numbers. The same with any number of threads, but for runs cut by time, memory or hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// The states found.
    pub states: u64,
    /// The transitions of the explored graph, those that fail or lead to known states included.
    pub transitions: u64,
    /// The calls of [`Reducible::run`].
    pub executions: u64,
    /// The transitions known without a call.
    pub inferred: u64,
    /// How often a state was gone on from again.
    pub re_expansions: u64,
    /// How often all states were checked against what had been learned since.
    pub rounds: u64,
    /// Tasks added because a cycle ignored them.
    pub fairness_added: u64,
    /// States that not all ready tasks were followed from.
    pub reduced_states: u64,
    /// States in which nothing can happen.
    pub ends: u64,
    /// The greatest number of steps to a state found, on the way that it was found.
    pub max_depth: u64,
    /// The most states that waited.
    pub frontier_peak: u64,
    /// The bytes that a state takes at the end, rounded up, without what states point to.
    pub bytes_per_state: u64,
    /// The states found when the search gave up reducing ([`GiveUp`](super::GiveUp)), and followed everything from then on; `None`: it never did.
    pub gave_up_reducing: Option<u64>,
}

/// The explored graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The fingerprint of each state.
    pub states: Vec<Hash128>,
    /// For each state what was followed: the task, and where it leads; `None` for an attempt that is blocked or fails.
    pub edges: Vec<Vec<(TaskKey, Option<u32>)>>,
}

/// What a search found.
pub struct Outcome<S: Reducible> {
    /// Whether the theorem applies: nothing was cut.
    pub complete: bool,
    /// What cut it, sorted. Empty as well when the search ended because something was found.
    pub limits: Vec<Limit>,
    /// What is wrong, the shortest first.
    pub findings: Vec<Finding<S>>,
    /// Numbers.
    pub stats: Stats,
    /// The explored graph, if asked for.
    pub graph: Option<Graph>,
}

impl<S: Reducible> fmt::Debug for Outcome<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let findings: Vec<_> =
            self.findings.iter().map(|one| (&one.property, one.path.steps.len())).collect();
        f.debug_struct("Outcome")
            .field("complete", &self.complete)
            .field("limits", &self.limits)
            .field("findings", &findings)
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}

impl<S: Reducible> fmt::Debug for Finding<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finding")
            .field("property", &self.property)
            .field("steps", &self.path.steps.len())
            .finish_non_exhaustive()
    }
}
