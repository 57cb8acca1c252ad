//! Numbers of threads, objects and source positions.
//!
//! A program gives out the numbers. One number means the same thing in all executions of one
//! program: a thread is the `k`-th that its creator spawns, an object the `k`-th that its creator
//! makes, whatever the others did meanwhile.

/// A thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// The thread that runs at the start.
    pub const MAIN: ThreadId = ThreadId(0);

    /// Returns the number as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An object that threads share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectId(pub u32);

impl ObjectId {
    /// No object: the operand of operations without one.
    pub const NONE: ObjectId = ObjectId(u32::MAX);

    /// Returns the number as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A position in the source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SiteId(pub u32);

impl SiteId {
    /// An unknown position.
    pub const NONE: SiteId = SiteId(u32::MAX);
}
