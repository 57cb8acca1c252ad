//! Faults of the bridge to the engine of threads, which its tests must notice.

anyorder_common::sabotage! {
    /// Others come between the operations of a step.
    StepsInterrupted,
    /// Who waits looks at the first value only that it found.
    FirstValueWatched,
    /// A lock that is never given back keeps no run from its end.
    LocksForgotten,
    /// Threads that wait at different places are not told apart.
    PlacesTogether,
    /// A thread that failed has ended.
    FailuresEnd,
    /// All calls of an object commute.
    CallsCommute,
    /// What a thread knows after a step of several operations is not told.
    KnowledgeForgotten,
    /// The end of a run is not looked at.
    EndForgotten,
}
