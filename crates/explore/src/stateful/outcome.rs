//! What a search found.

use anyorder_search::Outcome as SearchOutcome;
use anyorder_system::{Hash128, TaskKey};

/// What a search found. It is complete where the theorem applies; response properties are not
/// looked at.
pub type Outcome<S> = SearchOutcome<S, Reduction>;

/// What this engine counts besides. The same with any number of threads, but for runs cut by time,
/// memory or hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// The transitions known without running a task.
    pub inferred: u64,
    /// How often a state was expanded again.
    pub re_expansions: u64,
    /// How often all states were checked against what had been learned since.
    pub rounds: u64,
    /// Tasks added because a cycle ignored them.
    pub fairness_added: u64,
    /// States that not all ready tasks were followed from.
    pub reduced_states: u64,
    /// States in which nothing can happen.
    pub ends: u64,
    /// The states found when the search gave up reducing ([`GiveUp`](super::GiveUp)), and followed
    /// everything from then on; `None`: it never did.
    pub gave_up_reducing: Option<u64>,
}

/// How a search reduced.
#[derive(Clone, Debug, Default)]
pub struct Reduction {
    /// Numbers.
    pub counts: Counts,
    /// The explored graph, if asked for.
    pub graph: Option<Graph>,
}

/// The explored graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The fingerprint of each state.
    pub states: Vec<Hash128>,
    /// For each state what was followed: the task, and where it leads; `None` for an attempt that
    /// is blocked or fails.
    pub edges: Vec<Vec<(TaskKey, Option<u32>)>>,
}
