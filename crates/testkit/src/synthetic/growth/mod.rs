//! Families of traces in which one thing grows, to see how the cost of an engine grows with it.
//!
//! Most families have few races, so that the cost is that of the thing and not that of the
//! findings. The races of the families in [`RACY`] grow quadratically: most are races of two
//! threads at few places, those of `racers` of ever more threads.

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
pub const FAMILIES: [Family; 24] = [
    Family { name: "events", make: events, start: 100_000 },
    Family { name: "variables", make: variables, start: 10_000 },
    Family { name: "threads of one lock", make: threads, start: 2_000 },
    Family { name: "threads that only read", make: readers, start: 4_000 },
    Family { name: "threads at a barrier", make: barrier, start: 1_000 },
    Family { name: "locks of two threads", make: locks, start: 10_000 },
    Family { name: "locks held at once", make: held, start: 4_000 },
    Family { name: "nested sections", make: nested, start: 1_000 },
    Family { name: "forks and joins", make: forks, start: 10_000 },
    Family { name: "waits", make: waits, start: 10_000 },
    Family { name: "conditions", make: conditions, start: 10_000 },
    Family { name: "fifo tasks", make: fifo, start: 10_000 },
    Family { name: "fifo tasks after a fork", make: forked_fifo, start: 4_000 },
    Family { name: "bag tasks", make: bag, start: 10_000 },
    Family { name: "bag tasks in pairs", make: bag_pairs, start: 4_000 },
    Family { name: "bag tasks, then followers", make: bag_followed, start: 2_000 },
    Family { name: "bag tasks with a lock", make: bag_lock, start: 4_000 },
    Family { name: "tasks of one delay", make: delayed, start: 4_000 },
    Family { name: "loopers in a ring", make: ring, start: 1_000 },
    Family { name: "sections in turn", make: in_turn, start: 20_000 },
    Family { name: "polled flag", make: polled, start: 20_000 },
    Family { name: "two locks for one variable", make: two_locks, start: 20_000 },
    Family { name: "hot variables", make: hot, start: 20_000 },
    Family { name: "racers", make: racers, start: 500 },
];

/// The families with many races.
pub const RACY: [&str; 4] =
    ["polled flag", "two locks for one variable", "hot variables", "racers"];

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

fn events(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(4)?;
    for i in 0..n / 3 {
        make.section(threads[i as usize % 4].1, "lock", "x")?;
    }
    Ok(make.joined(&threads))
}

fn variables(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(4)?;
    for i in 0..n * 2 {
        make.section(threads[i as usize % 4].1, "lock", &format!("x{}", i % n))?;
    }
    Ok(make.joined(&threads))
}

fn threads(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(n)?;
    for _ in 0..2 {
        for (_, task) in &threads {
            make.section(*task, "lock", "x")?;
        }
    }
    Ok(make.joined(&threads))
}

fn readers(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    make.b.write(make.main, "x")?;
    let threads = make.threads(n)?;
    for (_, task) in &threads {
        make.b.read(*task, "x")?;
    }
    let main = make.main;
    for (handler, _) in &threads {
        make.b.on_handler(main, EventKind::Join, *handler);
    }
    make.b.write(main, "x")?;
    Ok(make.b.finish())
}

fn barrier(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(n)?;
    for _ in 0..3 {
        for (_, task) in &threads {
            make.b.on_condition(*task, EventKind::Barrier, "barrier")?;
        }
    }
    Ok(make.joined(&threads))
}

fn locks(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(2)?;
    for i in 0..n * 2 {
        make.section(
            threads[i as usize % 2].1,
            &format!("lock {}", i / 2),
            &format!("x{}", i / 2),
        )?;
    }
    Ok(make.joined(&threads))
}

fn held(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(2)?;
    for (_, task) in &threads {
        for i in 0..n {
            make.b.acquire(*task, &format!("lock {i}"), Mode::EXCLUSIVE)?;
        }
        make.b.write(*task, "x")?;
        for i in 0..n {
            make.b.release(*task, &format!("lock {}", n - 1 - i), Mode::EXCLUSIVE)?;
        }
    }
    Ok(make.joined(&threads))
}

fn nested(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(2)?;
    for (_, task) in &threads {
        for i in 0..n {
            make.b.acquire(*task, &format!("lock {i}"), Mode::EXCLUSIVE)?;
            make.b.write(*task, &format!("x{i}"))?;
        }
        for i in 0..n {
            make.b.release(*task, &format!("lock {}", n - 1 - i), Mode::EXCLUSIVE)?;
        }
    }
    Ok(make.joined(&threads))
}

fn forks(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    for i in 0..n {
        let handler = make.b.handler(&format!("thread {i}"), Mailbox::None)?;
        let (main, task) = (make.main, make.b.initial(handler));
        make.b.on_handler(main, EventKind::Fork, handler);
        make.b.write(task, "x")?;
        make.b.on_handler(main, EventKind::Join, handler);
        make.b.write(main, "x")?;
    }
    Ok(make.b.finish())
}

fn waits(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(1)?;
    let (main, other) = (make.main, threads[0].1);
    for _ in 0..n {
        make.b.on_condition(other, EventKind::Wait, "condition")?;
        make.b.write(main, "x")?;
        make.b.on_condition(main, EventKind::Signal, "condition")?;
        make.b.on_condition(other, EventKind::Wake, "condition")?;
        make.b.write(other, "y")?;
    }
    Ok(make.joined(&threads))
}

fn conditions(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(1)?;
    let (main, other) = (make.main, threads[0].1);
    for i in 0..n {
        let condition = format!("condition {i}");
        make.b.write(main, &format!("x{i}"))?;
        make.b.on_condition(main, EventKind::Signal, &condition)?;
        make.b.on_condition(other, EventKind::Wake, &condition)?;
        make.b.write(other, &format!("x{i}"))?;
    }
    Ok(make.joined(&threads))
}

/// Tasks that the main thread posts to one handler, each with a variable of its own.
fn posted(n: u32, mailbox: Mailbox, forked: bool) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let main = make.main;
    let looper = make.b.handler("looper", mailbox)?;
    if forked {
        make.b.on_handler(main, EventKind::Fork, looper);
    }
    let mut tasks = Vec::new();
    for i in 0..n {
        tasks.push(make.post(main, i, looper)?);
    }
    for (i, task) in tasks.into_iter().enumerate() {
        make.run(task, &format!("x{i}"))?;
    }
    Ok(make.b.finish())
}

fn fifo(n: u32) -> Result<Trace, TableFull> {
    posted(n, Mailbox::Fifo, false)
}

fn forked_fifo(n: u32) -> Result<Trace, TableFull> {
    posted(n, Mailbox::Fifo, true)
}

fn bag(n: u32) -> Result<Trace, TableFull> {
    posted(n, Mailbox::Bag, false)
}

fn bag_pairs(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let main = make.main;
    let looper = make.b.handler("looper", Mailbox::Bag)?;
    let mut firsts = Vec::new();
    for i in 0..n / 2 {
        firsts.push(make.post(main, i, looper)?);
    }
    let mut seconds = Vec::new();
    for (i, task) in (n / 2..).zip(firsts) {
        make.b.get(task)?;
        make.b.write(task, &format!("x{i}"))?;
        seconds.push(make.post(task, i, looper)?);
        make.b.end(task)?;
    }
    for (i, task) in (n / 2..).zip(seconds) {
        make.run(task, &format!("x{i}"))?;
    }
    Ok(make.b.finish())
}

/// Half of the tasks follow nothing; one follows them all, and posts the other half.
fn bag_followed(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let main = make.main;
    let looper = make.b.handler("looper", Mailbox::Bag)?;
    let collector = make.b.handler("collector", Mailbox::None)?;
    let collector = make.b.initial(collector);
    let mut tasks = Vec::new();
    for i in 0..n / 2 {
        tasks.push(make.post(main, i, looper)?);
    }
    for (i, task) in tasks.into_iter().enumerate() {
        make.b.get(task)?;
        make.b.write(task, &format!("x{i}"))?;
        make.b.on_condition(task, EventKind::Signal, &format!("done {i}"))?;
        make.b.end(task)?;
        make.b.on_condition(collector, EventKind::Wake, &format!("done {i}"))?;
    }
    let last = make.post(collector, n, looper)?;
    make.b.get(last)?;
    let mut tasks = Vec::new();
    for i in 0..n / 2 {
        tasks.push(make.post(last, n + 1 + i, looper)?);
    }
    make.b.end(last)?;
    for (i, task) in tasks.into_iter().enumerate() {
        make.run(task, &format!("x{i}"))?;
    }
    Ok(make.b.finish())
}

/// Tasks of sixteen bags that share a lock.
fn bag_lock(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let main = make.main;
    let mut loopers = Vec::new();
    for i in 0..16 {
        loopers.push(make.b.handler(&format!("looper {i}"), Mailbox::Bag)?);
    }
    let mut tasks = Vec::new();
    for i in 0..n {
        tasks.push(make.post(main, i, loopers[i as usize % 16])?);
    }
    for (i, task) in tasks.into_iter().enumerate() {
        make.b.get(task)?;
        make.section(task, "lock", &format!("x{i}"))?;
        make.b.end(task)?;
    }
    Ok(make.b.finish())
}

fn delayed(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let main = make.main;
    let looper = make.b.handler("looper", Mailbox::Delayed)?;
    let mut tasks = Vec::new();
    for i in 0..n {
        let task = make.b.delayed_task(&format!("task {i}"), looper, 10)?;
        make.b.post(main, task)?;
        tasks.push(task);
    }
    for (i, task) in tasks.into_iter().enumerate() {
        make.run(task, &format!("x{i}"))?;
    }
    Ok(make.b.finish())
}

/// Each task posts the next one to the next looper.
fn ring(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let mut loopers = Vec::new();
    for i in 0..n {
        loopers.push(make.b.handler(&format!("looper {i}"), Mailbox::Fifo)?);
    }
    let mut task = make.post(make.main, 0, loopers[0])?;
    for i in 1..3 * n {
        make.b.get(task)?;
        make.b.write(task, "x")?;
        let next = make.post(task, i, loopers[(i % n) as usize])?;
        make.b.end(task)?;
        task = next;
    }
    make.run(task, "x")?;
    Ok(make.b.finish())
}

/// Eight threads that write sixteen variables, each under the lock of the variable.
fn in_turn(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(8)?;
    for i in 0..n / 3 {
        let mixed = i.wrapping_mul(0x9e37_79b9) >> 16;
        let (thread, at) = (mixed % 8, mixed / 8 % 16);
        make.section(threads[thread as usize].1, &format!("lock {at}"), &format!("x{at}"))?;
    }
    Ok(make.joined(&threads))
}

/// A thread writes a flag again and again, and another one reads it.
fn polled(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(2)?;
    for _ in 0..n / 2 {
        make.b.write(threads[0].1, "x")?;
        make.b.read(threads[1].1, "x")?;
    }
    Ok(make.joined(&threads))
}

/// Two threads write a variable, each under a lock of its own.
fn two_locks(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(2)?;
    for i in 0..n / 3 {
        let at = i as usize % 2;
        make.section(threads[at].1, ["a", "b"][at], "x")?;
    }
    Ok(make.joined(&threads))
}

/// Four threads access sixteen variables; now and then one uses a lock of its own.
fn hot(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(4)?;
    for i in 0..n * 4 / 5 {
        let mixed = i.wrapping_mul(0x9e37_79b9) >> 16;
        let (task, variable) = (threads[mixed as usize % 4].1, format!("x{}", mixed / 4 % 16));
        match mixed / 64 % 2 {
            0 => make.b.read(task, &variable)?,
            _ => make.b.write(task, &variable)?,
        };
        if i % 12 == 0 {
            make.section(task, &format!("lock {}", mixed % 4), &format!("own {}", mixed % 4))?;
        }
    }
    Ok(make.joined(&threads))
}

fn racers(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(n)?;
    for (_, task) in &threads {
        make.b.write(*task, "x")?;
    }
    Ok(make.joined(&threads))
}
