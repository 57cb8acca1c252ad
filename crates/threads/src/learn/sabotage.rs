//! Faults of the exploration, which its tests must notice.

anyorder_common::sabotage! {
    /// Reads and changes of an object commute.
    ReadsCommute,
    /// Changes that commute with themselves commute with all.
    AdditionsCommute,
    /// Attempts commute with giving back.
    AttemptsCommute,
    /// Threads that wait need nobody.
    WaitingNeedsNobody,
    /// The search is not repeated after it learnt something.
    OneSearch,
    /// Two states are one if their threads are at the same places.
    ObjectsForgotten,
    /// Contents under locks are not part of a state.
    ContentsForgotten,
    /// The future of a thread does not have that of the threads it spawns.
    SpawnsForgotten,
    /// All nodes with one operation are one class.
    FuturesForgotten,
    /// Who knows which access is not part of a state.
    ViewsForgotten,
    /// Every read acquires.
    ReadsAcquire,
    /// Every write releases.
    WritesRelease,
    /// A write leaves the release sequence as it is.
    SequencesGoOn,
    /// A read-modify-write ends the release sequence.
    SequencesEnd,
    /// Fences do nothing.
    NoFences,
    /// Shared holders of a lock learn from each other.
    ReadersLearn,
    /// All calls of an object commute.
    CallsCommute,
    /// Whatever happens within invocations of two objects commutes.
    OwnersForgotten,
    /// An invocation touches its points alone.
    BodiesForgotten,
    /// After an invocation all goes on as after any other one of the same call.
    ValuesForgotten,
    /// Threads run between the operations of an invocation.
    InvocationsInterrupted,
    /// All invocations of an object synchronise, whether they commute or not.
    CallsSynchronise,
    /// No invocations of an object synchronise.
    CallsDoNotSynchronise,
    /// Calls of one side of a point synchronise.
    SidesSynchronise,
    /// Who joins some thread waits for any thread.
    AnyJoinWaits,
    /// Of owners that are removed, none is the last one.
    NobodyIsLast,
    /// Which thread made the last step is not part of a state.
    LastForgotten,
    /// Executions that go on by themselves preempt threads.
    ExecutionsPreempt,
    /// A thread that waits with a time-out could go on.
    TimedWaitsGoOn,
    /// A thread that gives way could go on.
    GivingWayGoesOn,
    /// What gives something back or ends is local.
    GivingIsLocal,
    /// Every step is local.
    AllIsLocal,
    /// Loops are tried in executions alone, and not where only the search comes.
    SearchesTryNoLoops,
    /// A loop gives up one turn earlier than it does.
    LoopsGiveUpEarly,
    /// Every loop goes on for ever.
    LoopsNeverGiveUp,
    /// What is known of one loop of a thread is true of all.
    LoopsAreOne,
    /// A loop whose turn needs what another thread holds goes on for ever.
    NeedsAreEndless,
    /// A thread whose turn needs what another thread holds waits for that.
    NeedsWait,
    /// A lock that a thread took before its loop is one of its turns.
    LocksBeforeCount,
    /// What a thread does after its loop never depends on how many turns it took.
    TurnsNeverMatter,
    /// A thread that waited once waits in the same loop ever after, whatever has changed.
    ChangesForgotten,
    /// A write is known to whom the write before was known.
    WritesInherit,
    /// A search that goes on has visited nothing.
    VisitedForgotten,
    /// The step at which a search was cut is left out.
    StepsSkipped,
    /// Faults that the search found before a cut are not found again.
    ClaimsForgotten,
    /// After a cut, accesses get other numbers.
    SlotsForgotten,
}
