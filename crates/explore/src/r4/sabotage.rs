//! Faults of the exploration, which its tests must notice.

anyorder_common::sabotage! {
    /// Conflicts are also reversed if a task must come between the two.
    AnyConflict,
    /// A run keeps the depth of its first plan (trap 8; depth first only).
    FirstDepth,
    /// A planned sequence with a task that cannot run is dropped (traps 3 and 4; with a bound
    /// only).
    SkippedEnds,
    /// A sleeping plan is not compared with the run that predicts its effects.
    SleepUnverified,
    /// Creators do not come before the tasks that they create.
    NoCreation,
    /// Differences count as harmful without confirmation.
    Unconfirmed,
    /// The conflicts of a disabled task in the sleep set are forgotten (without a bound only).
    ForgetSleepingConflicts,
    /// Only the first alternative of a task, or the recorded one, runs.
    FirstAlternatives,
    /// Waits of tasks are ignored (without a bound only).
    NoWaiting,
    /// The order of a queue counts as happens-before, and that of the posts is not changed.
    FixedQueues,
    /// If a task is in the sleep set, its other alternatives are, too (without a bound only).
    SleepAlternatives,
}
