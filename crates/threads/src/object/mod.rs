//! Shared objects as small machines: when an operation can be performed, and what it does.

use crate::ids::ThreadId;
use std::collections::VecDeque;

pub use world::World;

mod channels;
mod locks;
mod registers;
mod world;

/// The state of an object.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Object {
    /// A number: an atomic.
    Register(u64),
    /// A lock.
    Lock {
        /// Who holds it exclusively.
        exclusive: Option<ThreadId>,
        /// Whether somebody holds it upgradably.
        upgradable: bool,
        /// The number of shared holders.
        shared: u32,
        /// Whether a holder gave it back in a panic.
        poisoned: bool,
    },
    /// Data that we do not see, by version.
    Data(u64),
    /// A condition variable: who waits, and who was notified and has not gone on.
    Condition {
        /// Sorted: any of them may be woken.
        waiting: Vec<ThreadId>,
        /// Sorted.
        notified: Vec<ThreadId>,
    },
    /// The token of a thread.
    Token(bool),
    /// Where a thread is joined: what it left.
    End(Option<u64>),
    /// A queue.
    Queue {
        /// The items, the oldest first.
        items: VecDeque<u64>,
        /// The most items; `u32::MAX` for no bound.
        capacity: u32,
        /// How many can send.
        senders: u32,
        /// How many can receive.
        receivers: u32,
    },
    /// A barrier.
    Barrier {
        /// How many must arrive.
        size: u32,
        /// How many of this generation have arrived.
        arrived: u32,
        /// The generation.
        generation: u64,
    },
    /// A semaphore.
    Semaphore {
        /// The permits available.
        permits: u64,
        /// Whether it is closed.
        closed: bool,
    },
    /// The number of owners of shared data.
    Count(u64),
}

impl Object {
    /// A free lock.
    pub const LOCK: Object =
        Object::Lock { exclusive: None, upgradable: false, shared: 0, poisoned: false };

    /// A condition variable where nobody waits.
    #[must_use]
    pub const fn condition() -> Object {
        Object::Condition { waiting: Vec::new(), notified: Vec::new() }
    }

    /// An empty queue with one sender and one receiver.
    #[must_use]
    pub const fn queue(capacity: Option<u32>) -> Object {
        let capacity = match capacity {
            Some(capacity) => capacity,
            None => u32::MAX,
        };
        Object::Queue { items: VecDeque::new(), capacity, senders: 1, receivers: 1 }
    }
}
