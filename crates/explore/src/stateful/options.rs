//! What a search is asked to do.

use super::sabotage::Sabotage;
use std::num::NonZeroUsize;

/// What a search is asked to do. Limits that are counted cut at the same place with any number of
/// threads; the limits on memory (bytes) and executions (calls of
/// [`Reducible::run`](anyorder_system::Reducible::run)) are those of the
/// [`Control`](anyorder_system::Control).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The number of threads.
    pub threads: NonZeroUsize,
    /// Whether a [`SilentWrite`](anyorder_system::TouchKind::SilentWrite) counts as a read: two
    /// writes of one value do not conflict.
    pub values: bool,
    /// Whether to end once something was found.
    pub stop_at_first: bool,
    /// Whether deadlocks and wrong ends are looked for.
    pub deadlocks: bool,
    /// Whether update conflicts between components are looked for, where the system has components.
    pub updates: bool,
    /// The number of states.
    pub states_max: Option<u64>,
    /// The number of transitions.
    pub transitions_max: Option<u64>,
    /// The number of steps from an initial state.
    pub depth_max: Option<u32>,
    /// Whether the explored graph is handed out.
    pub keep_graph: bool,
    /// Whether edges may be inferred rather than executed: the same graph either way.
    pub infer: bool,
    /// When to give up reducing: the same findings either way, and more states.
    pub give_up: GiveUp,
    /// A fault put in on purpose.
    #[cfg(feature = "sabotage")]
    pub sabotage: Sabotage,
}

/// When a search stops looking for steps to leave out. From then on it follows all ready tasks of
/// each state that it goes on from first, which takes less time a step; sets of earlier states are
/// kept closed as before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GiveUp {
    /// When nothing was left out in any of the states gone on from, looked at whenever their number
    /// has doubled, from 512 on.
    #[default]
    WhenUseless,
    /// Never.
    Never,
    /// Once this many states were gone on from. For tests: the moment matters for time only.
    At(u64),
}

impl Default for Options {
    fn default() -> Options {
        Options {
            threads: NonZeroUsize::MIN,
            values: true,
            stop_at_first: false,
            deadlocks: true,
            updates: true,
            states_max: None,
            transitions_max: None,
            depth_max: None,
            keep_graph: false,
            infer: true,
            give_up: GiveUp::default(),
            #[cfg(feature = "sabotage")]
            sabotage: Sabotage::None,
        }
    }
}

impl Options {
    /// Returns the fault put in on purpose.
    #[inline]
    pub(crate) const fn sabotage(&self) -> Sabotage {
        #[cfg(feature = "sabotage")]
        return self.sabotage;
        #[cfg(not(feature = "sabotage"))]
        Sabotage::None
    }
}
