//! Small programs on atomic registers with memory orderings, all their consistent executions by the
//! axioms of RC11, and random ones.

pub use graphs::{Graphs, LitmusRun, consistent_graphs};
pub use random::{LitmusShape, random_litmus};

mod axioms;
mod graphs;
mod random;

/// A memory ordering.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Strength {
    /// Relaxed.
    Relaxed,
    /// Acquire.
    Acquire,
    /// Release.
    Release,
    /// Both.
    AcqRel,
    /// Sequentially consistent.
    SeqCst,
}

/// A value that a thread writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Written {
    /// This one.
    Is(u64),
    /// The last result and this.
    LastAnd(u64),
}

/// What a read-modify-write does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Modify {
    /// Adds this.
    Add(u64),
    /// Stores this.
    Swap(u64),
    /// Stores the second if it is the first.
    Exchange(u64, u64),
}

/// An instruction. Locations are numbers, all 0 at the start.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Code {
    /// Reads a location.
    Load(usize, Strength),
    /// Writes it.
    Store(usize, Written, Strength),
    /// Changes it: the ordering if it writes, and if it does not.
    Modify(usize, Modify, Strength, Strength),
    /// Accesses plain data at a location: reads it, and writes it if there is a value. Results in
    /// what it read; a write has a second result, 0. Locations of plain data are not those of
    /// others.
    Plain(usize, Option<u64>),
    /// A fence.
    Fence(Strength),
    /// Branches on the last result.
    If(u64, Vec<Code>, Vec<Code>),
    /// Starts a thread.
    Spawn(usize),
    /// Waits for its end.
    Join(usize),
}

/// A program: the code of its threads, of which the first one runs at the start and the others are
/// spawned once at most.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Litmus {
    /// The threads.
    pub threads: Vec<Vec<Code>>,
}

impl Litmus {
    /// A program whose first thread spawns all the others, which run this code.
    #[must_use]
    pub fn of(bodies: Vec<Vec<Code>>) -> Litmus {
        let main = (1..=bodies.len()).map(Code::Spawn).collect();
        Litmus { threads: std::iter::once(main).chain(bodies).collect() }
    }
}
