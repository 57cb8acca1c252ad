//! Faults of the search for deadlocks, which its tests must notice.

anyorder_common::sabotage! {
    /// No section must end: also not one before another that it excludes.
    SectionsNeverEnd,
    /// Also those sections that only the recorded order excludes are said to be necessary.
    OrderIsNecessary,
    /// Readers exclude each other where sections must end.
    ReadersExclude,
    /// A request that must happen is not replaced by the next one.
    RequestsStay,
    /// Clocks do not know what a read observes.
    ObservationsForgotten,
    /// The fork of a thread need not come before its first request.
    ForksForgotten,
    /// Attempts wait.
    AttemptsWait,
    /// No thread waits for the end of another one.
    EndsForgotten,
    /// A lock that a thread asks for with its last event is not asked for.
    RequestsForgotten,
    /// A thread waits at a request also where the trace goes on.
    RequestsAnywhere,
    /// All sections are exclusive.
    AllExclusive,
    /// All sections are shared.
    AllShared,
    /// A lock that is held in both threads is no gate.
    GatesForgotten,
    /// Cycles are pairs.
    PairsOnly,
    /// No thread waits for a signal.
    SignalsForgotten,
    /// A thread waits for a signal only once it has its locks again.
    WaitsAtWake,
    /// Signals that need no request of the deadlock need not come.
    FreeSignals,
    /// Signals may come after the wait.
    SignalsLate,
    /// No thread waits for a permit.
    PermitsForgotten,
    /// A thread may wait for a permit though one is left.
    PermitsLeft,
    /// Permits that can still be given are forgotten.
    PermitsGiven,
    /// Who needs a lock that a thread of a deadlock has can still give permits.
    KeptForgotten,
    /// No thread but those of a deadlock takes permits, where it is said that they cannot run out.
    OutsidersForgotten,
    /// Who will give a permit has one, also if it must take one before.
    PermitsAnywhere,
    /// Whatever takes a permit waits for one: work that is added to a wait group.
    TakersWait,
    /// All comparisons of a rule count together: who closes a channel has nothing to give if it
    /// receives before.
    OneComparison,
    /// What takes of one thing does not give of another one: who receives makes no room.
    OneSemaphore,
    /// No thread waits at a barrier.
    BarriersForgotten,
    /// A thread waits at a barrier for one that has arrived in that round.
    AnyRound,
    /// Who needs to pass a barrier at which a thread of a deadlock has yet to arrive can still give
    /// signals and permits.
    BarriersPassed,
    /// No fault, but the solver decides alone, as in traces with too many clocks.
    NoClocks,
    /// The solver decides alone, and does not know of the sections around the requests.
    HeldForgotten,
    /// The solver takes what is asked for to be held.
    RequestsHeld,
}
