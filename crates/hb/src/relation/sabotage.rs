//! Faults of an engine, which its tests must notice.

anyorder_common::sabotage! {
    /// Reads that come after all writes so far make no runs, even where a write follows.
    QuietBeforeWrites,
    /// Reads that nothing writes after make no runs, even where a write of another handler is
    /// unordered with them.
    QuietBesideOthers,
    /// The same for a write of their own handler.
    QuietBesideOwn,
    /// The same for an atomic write.
    QuietBesideAtomics,
    /// Reads that nothing writes after make no runs, even where other ranges overlap theirs.
    QuietOverlapping,
    /// Only writes tell whether a location races.
    RacyWithoutReads,
    /// Only the last read since a write tells that.
    RacyOneRead,
    /// The order of a bag task starts from that of a task that more than posts gave its order.
    BesideOrdered,
    /// The order of a bag task starts from that of a task that its poster posted later.
    BesideLater,
    /// The order of a bag task starts from another one, but leaves out the tasks before that.
    BesideForgotten,
    /// The order of a task starts from that of a task that was posted later.
    RecentLater,
    /// The order of a task starts from that of one by a poster to which other rules apply.
    RecentUnlike,
    /// The order of a task starts from the last one that the chain of its poster posted, even where
    /// tasks began out of the order of their posts.
    LastUnsorted,
}
