//! Faults of the exploration, which its tests must notice.

anyorder_common::sabotage! {
    /// Writes commute.
    WritesCommute,
    /// A read and a write commute.
    ReadsCommute,
    /// Reads do not commute.
    ReadsConflict,
    /// Sleeping threads sleep on, whatever happens.
    SleepersSleepOn,
    /// No thread sleeps.
    NobodySleeps,
    /// What is reversed does not first ask who sleeps.
    SleepersNotAsked,
    /// Only threads that are in a sequence begin it.
    BeginnersWithin,
    /// A thread begins a sequence in which it is, wherever it is there.
    BeginnersAnywhere,
    /// A sequence is a branch of its own, whatever is there.
    OwnBranch,
    /// A branch that is there is not continued.
    BranchesAreLeaves,
    /// Threads that wait in the end are in no race.
    WaitingForgotten,
    /// An operation that may wait is in a race only with the last conflicting event.
    LastConflictOnly,
    /// Others are not left out to let a waiting operation go on.
    NobodyLeftOut,
    /// Only the first way of an operation is tried.
    FirstWayOnly,
    /// An operation that is moved touches its object as before.
    TouchesStay,
    /// The last owners but one commute.
    LastOwnersCommute,
    /// A branch that was begun stands for all that it can begin.
    BegunIsEnough,
    /// What is to be run does not ask who was begun.
    BegunNotAsked,
    /// A branch sleeps only when all below it was run.
    BegunAwake,
    /// What is below a branch is forgotten when it was run.
    ForgottenTooEarly,
}
