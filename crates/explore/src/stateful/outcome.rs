//! The outcome of a search.

use anyorder_search::Outcome as SearchOutcome;
use anyorder_system::{Hash128, TaskKey};

/// The outcome of a search. It is complete where the theorem applies; response properties are not
/// checked.
pub type Outcome<S> = SearchOutcome<S, Reduction>;

/// Counters of this engine. The same with any number of threads, except for runs cut by time,
/// memory or the user.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// The inferred transitions, which ran no task.
    pub inferred: u64,
    /// How often a state was expanded again.
    pub re_expansions: u64,
    /// How often all states were checked against new facts.
    pub rounds: u64,
    /// Tasks added because a cycle ignored them.
    pub fairness_added: u64,
    /// States in which not all ready tasks were followed.
    pub reduced_states: u64,
    /// States in which a run may end: nothing can happen, or only optional transitions.
    pub ends: u64,
    /// The number of states when the search gave up reduction ([`GiveUp`](super::GiveUp)); `None`:
    /// it never did.
    pub gave_up_reducing: Option<u64>,
    /// Whether the search ended because it left out too little
    /// ([`GiveUp::Leave`](super::GiveUp::Leave)). Nothing cut it, and it is not complete.
    pub left: bool,
}

/// What the reduction did.
#[derive(Clone, Debug, Default)]
pub struct Reduction {
    /// Counters.
    pub counts: Counts,
    /// The explored graph, if requested.
    pub graph: Option<Graph>,
}

/// The explored graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The fingerprint of each state.
    pub states: Vec<Hash128>,
    /// For each state, the followed tasks with their targets; `None` for an attempt that is blocked
    /// or fails.
    pub edges: Vec<Vec<(TaskKey, Option<u32>)>>,
}
