//! The options of a check.

use crate::confirm::Reorders;

/// The pairs that the search for witnesses tries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pairs {
    /// All pairs if there are few enough, else the candidates.
    #[default]
    Auto,
    /// The candidates of the analysis.
    Candidates,
    /// All pairs of actions of different lanes that do not commute.
    All,
}

impl Pairs {
    /// The most pairs for which [`Pairs::Auto`] tries all.
    pub const AUTO_MAX: usize = 20_000;

    /// The most pairs that [`Pairs::All`] tries.
    pub const ALL_MAX: usize = 2_000_000;

    /// Returns the word of the option.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Pairs::Auto => "auto",
            Pairs::Candidates => "candidates",
            Pairs::All => "all",
        }
    }
}

/// Options of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckOptions {
    /// The pairs to try.
    pub pairs: Pairs,
    /// The events that the search for witnesses may reorder.
    pub reorders: Reorders,
    /// The most pairs to try.
    pub tries_max: u64,
    /// The most events that all tries may visit together, as
    /// [`Confirms::work`](super::Confirms::work) counts them.
    pub work_max: u64,
    /// How many events the tries may visit before not every pair is searched any more: then
    /// [`Confirms::decide`](super::Confirms::decide) answers for as many as it can, and a bounded
    /// number of the others is searched, those of groups without a witness.
    pub one_by_one_max: u64,
    /// The most pairs that a finding lists.
    pub max_pairs: usize,
    /// Whether a limit counts that only left pairs open whose finding would be harmless either way
    /// ([`Category::is_harmless`](super::Category::is_harmless)).
    pub strict: bool,
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions {
            pairs: Pairs::Auto,
            reorders: Reorders::Threads,
            tries_max: 20_000,
            work_max: 4_000_000_000,
            one_by_one_max: 4_000_000,
            max_pairs: 1_000,
            strict: false,
        }
    }
}

/// A limit that leaves pairs without an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cut {
    /// Not all candidates were listed.
    Candidates,
    /// Not all pairs were listed.
    Pairs,
    /// So many pairs were tried.
    Tries,
    /// So much work was done.
    Work,
    /// The window around a pair was too small.
    Window,
    /// The solver met too many conflicts.
    Conflicts,
}
