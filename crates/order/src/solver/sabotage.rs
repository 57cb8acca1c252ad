//! Faults put in on purpose, to see whether the tests notice.

/// Which parts of a [`Solver`](super::Solver) are to be wrong. Only for tests of the tests.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sabotage {
    /// Looking ahead implies the literal whose edge would close a cycle, not its opposite.
    pub implies_opposite: bool,
    /// Looking ahead takes what the start of the new edge reaches for what reaches it.
    pub wrong_cone: bool,
    /// Clauses of cycles and reasons miss their last literal.
    pub short_clauses: bool,
    /// Saturation does not see paths from the first node of a block to the last of another.
    pub no_first_last: bool,
    /// Saturation does not see paths between entries.
    pub no_entries: bool,
    /// Saturation takes one pair of each resource for forced that is not.
    pub unforced: bool,
    /// A course lets blocks begin whatever came before them.
    pub no_queues: bool,
    /// No fault: saturation is left out, the search has to find out everything.
    pub search_only: bool,
}
