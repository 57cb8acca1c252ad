//! Faults of a [`Solver`](super::Solver), which its tests must notice.

anyorder_common::sabotage! {
    /// Look-ahead implies the literal whose edge would close a cycle instead of its negation.
    ImpliesOpposite,
    /// Look-ahead uses the forward cone of the edge's start instead of the backward cone.
    WrongCone,
    /// The last literal is missing in clauses of cycles and in reasons.
    ShortClauses,
    /// Saturation ignores paths from the first node of a block to the last of another.
    NoFirstLast,
    /// Saturation ignores paths between entries.
    NoEntries,
    /// Saturation forces one pair of each resource that is not forced.
    Unforced,
    /// A candidate ignores queues.
    NoQueues,
    /// Not a fault: skips saturation, so that the search has to find everything.
    SearchOnly,
}
