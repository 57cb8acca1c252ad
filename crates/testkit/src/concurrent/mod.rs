//! Small multithreaded programs, a slow and obvious search of all that they can do, and random
//! ones.

pub use bounded::everything_within;
pub use naive::{Outcome, everything, own_value};
pub use racy::{racy_cells, racy_cells_within, random_racy_program};
pub use random::random_program;
pub use specified::random_specified_program;
pub use spinning::{
    random_counting_program, random_section_program, random_spinning_program,
    random_waiting_program,
};

mod bounded;
mod follow;
mod naive;
mod racy;
mod random;
mod specified;
mod spinning;

/// A shared object, as it is at the start. Statements name it by its position in the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Thing {
    /// An atomic number.
    Number(u64),
    /// A lock: free.
    Lock,
    /// Data under a lock.
    Content(u64),
    /// A condition variable.
    Condition,
    /// A queue with this capacity, one sender and one receiver.
    Queue(u32),
    /// A barrier for so many.
    Barrier(u32),
    /// A semaphore with so many permits.
    Permits(u64),
    /// So many owners.
    Owners(u64),
}

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Hold {
    /// Alone.
    Write,
    /// With other readers.
    Read,
    /// With readers, but no other one of this kind.
    Upgradable,
}

/// Whether an operation waits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Waits {
    /// For ever.
    Ever,
    /// Not at all.
    Never,
    /// For a time.
    Some,
}

/// An operation. The first number is the object, if there is one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Do {
    /// Reads a number.
    Load(usize),
    /// Writes it.
    Store(usize, u64),
    /// Writes one more than the last result.
    StoreNext(usize),
    /// Adds to it; results in the value before.
    Add(usize, u64),
    /// Stores the third if it has the second; results in the value before.
    Swap(usize, u64, u64),
    /// Takes a lock.
    Lock(usize, Hold, Waits),
    /// Whether it could be taken.
    IsFree(usize, Hold),
    /// Gives it back.
    Unlock(usize, Hold),
    /// Makes an upgradable hold a sole one.
    Upgrade(usize, Waits),
    /// Makes a sole hold a shared one.
    Downgrade(usize),
    /// Reads content.
    Use(usize),
    /// Sets it.
    Alter(usize, u64),
    /// Sets it to one more than the last result.
    AlterNext(usize),
    /// Sets it to something that nobody else sets it to: a hash of this number and the last result.
    AlterOwn(usize, u64),
    /// Gives back the lock (second) and waits at the condition.
    Wait(usize, usize),
    /// Ends the wait.
    Wake(usize, Waits),
    /// Notifies one or all; results in the number if asked for.
    Notify(usize, bool, bool),
    /// Takes the own token.
    Park(Waits),
    /// Gives a thread its token.
    Unpark(usize),
    /// Sends.
    Send(usize, u64, Waits),
    /// Receives.
    Receive(usize, Waits),
    /// Adds or removes a sender.
    Senders(usize, bool),
    /// Adds or removes a receiver.
    Receivers(usize, bool),
    /// Arrives at a barrier: twice the generation, plus one for the last.
    Arrive(usize),
    /// Waits for a generation to pass: that of the last result, an arrival; the number is ignored.
    Pass(usize, u64),
    /// Takes permits.
    Acquire(usize, u32, Waits),
    /// Gives permits.
    Release(usize, u32),
    /// Closes a semaphore.
    Close(usize),
    /// Adds an owner.
    Retain(usize),
    /// Removes an owner; results in whether it was the last.
    Disown(usize),
    /// Reads the number of owners.
    CountOwners(usize),
    /// Adds an owner if there is one.
    Revive(usize),
    /// Removes the owner if it is the only one.
    TakeSole(usize),
    /// Starts a thread.
    Spawn(usize),
    /// Waits for its end.
    Join(usize),
    /// Whether it has ended.
    IsFinished(usize),
    /// Any number below this.
    Choose(u32),
    /// Reads a number in an ordering.
    LoadAs(usize, Order),
    /// Writes a number in an ordering.
    StoreAs(usize, u64, Order),
    /// Adds to a number in an ordering.
    AddAs(usize, u64, Order),
    /// A fence.
    Fence(Order),
    /// Reads plain data; results in 0.
    Peek(usize),
    /// Writes plain data.
    Poke(usize),
}

/// An ordering of an atomic operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Order {
    /// None.
    Relaxed,
    /// Of a read.
    Acquire,
    /// Of a write.
    Release,
    /// Of both.
    Both,
}

/// A statement of a thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Stmt {
    /// An operation; its result becomes the last one.
    Do(Do),
    /// Branches on the last result.
    If(u64, Vec<Stmt>, Vec<Stmt>),
    /// Repeats an operation that only reads or fails until it has this result, giving way between.
    SpinUntil(Do, u64),
    /// A loop that gives up after some turns.
    SpinUpTo(Box<Spin>),
    /// A failure.
    Fail(u32),
    /// An invocation of an object with a specification.
    Call(Box<Call>),
}

/// A loop that gives way after each turn, and gives up after some.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Spin {
    /// What each turn does: operations that leave all as it was, while the loop goes on, but for
    /// a number that the thread may count up.
    pub body: Vec<Do>,
    /// The result of any of them with which the loop ends after the turn.
    pub until: u64,
    /// The most turns.
    pub turns: u64,
    /// Whether so many more are made as the last result before the loop says.
    pub is_more: bool,
    /// Whether the turns in vain become the last result.
    pub counts: bool,
}

/// An invocation: nobody else runs meanwhile, but where it has to wait.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    /// The object. It is no thing: it is what its calls do.
    pub object: usize,
    /// The number of the call.
    pub call: u64,
    /// The calls of the object with which it does not commute.
    pub clashes: Vec<u64>,
    /// What it does.
    pub body: Vec<Stmt>,
    /// Whether it results in its last result; otherwise in 0.
    pub returns: bool,
}

/// A program. Thread 0 runs at the start; the others are spawned by statements, each at most once.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Concurrent {
    /// The objects.
    pub things: Vec<Thing>,
    /// The threads.
    pub threads: Vec<Vec<Stmt>>,
}
