//! Families of traces in which one thing grows, to see how the cost of an engine grows with it.
//!
//! Most families have few races, so that the cost is that of the thing and not that of the
//! findings. The races of the families in [`RACY`] grow quadratically: most are races of two
//! threads at few places, those of `racers` and of racing tasks of ever more of them.

mod racing;
mod tasks;
mod threads;

use anyorder_trace::{EventKind, HandlerId, Mailbox, Mode, TableFull, TaskId, Trace, TraceBuilder};

/// A family of traces.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The thing that grows.
    pub name: &'static str,
    /// Makes the trace with `n` of it.
    pub make: fn(u32) -> Result<Trace, TableFull>,
    /// A size at which a check takes a small part of a second.
    pub start: u32,
}

/// All families.
pub const FAMILIES: [Family; 44] = [
    Family { name: "events", make: threads::events, start: 100_000 },
    Family { name: "variables", make: threads::variables, start: 10_000 },
    Family { name: "threads of one lock", make: threads::threads, start: 2_000 },
    Family { name: "threads that only read", make: threads::readers, start: 4_000 },
    Family { name: "threads at a barrier", make: threads::barrier, start: 1_000 },
    Family { name: "locks of two threads", make: threads::locks, start: 10_000 },
    Family { name: "locks held at once", make: threads::held, start: 4_000 },
    Family { name: "nested sections", make: threads::nested, start: 1_000 },
    Family { name: "forks and joins", make: threads::forks, start: 10_000 },
    Family { name: "waits", make: threads::waits, start: 10_000 },
    Family { name: "conditions", make: threads::conditions, start: 10_000 },
    Family { name: "fifo tasks", make: tasks::fifo, start: 10_000 },
    Family { name: "fifo tasks after a fork", make: tasks::forked_fifo, start: 4_000 },
    Family { name: "bag tasks", make: tasks::bag, start: 10_000 },
    Family { name: "bag tasks in pairs", make: tasks::bag_pairs, start: 4_000 },
    Family { name: "bag tasks, then followers", make: tasks::bag_followed, start: 2_000 },
    Family { name: "bag tasks with a lock", make: tasks::bag_lock, start: 4_000 },
    Family { name: "tasks of one delay", make: tasks::delayed, start: 4_000 },
    Family { name: "loopers in a ring", make: tasks::ring, start: 1_000 },
    Family { name: "sections in turn", make: threads::in_turn, start: 20_000 },
    Family { name: "polled flag", make: racing::polled, start: 20_000 },
    Family { name: "two locks for one variable", make: racing::two_locks, start: 20_000 },
    Family { name: "hot variables", make: racing::hot, start: 20_000 },
    Family { name: "racers", make: racing::racers, start: 500 },
    Family { name: "threads of a lock for readers", make: threads::shared, start: 2_000 },
    Family { name: "chain of forks", make: threads::fork_chain, start: 2_000 },
    Family { name: "chain of forks and joins", make: threads::fork_chain_joined, start: 1_000 },
    Family { name: "tree of forks and joins", make: threads::fork_tree, start: 2_000 },
    Family { name: "signals", make: threads::signals, start: 10_000 },
    Family { name: "hand over hand", make: threads::hand_over_hand, start: 4_000 },
    Family { name: "overlapping sections", make: threads::overlapping, start: 1_000 },
    Family { name: "locks held by chance", make: threads::by_chance, start: 400 },
    Family { name: "posts in a tree, fifo", make: tasks::fifo_tree, start: 2_000 },
    Family { name: "posts in a tree, bag", make: tasks::bag_tree, start: 2_000 },
    Family { name: "posts in a tree, delays", make: tasks::delayed_tree, start: 1_000 },
    Family { name: "rising delays", make: tasks::rising_delays, start: 2_000 },
    Family { name: "falling delays", make: tasks::falling_delays, start: 2_000 },
    Family { name: "loopers", make: tasks::loopers, start: 2_000 },
    Family { name: "fifo tasks of four loopers", make: tasks::four_loopers, start: 4_000 },
    Family { name: "inputs", make: tasks::inputs, start: 1_000 },
    Family { name: "places of one variable", make: racing::places, start: 500 },
    Family { name: "racing bag tasks", make: racing::bag_racers, start: 500 },
    Family { name: "racing tasks of four loopers", make: racing::loop_racers, start: 500 },
    Family { name: "threads that release at an atomic", make: threads::releasers, start: 2_000 },
];

/// The families with many races.
pub const RACY: [&str; 7] = [
    "polled flag",
    "two locks for one variable",
    "hot variables",
    "racers",
    "places of one variable",
    "racing bag tasks",
    "racing tasks of four loopers",
];

/// A trace under construction, with a main thread.
struct Make {
    b: TraceBuilder,
    main: TaskId,
}

impl Make {
    fn new() -> Result<Make, TableFull> {
        let mut b = TraceBuilder::new();
        let handler = b.handler("main", Mailbox::None)?;
        let main = b.initial(handler);
        Ok(Make { b, main })
    }

    /// Starts threads from the main one.
    fn threads(&mut self, n: u32) -> Result<Vec<(HandlerId, TaskId)>, TableFull> {
        let mut all = Vec::new();
        for i in 0..n {
            let handler = self.b.handler(&format!("thread {i}"), Mailbox::None)?;
            self.b.on_handler(self.main, EventKind::Fork, handler);
            all.push((handler, self.b.initial(handler)));
        }
        Ok(all)
    }

    fn joined(mut self, threads: &[(HandlerId, TaskId)]) -> Trace {
        for (handler, _) in threads {
            self.b.on_handler(self.main, EventKind::Join, *handler);
        }
        self.b.finish()
    }

    fn section(&mut self, task: TaskId, lock: &str, variable: &str) -> Result<(), TableFull> {
        self.b.acquire(task, lock, Mode::EXCLUSIVE)?;
        self.b.write(task, variable)?;
        self.b.release(task, lock, Mode::EXCLUSIVE)?;
        Ok(())
    }

    /// Posts a task from `by`.
    fn post(&mut self, by: TaskId, i: u32, on: HandlerId) -> Result<TaskId, TableFull> {
        let task = self.b.task(&format!("task {i}"), on)?;
        self.b.post(by, task)?;
        Ok(task)
    }

    /// Runs a task that writes a variable, and posts others.
    fn run(&mut self, task: TaskId, variable: &str) -> Result<(), TableFull> {
        self.b.get(task)?;
        self.b.write(task, variable)?;
        self.b.end(task)?;
        Ok(())
    }
}
