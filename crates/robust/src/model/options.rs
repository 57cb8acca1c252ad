//! How much is searched.

/// How much is searched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// How many invocations may stop besides the one with the pivot, of those that need not.
    pub stops: u32,
    /// How often an event may happen that is not declared to happen once.
    pub repeat: u32,
    /// The most states of each search. The search of pivots takes ten times as many steps.
    pub max_states: usize,
    /// The most simulated steps with each number of further stops; a search without further stops
    /// is not bounded by it.
    pub steps_with_stops: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { stops: 1, repeat: 2, max_states: 1_000_000, steps_with_stops: 1_000_000 }
    }
}
