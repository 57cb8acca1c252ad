//! Faults in the happens-before rules, which the tests of the rules must notice.

anyorder_common::sabotage! {
    /// What waits in the queue of a page waits for nothing else.
    Free,
    /// What waits in the queue of a page comes in the order of its creation.
    Chained,
    /// Events come in the default order only.
    OnlyFirst,
    /// The user does not wait for the element of a step.
    StepsAtOnce,
    /// The user takes a step only if nothing else can run.
    StepsLast,
    /// What is cancelled still runs.
    KeepsCancelled,
    /// An event that cancels another one cancels all that wait in its frame.
    CancelsMore,
    /// The page goes on after it was left.
    StaysAfterLeaving,
    /// The page is left only if nothing else can run.
    LeavesLast,
    /// The creator of every event is the document.
    NoCreator,
    /// The creator of an event is the last one that was created before it.
    LastCreator,
}
