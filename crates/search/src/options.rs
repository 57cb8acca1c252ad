//! What a search is asked to do.

use std::num::NonZeroUsize;

/// Which states are gone on from first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub enum Order {
    /// Level by level: the first way found to a state is a shortest one.
    #[default]
    Breadth,
    /// Newest first, in blocks of some thousand states. Keeps fewer states waiting where the state
    /// space is wide. What it finds is looked for again breadth-first, so that counterexamples are
    /// the same. With a limit on the depth the search is breadth-first all the same: which states
    /// lie within it depends on the shortest ways.
    Depth,
}

/// What is kept of the states that were seen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Storage {
    /// Fingerprints of 128 bits. Two states with one fingerprint would be taken for one.
    #[default]
    Fingerprints,
    /// Whole states, encoded: nothing is taken for something else, whatever the fingerprints are
    /// like.
    Exact,
    /// Some bits a state in a field of a fixed size. Never complete: the fuller the field, the more
    /// states are missed.
    Bitstate {
        /// The size of the field in bytes, at least 8.
        bytes: u64,
    },
}

/// When a search ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Stop {
    /// After the level in which something was found.
    FirstViolation,
    /// When all states were seen.
    #[default]
    Exhausted,
}

/// What a search is asked to do. Limits that are counted give the same result with any number of
/// threads; the limit on memory is that of the [`Control`](anyorder_system::Control).
///
/// ```
/// use anyorder_search::{Options, Storage};
/// let options = Options { storage: Storage::Exact, states_max: Some(1_000_000), ..Options::default() };
/// assert!(options.threads.get() == 1);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Which states come first.
    pub order: Order,
    /// What is kept of states.
    pub storage: Storage,
    /// When to end.
    pub stop: Stop,
    /// The number of threads.
    pub threads: NonZeroUsize,
    /// Whether states are replaced by their representatives, where the system gives them.
    pub symmetry: bool,
    /// Whether a state in which nothing can happen and that is not final is a violation.
    pub deadlocks: bool,
    /// Whether response properties are checked; the graph of all states is kept for it.
    pub responses: bool,
    /// Whether update conflicts between components are looked for, where the system has components;
    /// the graph of all states is kept for it. Not under symmetry, and not in searches that are
    /// saved.
    pub updates: bool,
    /// Whether the graph is kept in any case, for [`Search::graph`](crate::Search::graph).
    pub keep_graph: bool,
    /// The number of states.
    pub states_max: Option<u64>,
    /// The number of steps from an initial state.
    pub depth_max: Option<u32>,
    /// The number of transitions.
    pub transitions_max: Option<u64>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            order: Order::default(),
            storage: Storage::default(),
            stop: Stop::default(),
            threads: NonZeroUsize::MIN,
            symmetry: false,
            deadlocks: true,
            responses: true,
            updates: false,
            keep_graph: false,
            states_max: None,
            depth_max: None,
            transitions_max: None,
        }
    }
}
