//! What a search found.

use crate::stateful::Finding;
use anyorder_system::{Hash128, Place, Reducible, StopReason, TaskKey};
use std::fmt;

/// What cut a search.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Limit {
    /// [`Options::states_max`](super::Options::states_max), or more states or transitions than can be numbered (2^32 - 1).
    States,
    /// The limit on executions of the control.
    Executions,
    /// [`Options::backward_max`](super::Options::backward_max).
    Backward,
    /// The memory limit of the control.
    Memory,
    /// The time limit, kept by the front end.
    Time,
    /// The user.
    Interrupt,
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

/// What was done, in numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// The states found.
    pub states: u64,
    /// The transitions executed, each once; those that fail included, blocked attempts not.
    pub transitions: u64,
    /// The attempts that could not go on, each once.
    pub blocked: u64,
    /// The executions of an event in a state, repetitions and blocked ones included.
    pub executions: u64,
    /// The calls of [`Reducible::run`].
    pub runs: u64,
    /// The executions in the paper's sense: from a state to a match, or to a state that offers nothing.
    pub sequences: u64,
    /// The events that were put into a backtrack set, but for those that were chosen (line 13).
    pub backtracking_points: u64,
    /// The steps of searches backwards.
    pub backward_steps: u64,
    /// The most calls of EXPLORE that were open at once.
    pub max_depth: u64,
    /// The states in which nothing can happen.
    pub ends: u64,
}

/// Why an event is in a backtrack set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cause {
    /// Chosen, because nothing else was left (Algorithm 2, line 14).
    Chosen,
    /// This event disables it (Algorithm 2, line 23).
    DisabledBy(TaskKey),
    /// A later transition conflicts on a place with what this event did in the state, and this event leads there (Algorithm 5, line 10).
    Conflict {
        /// The event executed in the state.
        with: TaskKey,
        /// The place.
        place: Place,
    },
    /// As `Conflict`, where what leads there is not enabled: all events (Algorithm 5, line 12).
    All {
        /// The event executed in the state.
        with: TaskKey,
    },
}

/// An event in a backtrack set, and a reason; there may be several reasons.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Point {
    /// The fingerprint of the state.
    pub state: Hash128,
    /// The event; for the observer of an invariant `None`.
    pub task: Option<TaskKey>,
    /// Why.
    pub cause: Cause,
}

/// A transition that was executed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Edge {
    /// The fingerprint of the state that it starts in.
    pub from: Hash128,
    /// The event.
    pub task: TaskKey,
    /// Where it leads; `None` when it fails or is blocked.
    pub to: Option<Hash128>,
}

/// What a search did, for tests and for people.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    /// The executions in order.
    pub executed: Vec<(Hash128, TaskKey)>,
    /// All backtracking points, sorted.
    pub points: Vec<Point>,
    /// All transitions, in the order of their first executions.
    pub edges: Vec<Edge>,
}

/// What a search found.
pub struct Outcome<S: Reducible> {
    /// Whether nothing was cut.
    pub complete: bool,
    /// What cut it.
    pub limit: Option<Limit>,
    /// What is wrong, the shortest first. Update conflicts are not looked for.
    pub findings: Vec<Finding<S>>,
    /// Numbers.
    pub stats: Stats,
    /// What was done, if asked for.
    pub trail: Option<Trail>,
}

impl<S: Reducible> fmt::Debug for Outcome<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outcome")
            .field("complete", &self.complete)
            .field("limit", &self.limit)
            .field("findings", &self.findings)
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}
