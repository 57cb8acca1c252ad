//! Options of a search.

use super::sabotage::Sabotage;
use std::num::NonZeroUsize;

/// Options of a search. Counted limits cut at the same state with any number of threads. The limits
/// on memory (bytes) and executions (calls of [`Reducible::run`](anyorder_system::Reducible::run))
/// are those of the [`Control`](anyorder_system::Control).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatefulOptions {
    /// The number of threads.
    pub threads: NonZeroUsize,
    /// Whether a [`SilentWrite`](anyorder_system::TouchKind::SilentWrite) counts as a read: two
    /// writes of one value do not conflict.
    pub values: bool,
    /// Whether to end after the first finding.
    pub stop_at_first: bool,
    /// Whether to report deadlocks and wrong ends.
    pub deadlocks: bool,
    /// Whether to report update conflicts between components, if the system has components.
    pub updates: bool,
    /// Whether to report livelocks, if the system says what takes its
    /// [transitions](anyorder_system::StateSystem::actors). Needs `deadlocks`.
    pub livelocks: bool,
    /// The most states.
    pub states_max: Option<u64>,
    /// The most transitions.
    pub transitions_max: Option<u64>,
    /// The most steps from an initial state.
    pub depth_max: Option<u32>,
    /// Whether the outcome contains the explored graph.
    pub keep_graph: bool,
    /// Whether edges may be inferred instead of executed. The graph is the same.
    pub infer: bool,
    /// When to give up reduction. The findings are the same; the number of states grows.
    pub give_up: GiveUp,
    /// A fault injected for tests.
    #[cfg(test)]
    pub sabotage: Sabotage,
}

/// When a search gives up reduction. From then on it follows all ready tasks of each new state,
/// which takes less time for each step. Sets of earlier states are kept closed as before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GiveUp {
    /// When every ready task was followed in all states expanded so far. Checked each time their
    /// number has doubled, from 512 on.
    #[default]
    WhenUseless,
    /// Never.
    Never,
    /// Once this many states were expanded. For tests: the choice affects only time.
    At(u64),
    /// Like [`WhenUseless`](Self::WhenUseless). Besides, the search ends without an answer
    /// ([`Counts::left`](super::Counts::left)) if it left out few steps while it was young, so that
    /// a full search can take its place. Checked when this many states were expanded, and each time
    /// their number has doubled, up to eight times the number.
    Leave(u64),
}

/// What [`GiveUp::Leave`] calls few: at most one in this many of the attempts of ready tasks. Full
/// search needs about half of the time for an attempt, and less memory.
pub(crate) const FEW: u64 = 8;

impl Default for StatefulOptions {
    fn default() -> StatefulOptions {
        StatefulOptions {
            threads: NonZeroUsize::MIN,
            values: true,
            stop_at_first: false,
            deadlocks: true,
            updates: true,
            livelocks: true,
            states_max: None,
            transitions_max: None,
            depth_max: None,
            keep_graph: false,
            infer: true,
            give_up: GiveUp::default(),
            #[cfg(test)]
            sabotage: Sabotage::None,
        }
    }
}

impl StatefulOptions {
    /// Returns the injected fault.
    #[inline]
    pub(crate) const fn sabotage(&self) -> Sabotage {
        #[cfg(test)]
        return self.sabotage;
        #[cfg(not(test))]
        Sabotage::None
    }
}
