//! Options of a search.

use std::num::NonZeroUsize;

/// Which states are expanded first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub enum Order {
    /// Level by level: the first path found to a state is a shortest one.
    #[default]
    Breadth,
    /// Newest first, in blocks of some thousand states. Keeps fewer waiting states if the state
    /// space is wide. A breadth-first search then looks for the violations again, so that the
    /// counterexamples are the same. With a limit on the depth the search is always breadth-first,
    /// because the shortest paths decide which states lie within the limit.
    Depth,
}

/// How known states are stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Storage {
    /// Fingerprints of 128 bits. Two states with the same fingerprint would count as one.
    #[default]
    Fingerprints,
    /// Whole states, encoded. No state is taken for another, whatever the fingerprints are.
    Exact,
    /// A few bits for each state in a field of a fixed size. Never complete: the fuller the field,
    /// the more states are missed.
    Bitstate {
        /// The size of the field in bytes, at least 8.
        bytes: u64,
    },
}

/// When a search ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Stop {
    /// After the level with the first violation.
    FirstViolation,
    /// When all states are known.
    #[default]
    Exhausted,
}

/// Options of a search. Counted limits give the same result with any number of threads. The limit
/// on memory is that of the [`Control`](anyorder_system::Control).
///
/// ```
/// use anyorder_search::{SearchOptions, Storage};
/// let options = SearchOptions {
///     storage: Storage::Exact,
///     states_max: Some(1_000_000),
///     ..SearchOptions::default()
/// };
/// assert!(options.threads.get() == 1);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchOptions {
    /// Which states come first.
    pub order: Order,
    /// How states are stored.
    pub storage: Storage,
    /// When to end.
    pub stop: Stop,
    /// The number of threads.
    pub threads: NonZeroUsize,
    /// Whether to replace states by their representatives, if the system defines them.
    pub symmetry: bool,
    /// Whether deadlocks and wrong ends are violations.
    pub deadlocks: bool,
    /// Whether to check response properties. The search then keeps the graph of all states.
    pub responses: bool,
    /// Whether to report update conflicts between components, if the system has components. The
    /// search then keeps the graph of all states. Not available with symmetry, or for saved
    /// searches.
    pub updates: bool,
    /// Whether to report livelocks, if the system says what takes its
    /// [transitions](anyorder_system::StateSystem::actors). The search then keeps the graph of all
    /// states. Needs `deadlocks`. Not available for saved searches.
    pub livelocks: bool,
    /// Whether to keep the graph in any case, for [`Search::graph`](crate::Search::graph).
    pub keep_graph: bool,
    /// The most states.
    pub states_max: Option<u64>,
    /// The most steps from an initial state.
    pub depth_max: Option<u32>,
    /// The most transitions.
    pub transitions_max: Option<u64>,
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions {
            order: Order::default(),
            storage: Storage::default(),
            stop: Stop::default(),
            threads: NonZeroUsize::MIN,
            symmetry: false,
            deadlocks: true,
            responses: true,
            updates: false,
            livelocks: false,
            keep_graph: false,
            states_max: None,
            depth_max: None,
            transitions_max: None,
        }
    }
}
