//! What a search is asked to do.

/// Which event comes first where the paper leaves it open (Algorithm 2, lines 13 and 17).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Choice {
    /// The first in the order of events, which is that in which they were met.
    First,
    /// The one executed the longest ago in this execution, or never: full cycles close sooner.
    #[default]
    LeastRecent,
}

/// Which event is executed again in a state whose events are all done (Algorithm 2, line 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Again {
    /// Each in turn.
    #[default]
    InTurn,
    /// Always the first: allowed by the text, and may not end.
    First,
}

/// What a search is asked to do. The limits on executions and on memory (bytes) are those of the
/// [`Control`](anyorder_system::Control).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Whether searches backwards remember where they were (Appendix D). Without: exponential.
    pub summaries: bool,
    /// Whether a [`SilentWrite`](anyorder_system::TouchKind::SilentWrite) counts as a read.
    pub values: bool,
    /// Whether line 16 of Algorithm 5 is as printed: unsound.
    pub as_printed: bool,
    /// Which event comes first.
    pub choice: Choice,
    /// Which event is executed again.
    pub again: Again,
    /// Whether deadlocks and wrong ends are looked for.
    pub deadlocks: bool,
    /// Whether the backtracking points with their causes and the transitions are handed out.
    pub keep_trail: bool,
    /// The number of states.
    pub states_max: Option<u64>,
    /// The number of steps of searches backwards.
    pub backward_max: Option<u64>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            summaries: true,
            values: true,
            as_printed: false,
            choice: Choice::default(),
            again: Again::default(),
            deadlocks: true,
            keep_trail: false,
            states_max: None,
            backward_max: None,
        }
    }
}
