//! Options of a search.

/// Which event comes first if the paper leaves it open (Algorithm 2, lines 13 and 17).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Choice {
    /// The first in the order of events, which is the order of first use.
    First,
    /// The event executed the longest ago in this execution, or never: full cycles close sooner.
    #[default]
    LeastRecent,
}

/// Which event to execute again in a state whose events are all done (Algorithm 2, line 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Revisit {
    /// Each in turn.
    #[default]
    InTurn,
    /// Always the first: the text allows it, and the search may not end.
    First,
}

/// Options of a search. The limits on executions and on memory (bytes) are those of the
/// [`Control`](anyorder_system::Control).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PaperOptions {
    /// Whether backward searches remember their visits (Appendix D). Without: exponential.
    pub summaries: bool,
    /// Whether a [`SilentWrite`](anyorder_system::TouchKind::SilentWrite) counts as a read.
    pub values: bool,
    /// Whether line 16 of Algorithm 5 is as printed: unsound.
    pub as_printed: bool,
    /// Which event comes first.
    pub choice: Choice,
    /// Which event to execute again.
    pub revisit: Revisit,
    /// Whether to report deadlocks and wrong ends.
    pub deadlocks: bool,
    /// Whether the outcome contains the transitions, and the backtracking points with their causes.
    pub keep_trail: bool,
    /// The most states.
    pub states_max: Option<u64>,
    /// The most steps of backward searches.
    pub backward_max: Option<u64>,
}

impl Default for PaperOptions {
    fn default() -> PaperOptions {
        PaperOptions {
            summaries: true,
            values: true,
            as_printed: false,
            choice: Choice::default(),
            revisit: Revisit::default(),
            deadlocks: true,
            keep_trail: false,
            states_max: None,
            backward_max: None,
        }
    }
}
