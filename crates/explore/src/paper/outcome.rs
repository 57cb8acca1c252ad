//! The outcome of a search.

use anyorder_search::Outcome as SearchOutcome;
use anyorder_system::{Hash128, Place, TaskKey};

/// The outcome of a search. It contains no update conflicts and no response properties.
pub type Outcome<S> = SearchOutcome<S, Backtracking>;

/// Counters of this engine. Each transition counts once, including failing ones, without blocked
/// attempts. Executions are those of an event in a state, including repetitions and blocked ones.
/// The depth is that of calls of EXPLORE.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// The blocked attempts, each once.
    pub blocked: u64,
    /// The calls of [`Reducible::run`](anyorder_system::Reducible::run).
    pub runs: u64,
    /// The executions in the paper's sense: from a state to a match, or to a state without enabled
    /// events.
    pub sequences: u64,
    /// The events added to a backtrack set, without chosen ones (line 13).
    pub backtracking_points: u64,
    /// The steps of backward searches.
    pub backward_steps: u64,
    /// The states in which nothing can happen.
    pub ends: u64,
}

/// The data of this engine's backtracking.
#[derive(Clone, Debug, Default)]
pub struct Backtracking {
    /// Counters.
    pub counts: Counts,
    /// The record of the search, if requested.
    pub trail: Option<Trail>,
}

/// Why an event is in a backtrack set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cause {
    /// Chosen, because no other event was left (Algorithm 2, line 14).
    Chosen,
    /// This event disables it (Algorithm 2, line 23).
    DisabledBy(TaskKey),
    /// A later transition conflicts on a place with the accesses of this event in the state, and
    /// this event leads there (Algorithm 5, line 10).
    Conflict {
        /// The event executed in the state.
        with: TaskKey,
        /// The place.
        place: Place,
    },
    /// Like `Conflict`, if the event that leads there is not enabled: all events (Algorithm 5, line
    /// 12).
    All {
        /// The event executed in the state.
        with: TaskKey,
    },
}

/// An event in a backtrack set, and one of its causes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Point {
    /// The fingerprint of the state.
    pub state: Hash128,
    /// The event; `None` for the observer of an invariant.
    pub task: Option<TaskKey>,
    /// The cause.
    pub cause: Cause,
}

/// An executed transition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Edge {
    /// The fingerprint of its source.
    pub from: Hash128,
    /// The event.
    pub task: TaskKey,
    /// The fingerprint of its target; `None` if it fails or is blocked.
    pub to: Option<Hash128>,
}

/// The record of a search, for tests and for people.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    /// The executions in order.
    pub executed: Vec<(Hash128, TaskKey)>,
    /// All backtracking points, sorted.
    pub points: Vec<Point>,
    /// All transitions, in the order of their first executions.
    pub edges: Vec<Edge>,
}
