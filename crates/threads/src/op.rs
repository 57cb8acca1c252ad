//! Operations of threads on shared objects.

use crate::ids::{ObjectId, ThreadId};

/// One operation: what a thread is about to do, up to the result that it will get.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Op {
    /// The object; [`ObjectId::NONE`] if there is none.
    pub object: ObjectId,
    /// What it does.
    pub act: Act,
}

impl Op {
    /// Makes an operation.
    #[must_use]
    pub const fn new(object: ObjectId, act: Act) -> Op {
        Op { object, act }
    }
}

/// The orderings of Rust's atomics.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MemoryOrder {
    /// `Relaxed`.
    Relaxed,
    /// `Acquire`.
    Acquire,
    /// `Release`.
    Release,
    /// `AcqRel`.
    AcqRel,
    /// `SeqCst`.
    SeqCst,
}

impl MemoryOrder {
    /// Returns whether a read in this order acquires.
    #[must_use]
    pub const fn acquires(self) -> bool {
        matches!(self, MemoryOrder::Acquire | MemoryOrder::AcqRel | MemoryOrder::SeqCst)
    }

    /// Returns whether a write in this order releases.
    #[must_use]
    pub const fn releases(self) -> bool {
        matches!(self, MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::SeqCst)
    }
}

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockMode {
    /// By one holder.
    Exclusive,
    /// With other shared holders.
    Shared,
    /// As a shared holder that may become the exclusive one. One at a time.
    Upgradable,
}

/// What happens if an operation cannot succeed now.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Patience {
    /// It waits.
    Wait,
    /// It fails.
    Try,
    /// It waits, or fails after some time: both are possible.
    TimeOut,
}

/// A change of a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Change {
    /// Stores the operand.
    Swap(u64),
    /// Adds it, wrapping.
    Add(u64),
    /// Subtracts it, wrapping.
    Sub(u64),
    /// Bitwise and.
    And(u64),
    /// Bitwise or.
    Or(u64),
    /// Bitwise exclusive or.
    Xor(u64),
    /// Negated bitwise and.
    Nand(u64),
    /// The greater, as unsigned numbers.
    Max(u64),
    /// The lesser, as unsigned numbers.
    Min(u64),
    /// The greater, as signed numbers.
    SignedMax(u64),
    /// The lesser, as signed numbers.
    SignedMin(u64),
    /// Stores `new` if the register has the value `current`.
    CompareExchange {
        /// The value expected.
        current: u64,
        /// The value stored.
        new: u64,
    },
    /// As `CompareExchange`, for values that stand for places: see [`place`].
    ExchangePlace {
        /// The value expected.
        current: u64,
        /// The value stored.
        new: u64,
    },
}

impl Change {
    /// Returns whether it writes to a register with this value.
    #[must_use]
    pub const fn writes(self, old: u64) -> bool {
        match self {
            Change::CompareExchange { current, .. } => old == current,
            Change::ExchangePlace { current, .. } => place::is_same(old, current),
            _ => true,
        }
    }
}

/// Values of registers that stand for places in memory: addresses that are the same in all
/// executions.
///
/// Such a value has [`place::MARK`] in its highest byte and the place in its lower half. The 24
/// bits between stand for what was in the memory when the value was stored, as far as whoever
/// stored it knows: whoever loads it may look there, so it is part of what it has seen. It does not
/// count when places are compared.
pub mod place {
    /// The highest byte.
    pub const MARK: u64 = 0xa6;

    /// Returns whether two values are equal, or stand for the same place.
    #[must_use]
    pub const fn is_same(a: u64, b: u64) -> bool {
        a == b || (a >> 56 == MARK && b >> 56 == MARK && a as u32 == b as u32)
    }
}

/// What an operation does, and the meaning of its result. Results without a meaning are 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Act {
    /// Reads a register. Result: its value.
    Load(MemoryOrder),
    /// Writes a register.
    Store(u64, MemoryOrder),
    /// Changes a register of some width in bits. Result: the value before.
    Update {
        /// The change.
        change: Change,
        /// The width in bits.
        bits: u8,
        /// The ordering if it writes.
        success: MemoryOrder,
        /// The ordering if it only reads.
        failure: MemoryOrder,
    },
    /// A fence.
    Fence(MemoryOrder),
    /// Takes a lock. Result: 1 if it did, 3 if it is also poisoned.
    Lock(LockMode, Patience),
    /// Poisons a lock, or heals it.
    Poison(bool),
    /// Returns whether a lock is poisoned. Result: 1 if so.
    IsPoisoned,
    /// Returns whether a lock could be taken now in a mode. Result: 1 if so. It orders nothing.
    IsFree(LockMode),
    /// Gives a lock back.
    Unlock(LockMode),
    /// Changes the mode of a held lock. Only to `Exclusive` may take time. Result: 1 if it did.
    Convert {
        /// The mode before.
        from: LockMode,
        /// The mode after.
        to: LockMode,
        /// What happens if that is not possible now.
        patience: Patience,
    },
    /// Reads data that the program keeps where we do not see it. Result: the version of the data.
    Use,
    /// Changes such data. The number stands for the new content: equal numbers mean equal contents.
    Alter(u64),
    /// Gives back the lock, and waits at the condition variable: the first half of a wait. The
    /// thread is woken by a [`Act::Wake`], and takes the lock again by a [`Act::Lock`].
    Wait {
        /// The lock.
        lock: ObjectId,
        /// How it is held.
        mode: LockMode,
    },
    /// Ends a wait at the condition variable. Result: 1 if notified, 0 if the time was over.
    Wake(Patience),
    /// Wakes one waiting thread, any of them, or none if none waits. Result, if asked for: how
    /// many.
    Notify {
        /// Whether all are woken.
        all: bool,
        /// Whether the caller learns how many.
        counted: bool,
    },
    /// Waits for the token of the own thread and takes it. Result: 1 if taken, 0 if time was over.
    Park(Patience),
    /// Makes the token of a thread available.
    Unpark,
    /// Appends to a queue; fails if no receiver is left. See [`sent`].
    Send(u64, Patience),
    /// Takes from a queue. See [`received`].
    Receive(Patience),
    /// Changes the number of senders of a queue by one, up or down.
    Senders(bool),
    /// Changes the number of receivers of a queue by one, up or down.
    Receivers(bool),
    /// Arrives at a barrier. Result: the generation, and 1 more in the lowest bit for the last one.
    Arrive,
    /// Waits until the generation is over.
    Pass(u64),
    /// Takes permits of a semaphore. Result: 1 if it did, 0 if not, 2 if it is closed.
    Acquire(u32, Patience),
    /// Gives permits to a semaphore.
    Release(u32),
    /// Closes a semaphore.
    Close,
    /// Adds an owner.
    Retain,
    /// Removes an owner. Result: 1 if it was the last one.
    Drop,
    /// Reads the number of owners. Result: the number.
    Owners,
    /// Adds an owner unless there is none. Result: 1 if it did.
    Upgrade,
    /// Removes the owner if it is the only one. Result: 1 if it did.
    TakeSole,
    /// Starts a thread. The object is where the thread is joined.
    Spawn(ThreadId),
    /// Ends the own thread. The number stands for what a join gets: equal numbers mean equal data.
    Exit(u64),
    /// Waits for the end of a thread. Result: the number that it left.
    Join,
    /// Returns whether a thread has ended. Result: 1 if so.
    IsFinished,
    /// Any number below the bound. Result: the number.
    Choose(u32),
    /// Waits until one of these operations would have another result, or until nothing else in the
    /// program can go on: a spinning loop that gives way.
    Await(Box<[Watched]>),
    /// Gives way without waiting: what an engine makes of an [`Act::Await`] of a loop that gives up
    /// after some turns.
    Yield,
    /// Accesses data that nothing but happens-before protects. A write is followed by an
    /// [`Act::Alter`] with its content. Result: the version of the data.
    Access {
        /// Whether it writes.
        write: bool,
    },
    /// The program failed, in a way that it has under this number.
    Fail(u32),
    /// Begins an invocation of an object with a specification: the call, by its number. No other
    /// thread runs up to its [`Act::Return`], or until it has to wait within. Invocations that
    /// [commute](crate::ThreadProgram::commute) are tried in one order only.
    Invoke(u64),
    /// Ends it.
    Return {
        /// The call.
        call: u64,
        /// What the thread knows of the invocation from now on: equal numbers mean equal knowledge.
        value: u64,
    },
}

impl Act {
    /// Returns whether an operation with this result may have changed an object.
    #[must_use]
    pub fn changes(&self, result: u64) -> bool {
        match self {
            Act::Load(_)
            | Act::Fence(_)
            | Act::Use
            | Act::Pass(_)
            | Act::Owners
            | Act::Join
            | Act::IsFinished
            | Act::IsPoisoned
            | Act::IsFree(_)
            | Act::Choose(_)
            | Act::Invoke(_)
            | Act::Return { .. }
            | Act::Await(_)
            | Act::Yield => false,
            Act::Update { change, .. } => change.writes(result),
            Act::Lock(..)
            | Act::Convert { .. }
            | Act::Park(_)
            | Act::Acquire(..)
            | Act::Upgrade
            | Act::TakeSole => result & 1 == 1,
            Act::Send(..) => result == sent::DONE,
            Act::Receive(_) => result >= received::FIRST,
            _ => true,
        }
    }
}

/// A read for whose change a thread waits.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Watched {
    /// The read.
    pub op: Op,
    /// Its result now.
    pub result: u64,
    /// Whether it reads what the thread wrote itself: a counter of its turns, say. Turns that
    /// differ in that alone are turns of one loop.
    pub is_own: bool,
}

impl Watched {
    /// Makes one of what others wrote.
    #[must_use]
    pub fn new(op: Op, result: u64) -> Watched {
        Watched { op, result, is_own: false }
    }

    /// Returns whether two turns that read this and that do the same, but for what the thread wrote
    /// itself.
    #[must_use]
    pub fn is_like(&self, other: &Watched) -> bool {
        self.op == other.op && (self.result == other.result || self.is_own && other.is_own)
    }
}

impl Act {
    /// Returns what an operation with this result left to be read, if it wrote a number.
    #[must_use]
    pub fn leaves(&self, result: u64) -> Option<u64> {
        match self {
            Act::Store(value, _) | Act::Alter(value) => Some(*value),
            Act::Update { change, bits, .. } => change.of(result, *bits),
            _ => None,
        }
    }

    /// Returns whether an operation with this result changed nothing, and would have another result
    /// if something changed.
    #[must_use]
    pub fn only_reads(&self, result: u64) -> bool {
        match self {
            Act::Load(_) | Act::Use | Act::Access { write: false } | Act::Owners => true,
            Act::Update { change, bits, .. } => {
                change.of(result, *bits).unwrap_or(result) == result
            }
            Act::Lock(_, Patience::Try | Patience::TimeOut)
            | Act::Convert { patience: Patience::Try | Patience::TimeOut, .. }
            | Act::Acquire(_, Patience::Try | Patience::TimeOut)
            | Act::TakeSole
            | Act::IsFinished => result == 0,
            Act::Send(_, Patience::Try | Patience::TimeOut) => result == sent::FULL,
            Act::Receive(Patience::Try | Patience::TimeOut) => result == received::EMPTY,
            _ => false,
        }
    }
}

/// Results of [`Act::Send`].
pub mod sent {
    /// It was appended.
    pub const DONE: u64 = 0;
    /// No receiver is left.
    pub const DISCONNECTED: u64 = 1;
    /// The queue was full.
    pub const FULL: u64 = 2;
}

/// Results of [`Act::Receive`] that are no items. Items are numbers from [`received::FIRST`].
pub mod received {
    /// The queue is empty, and no sender is left.
    pub const DISCONNECTED: u64 = 0;
    /// The queue was empty.
    pub const EMPTY: u64 = 1;
    /// The least number that may stand for an item.
    pub const FIRST: u64 = 2;
}
