//! Rules to get wrong on purpose: tests of the tests.

/// A rule that the interpreter gets wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutant {
    None,
    /// U4: messages and forked threads are created for nobody.
    CreatedForNobody,
    /// U4: what was created for a component creates for nobody.
    OnePostOnly,
    /// U4: who posted a task comes before the component of the task.
    OwnIsIgnored,
    /// U2: the outermost body or call decides, not the innermost.
    OutermostDecides,
    /// C2: for whom something was created does not count.
    CreatorsDoNotCount,
    /// M2: a fifo mailbox gives its latest message.
    FifoIsStack,
    /// M4: oldest first, whatever is due.
    DelayIgnored,
    /// M5: `front` posts at the end.
    FrontIgnored,
    /// E3: `enable` does nothing.
    EnableIgnored,
    /// X12: division rounds down.
    DivisionFloors,
    /// T7: `+=` on a global is one step.
    CompoundIsAtomic,
    /// W3: `notify` wakes all.
    NotifyWakesAll,
    /// L1: locks nest.
    LockNests,
    /// C4: dead locals count.
    DeadLocalsCount,
    /// M6: `cancel` does nothing.
    CancelIgnored,
    /// X5: the place comes before the right side.
    PlaceFirst,
    /// E1: `after` does not matter.
    AfterIgnored,
    /// A6: what is assumed is not looked at.
    AssumeIgnored,
    /// C1, C2: bags keep the order of posts.
    BagsAreOrdered,
    /// M3: each of several equal messages of a bag has a transition.
    EqualMessagesAreMany,
    /// V3: handles of ended tasks are compared by their numbers.
    EndedHandlesDiffer,
    /// V3, X15: functions are the same whatever they captured.
    CapturedValuesDoNotCount,
    /// V4: `sort` puts the greatest first.
    SortDescends,
    /// V6: strings are compared by their length.
    StringsByLength,
    /// V7: ints begin with 1.
    DefaultIntIsOne,
    /// S4: a choice in `init` has one alternative.
    FirstInitOnly,
    /// S5: all events are on at the start.
    DisabledIgnored,
    /// T3: the begin of a thread is a step of its own.
    ThreadsBeginFirst,
    /// T4: the begin of a body does the first visible operation, too.
    BeginDoesOne,
    /// T6: reads are no steps.
    ReadsAreInvisible,
    /// T8: a guard that fails is false.
    FailingGuardIsFalse,
    /// T8: the left side of a response that fails is false.
    FailingTriggerIsFalse,
    /// T9: a lock that is taken does not matter in the end.
    LocksMayStay,
    /// T9: where `final` holds, what waits does not matter.
    FinalHidesWaiting,
    /// T12: `daemon` does nothing.
    DaemonIgnored,
    /// T12: daemons may wait for locks, too.
    DaemonsMayWantLocks,
    /// T11: `unfair` does nothing.
    UnfairIgnored,
    /// M1: all is posted to the first of an array.
    HandlerIndexIgnored,
    /// M4: taking a message moves no time.
    TimeStandsStill,
    /// E1, E2: a driver orders nothing.
    DriverIgnored,
    /// E4: `enabled` of a `once` event that has started.
    EnabledIgnoresStarted,
    /// E5: *started* is taken back.
    StartedForgotten,
    /// X4: the element is looked up in what the local was.
    ElementBeforeIndex,
    /// X6: a part of a local is not put back.
    PartIsLost,
    /// X8: the receiver of a changing method comes before its arguments.
    ReceiverFirst,
    /// X9: a method that changes nothing writes nothing.
    NoWriteIfUnchanged,
    /// X10: 100 calls may nest.
    HundredCalls,
    /// X11: both sides are evaluated.
    NoShortCircuit,
    /// X13: `in` a map looks for a value.
    InLooksAtValues,
    /// X14: `[e; n]` has one more.
    RepeatOneMore,
    /// X16: the last arm that fits.
    LastArmWins,
    /// X17: types are not checked.
    TypesUnchecked,
    /// X3: a field of null is null.
    FieldOfNullIsNull,
    /// B1: `remove` gives null.
    RemoveGivesNothing,
    /// B2: `add` says that it is new.
    AddIsAlwaysNew,
    /// B3: `get_or` gives null.
    GetOrGivesNull,
    /// B4: `len` counts bytes.
    LenCountsBytes,
    /// B5: `all` and `any` do not stop.
    AllAreAsked,
    /// B6: methods of null give null.
    MethodOfNullIsNull,
    /// A2: `atomic` does nothing.
    AtomicIsNothing,
    /// T13: a loop over an index type is as many steps as any other.
    IndexLoopSteps,
    /// A3: the limit is 20.
    FewSteps,
    /// A5: the last element is left out.
    ForSkipsLast,
    /// A6: assertions hold.
    AssertIgnored,
    /// A7: nothing to choose from is a failure.
    EmptyChoiceFails,
    /// L1: anyone may release.
    UnlockByAnyone,
    /// L2: a jump out of `with` does not release.
    WithKeepsOnJump,
    /// W1: who waits keeps the lock.
    WaitKeepsLock,
    /// W2: who is notified goes on without the lock.
    NotifiedNeedsNoLock,
    /// F1: `join` waits for nobody.
    JoinDoesNotBlock,
    /// F2: `yield` is no step.
    YieldIsNothing,
    /// C2: virtual time counts.
    TimeCounts,
    /// C3: numbers of posts count.
    PostsCount,
    /// A1: what would block in an atomic body has no transition.
    BlockingWaits,
    /// Section 8: null is of the wrong type.
    TypeForNull,
}

impl Mutant {
    pub const ALL: &[Mutant] = &[
        Mutant::FifoIsStack,
        Mutant::DelayIgnored,
        Mutant::FrontIgnored,
        Mutant::EnableIgnored,
        Mutant::DivisionFloors,
        Mutant::CompoundIsAtomic,
        Mutant::NotifyWakesAll,
        Mutant::LockNests,
        Mutant::DeadLocalsCount,
        Mutant::CancelIgnored,
        Mutant::PlaceFirst,
        Mutant::AfterIgnored,
        Mutant::AssumeIgnored,
        Mutant::BagsAreOrdered,
        Mutant::EqualMessagesAreMany,
        Mutant::EndedHandlesDiffer,
        Mutant::CapturedValuesDoNotCount,
        Mutant::SortDescends,
        Mutant::StringsByLength,
        Mutant::DefaultIntIsOne,
        Mutant::FirstInitOnly,
        Mutant::DisabledIgnored,
        Mutant::ThreadsBeginFirst,
        Mutant::BeginDoesOne,
        Mutant::ReadsAreInvisible,
        Mutant::FailingGuardIsFalse,
        Mutant::FailingTriggerIsFalse,
        Mutant::LocksMayStay,
        Mutant::FinalHidesWaiting,
        Mutant::DaemonIgnored,
        Mutant::DaemonsMayWantLocks,
        Mutant::UnfairIgnored,
        Mutant::HandlerIndexIgnored,
        Mutant::TimeStandsStill,
        Mutant::DriverIgnored,
        Mutant::EnabledIgnoresStarted,
        Mutant::StartedForgotten,
        Mutant::ElementBeforeIndex,
        Mutant::PartIsLost,
        Mutant::ReceiverFirst,
        Mutant::NoWriteIfUnchanged,
        Mutant::HundredCalls,
        Mutant::NoShortCircuit,
        Mutant::InLooksAtValues,
        Mutant::RepeatOneMore,
        Mutant::LastArmWins,
        Mutant::TypesUnchecked,
        Mutant::FieldOfNullIsNull,
        Mutant::RemoveGivesNothing,
        Mutant::AddIsAlwaysNew,
        Mutant::GetOrGivesNull,
        Mutant::LenCountsBytes,
        Mutant::AllAreAsked,
        Mutant::MethodOfNullIsNull,
        Mutant::AtomicIsNothing,
        Mutant::IndexLoopSteps,
        Mutant::FewSteps,
        Mutant::ForSkipsLast,
        Mutant::AssertIgnored,
        Mutant::EmptyChoiceFails,
        Mutant::UnlockByAnyone,
        Mutant::WithKeepsOnJump,
        Mutant::WaitKeepsLock,
        Mutant::NotifiedNeedsNoLock,
        Mutant::JoinDoesNotBlock,
        Mutant::YieldIsNothing,
        Mutant::TimeCounts,
        Mutant::PostsCount,
        Mutant::BlockingWaits,
        Mutant::TypeForNull,
        Mutant::CreatedForNobody,
        Mutant::OnePostOnly,
        Mutant::OwnIsIgnored,
        Mutant::CreatorsDoNotCount,
    ];
}
