//! What a search found.

use anyorder_search::Outcome as SearchOutcome;
use anyorder_system::{Hash128, Place, TaskKey};

/// What a search found. Update conflicts and response properties are not looked for.
pub type Outcome<S> = SearchOutcome<S, Backtracking>;

/// What this engine counts besides. Its transitions are counted once each, those that fail
/// included, blocked attempts not; its executions are those of an event in a state, repetitions and
/// blocked ones included; its depth is that of calls of EXPLORE.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// The attempts that could not go on, each once.
    pub blocked: u64,
    /// The calls of [`Reducible::run`](anyorder_system::Reducible::run).
    pub runs: u64,
    /// The executions in the paper's sense: from a state to a match, or to a state that offers
    /// nothing.
    pub sequences: u64,
    /// The events that were put into a backtrack set, but for those that were chosen (line 13).
    pub backtracking_points: u64,
    /// The steps of searches backwards.
    pub backward_steps: u64,
    /// The states in which nothing can happen.
    pub ends: u64,
}

/// How a search backtracked.
#[derive(Clone, Debug, Default)]
pub struct Backtracking {
    /// Numbers.
    pub counts: Counts,
    /// What was done, if asked for.
    pub trail: Option<Trail>,
}

/// Why an event is in a backtrack set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cause {
    /// Chosen, because nothing else was left (Algorithm 2, line 14).
    Chosen,
    /// This event disables it (Algorithm 2, line 23).
    DisabledBy(TaskKey),
    /// A later transition conflicts on a place with what this event did in the state, and this
    /// event leads there (Algorithm 5, line 10).
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
