//! Faults of the exploration, which its tests must notice.

anyorder_common::sabotage! {
    /// A read may read any write, whatever happens before.
    ReadsIncoherent,
    /// A write may come anywhere in the order of its object.
    WritesIncoherent,
    /// Two read-modify-writes may read from one write.
    AtomicityForgotten,
    /// A write may come between a read-modify-write and what it reads from.
    WritesIntrude,
    /// A read-modify-write ends the release sequence.
    SequencesEnd,
    /// Release fences do nothing.
    ReleaseFencesForgotten,
    /// Acquire fences do nothing.
    AcquireFencesForgotten,
    /// Every read acquires.
    ReadsAcquire,
    /// Every write releases.
    WritesRelease,
    /// Accesses in the total order of all that is sequentially consistent may be in a circle.
    CirclesOfAccesses,
    /// The same, where fences are among them.
    CirclesOfFences,
    /// Fences order only what is in the modification order or read-before it.
    FencesWithoutReadsFrom,
    /// Happens-before through other objects does not count in that order.
    CirclesThroughOthers,
    /// A write revisits reads on which it depends.
    RevisitsOfThePrefix,
    /// A write revisits only reads after which nothing is deleted.
    DeletionsForgotten,
    /// What is deleted may be anything.
    DeletionsOfAll,
    /// A write that has revisited a read may be deleted.
    DeletionsOfRevisitors,
    /// A read from an earlier write than the last may be deleted.
    DeletionsOfReads,
    /// A write that is not the last of its object may be deleted.
    DeletionsOfWrites,
    /// Choices other than the first may be deleted.
    DeletionsOfChoices,
    /// A revisiting write is only put last.
    LandingsLast,
    /// A read synchronises with the last write in the order in which races are sought.
    RacesByLastWrite,
    /// Without an order of writes, graphs need no order of all events.
    OrderForgotten,
    /// Without an order of writes, one that is deleted must be the last one.
    DeletionsOfLastOnly,
    /// Without an order of writes, an operation is not one step.
    StepsApart,
    /// Threads that wait for what is already there count as stuck.
    StaleWaits,
}
