//! The kind of random program to run.

/// An act of running code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Act {
    /// Reads or writes a shared variable.
    Access,
    /// Reads, writes or updates an atomic.
    Atomic,
    /// Accesses, frees or allocates an address range.
    Range,
    /// Posts a task to some mailbox.
    Post,
    /// Cancels a pending task.
    Cancel,
    /// Takes a lock.
    Acquire,
    /// Releases a lock.
    Release,
    /// Releases a lock whose acquire the recording missed, or recorded in the other mode.
    StrayRelease,
    /// Starts a handler.
    Fork,
    /// Waits for a handler that has exited.
    Join,
    /// Signals a condition.
    Signal,
    /// Signals a condition to all waiters.
    Broadcast,
    /// Waits on a condition.
    Wait,
    /// Passes a barrier.
    Barrier,
    /// Enables a plain input.
    Enable,
    /// Disables a plain input.
    Disable,
    /// Triggers a plain input.
    Trigger,
    /// Sends a request to an Android component.
    Request,
    /// Receives a callback from an Android component.
    Callback,
}

/// The size and the probabilities of random programs.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The number of events at the most.
    pub events_max: usize,
    /// The fewest and the most handlers, of all kinds.
    pub handlers: (u64, u64),
    /// The most acts of one task or piece of code.
    pub acts_max: u64,
    /// The relative weight of each act. One program uses only some of these acts.
    pub weights: Vec<(Act, u32)>,
    /// The percentage of programs in which a given act of `weights` occurs.
    pub act_percent: u32,
    /// The percentage of handlers without a mailbox.
    pub plain_percent: u32,
    /// The percentage of handlers without a known order of events.
    pub untracked_percent: u32,
    /// The percentage of mailboxes that deliver in any order.
    pub bag_percent: u32,
    /// The percentage of posts to a delayed mailbox that have a delay.
    pub delay_percent: u32,
    /// The most ladders: chains of posts on which fifo is read backwards rung by rung.
    pub ladders_max: u64,
    /// The fewest and the most rungs of a ladder.
    pub rungs: (u64, u64),
    /// Whether some handler is an Android main thread, to which most tasks are posted.
    pub android: bool,
}

impl Shape {
    /// At most 25 events of a few kinds: variety comes from many seeds.
    #[must_use]
    pub fn tiny() -> Shape {
        Shape { events_max: 25, handlers: (1, 4), acts_max: 3, act_percent: 40, ..Shape::small() }
    }

    /// At most 60 events.
    #[must_use]
    pub fn small() -> Shape {
        use Act::*;
        Shape {
            events_max: 60,
            handlers: (2, 5),
            acts_max: 4,
            weights: vec![
                (Access, 12),
                (Atomic, 5),
                (Range, 4),
                (Post, 16),
                (Cancel, 4),
                (Acquire, 6),
                (Release, 8),
                (Fork, 8),
                (Join, 6),
                (Signal, 3),
                (Broadcast, 2),
                (Wait, 3),
                (Barrier, 2),
                (Enable, 7),
                (Disable, 3),
                (Trigger, 4),
            ],
            act_percent: 60,
            plain_percent: 25,
            untracked_percent: 15,
            bag_percent: 20,
            delay_percent: 50,
            ladders_max: 1,
            rungs: (1, 3),
            android: false,
        }
    }

    /// At most 120 events.
    #[must_use]
    pub fn medium() -> Shape {
        Shape { events_max: 120, handlers: (2, 7), acts_max: 6, ..Shape::small() }
    }

    /// At most 120 events, mostly posts through several handlers, where fifo read backwards takes
    /// several rounds.
    #[must_use]
    pub fn deep() -> Shape {
        use Act::*;
        Shape {
            events_max: 120,
            handlers: (4, 12),
            acts_max: 1,
            weights: vec![
                (Access, 8),
                (Post, 6),
                (Enable, 3),
                (Trigger, 2),
                (Acquire, 2),
                (Release, 2),
            ],
            act_percent: 70,
            plain_percent: 15,
            untracked_percent: 20,
            bag_percent: 5,
            delay_percent: 20,
            ladders_max: 2,
            rungs: (2, 8),
            android: false,
        }
    }

    /// At most 120 events of an Android application with activities, services, receivers, idle
    /// handlers.
    #[must_use]
    pub fn components() -> Shape {
        use Act::*;
        Shape {
            events_max: 120,
            handlers: (2, 4),
            acts_max: 3,
            weights: vec![
                (Access, 4),
                (Post, 14),
                (Cancel, 4),
                (Acquire, 1),
                (Release, 1),
                (Fork, 3),
                (Enable, 1),
                (Trigger, 1),
                (Request, 24),
                (Callback, 3),
            ],
            act_percent: 85,
            plain_percent: 15,
            untracked_percent: 30,
            bag_percent: 20,
            delay_percent: 20,
            ladders_max: 0,
            rungs: (1, 1),
            android: true,
        }
    }

    /// At most 160 events of many threads and loopers that share few locks: each lock and variable
    /// is used by more handlers than are compared one by one.
    #[must_use]
    pub fn crowd() -> Shape {
        use Act::*;
        Shape {
            events_max: 160,
            handlers: (12, 24),
            acts_max: 6,
            weights: vec![
                (Access, 10),
                (Atomic, 2),
                (Post, 6),
                (Acquire, 12),
                (Release, 14),
                (Fork, 6),
                (Join, 4),
                (Barrier, 3),
            ],
            act_percent: 80,
            plain_percent: 60,
            ..Shape::small()
        }
    }

    /// At most 200 events of few handlers with very many short tasks, most of them in bags.
    #[must_use]
    pub fn bags() -> Shape {
        use Act::*;
        Shape {
            events_max: 200,
            handlers: (1, 3),
            acts_max: 3,
            weights: vec![
                (Access, 6),
                (Post, 30),
                (Acquire, 2),
                (Release, 3),
                (Fork, 1),
                (Join, 1),
            ],
            act_percent: 75,
            plain_percent: 10,
            untracked_percent: 20,
            bag_percent: 60,
            ..Shape::small()
        }
    }

    /// All shapes with their names.
    #[must_use]
    pub fn all() -> [(&'static str, Shape); 5] {
        [
            ("tiny", Shape::tiny()),
            ("small", Shape::small()),
            ("medium", Shape::medium()),
            ("deep", Shape::deep()),
            ("components", Shape::components()),
        ]
    }
}
