//! Faults of the search, which its tests must notice.

anyorder_common::sabotage! {
    /// Tasks that could make a member ready are not added (S2).
    NoEnablers,
    /// One task is enough even if it has no successor (S3; S4 alone would compensate for it).
    NoProgress,
    /// An optional transition is enough (S3).
    OptionalLeads,
    /// Tasks may be ignored for ever (S4).
    NoFairness,
    /// Only the footprints of other tasks in the same state count, not all that they were seen to
    /// touch.
    ActualFootprints,
    /// Places that a task awaits do not count as read.
    NoAwaits,
    /// States are not checked again when facts grow.
    NoReclosing,
    /// Edges are inferred also where footprints conflict.
    InferAnything,
    /// Of several updates of an attribute in one step only the last counts.
    LastUpdateOnly,
    /// An update for no component does not change the last writer.
    NobodyUpdatesNothing,
    /// Silent writes count as nothing where values count.
    SilentNothing,
    /// Invariants have no observers.
    NoObservers,
    /// Tasks that the system lists in advance are ignored.
    NoForeknowledge,
    /// Blocked attempts count as touching nothing.
    BlockedTouchNothing,
}
