//! Deliberate faults, to check that the tests notice them.

/// Which parts of a [`Solver`](super::Solver) are faulty. For mutation tests only.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sabotage {
    /// Look-ahead implies the literal whose edge would close a cycle instead of its negation.
    pub implies_opposite: bool,
    /// Look-ahead uses the forward cone of the edge's start instead of the backward cone.
    pub wrong_cone: bool,
    /// The last literal is missing in clauses of cycles and in reasons.
    pub short_clauses: bool,
    /// Saturation ignores paths from the first node of a block to the last of another.
    pub no_first_last: bool,
    /// Saturation ignores paths between entries.
    pub no_entries: bool,
    /// Saturation forces one pair of each resource that is not forced.
    pub unforced: bool,
    /// A candidate ignores queues.
    pub no_queues: bool,
    /// Not a fault: skips saturation, so that the search has to find everything.
    pub search_only: bool,
}
