//! Random traces that threads, locks, conditions and posts could have produced.

use anyorder_common::random::{Random, Rng};
use anyorder_trace::{
    EventKind, HandlerId, Location, LocationId, Mailbox, Mode, Op, TaskId, Trace, TraceBuilder,
};

/// The options of a random trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) events: usize,
    pub(crate) threads: usize,
    pub(crate) locks: usize,
    pub(crate) variables: usize,
    /// The percentage of steps that use locks.
    pub(crate) locking: usize,
    /// The percentage of steps that use forks, conditions, barriers or posts.
    pub(crate) other: usize,
    /// Percent of accesses that are atomic.
    pub(crate) atomic: u32,
    /// Percent of acquires that are shared.
    pub(crate) shared: u32,
    /// Whether variables overlap.
    pub(crate) ranges: bool,
    /// Whether a variable is only accessed under the lock that has its number, or nearly so.
    pub(crate) guarded: bool,
}

impl Shape {
    /// A trace of up to a hundred events, of any kind.
    pub(crate) fn small(rng: &mut Rng) -> Shape {
        Shape {
            events: 10 + rng.index(90),
            threads: 2 + rng.index(4),
            locks: 1 + rng.index(3),
            variables: 1 + rng.index(6),
            locking: 20 + rng.index(40),
            other: [0, 5, 15][rng.index(3)],
            atomic: [0, 0, 30][rng.index(3)],
            shared: [0, 0, 50][rng.index(3)],
            ranges: rng.percent(25),
            guarded: rng.percent(60),
        }
    }

    /// A long trace of accesses, nearly all under the lock of their variable.
    pub(crate) fn large(events: usize) -> Shape {
        Shape {
            events,
            threads: 8,
            locks: 16,
            variables: events.min(2_000_000) / 100 + 50,
            locking: 30,
            other: 0,
            atomic: 0,
            shared: 0,
            ranges: false,
            guarded: true,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Life {
    Unborn,
    Alive,
    Ended,
}

struct Thread {
    handler: HandlerId,
    initial: TaskId,
    task: TaskId,
    life: Life,
    held: Vec<(usize, bool)>,
    waiting: bool,
    posted: Vec<TaskId>,
}

struct Run {
    b: TraceBuilder,
    threads: Vec<Thread>,
    variables: Vec<LocationId>,
    shape: Shape,
    signals: usize,
}

/// Returns a random trace.
pub(crate) fn trace(rng: &mut Rng, shape: Shape) -> Trace {
    let mut b = TraceBuilder::new();
    let mut threads = Vec::new();
    for i in 0..shape.threads {
        let handler = b.handler(&format!("T{i}"), Mailbox::Fifo).expect("room");
        let task = b.initial(handler);
        let life = if i < 2 || rng.percent(40) { Life::Alive } else { Life::Unborn };
        threads.push(Thread {
            handler,
            initial: task,
            task,
            life,
            held: Vec::new(),
            waiting: false,
            posted: Vec::new(),
        });
    }
    let mut variables = Vec::new();
    for i in 0..shape.variables {
        let location = if shape.ranges {
            let (address, size) = ([0, 4, 6, 64, 60][i % 5], [8, 4, 8, 4, 100][i % 5]);
            Location::Range { address, size, generation: (i / 5) as u32 }
        } else {
            Location::Named(b.interner.name(&format!("x{i}")).expect("room"))
        };
        variables.push(b.interner.location(location).expect("room"));
    }
    for i in 0..shape.locks {
        let name = b.interner.name(&format!("m{i}")).expect("room");
        b.interner.lock(name).expect("room");
    }
    let mut run = Run { b, threads, variables, shape, signals: 0 };
    let mut tries = 0;
    while run.b.columns.len() < shape.events && tries < 20 * shape.events {
        tries += 1;
        let t = rng.index(run.threads.len());
        if run.threads[t].life == Life::Alive {
            run.step(rng, t);
        }
    }
    if rng.percent(80) {
        run.release_all();
    }
    run.b.finish()
}

impl Run {
    fn push(&mut self, t: usize, op: Op, operand: u32) {
        let task = self.threads[t].task;
        self.b.push(task, op, operand);
    }

    fn step(&mut self, rng: &mut Rng, t: usize) {
        let dice = rng.index(100);
        if dice < self.shape.locking {
            self.lock(rng, t);
        } else if dice < self.shape.locking + self.shape.other {
            self.other(rng, t);
        } else {
            self.access(rng, t);
        }
    }

    fn access(&mut self, rng: &mut Rng, t: usize) {
        let kind =
            [EventKind::Read, EventKind::Read, EventKind::Write, EventKind::Write, EventKind::Rmw]
                [rng.index(5)];
        let mode = if rng.percent(self.shape.atomic) {
            Mode::from_bits(1 + rng.index(5) as u8)
        } else {
            Mode::PLAIN
        };
        let at = rng.index(self.variables.len());
        let guard = at % self.shape.locks;
        let is_guarded = self.threads[t].held.iter().any(|(lock, _)| *lock == guard);
        if self.shape.guarded && !is_guarded && !rng.percent(3) {
            return;
        }
        let variable = self.variables[at];
        for _ in 0..1 + rng.index(2) {
            self.push(t, Op::new(kind, mode), variable.0);
        }
    }

    fn lock(&mut self, rng: &mut Rng, t: usize) {
        if !self.threads[t].held.is_empty() && rng.percent(50) {
            // Mostly the innermost, sometimes hand over hand.
            let last = self.threads[t].held.len() - 1;
            let at = if rng.percent(80) { last } else { rng.index(last + 1) };
            let (lock, shared) = self.threads[t].held.remove(at);
            let mode = if shared { Mode::SHARED } else { Mode::EXCLUSIVE };
            self.push(t, Op::new(EventKind::Release, mode), lock as u32);
            return;
        }
        let lock = rng.index(self.shape.locks);
        let mut shared = rng.percent(self.shape.shared);
        if let Some((_, mine)) = self.threads[t].held.iter().find(|(l, _)| *l == lock) {
            // Again, in the same mode.
            shared = *mine;
        }
        let taken = self.threads.iter().enumerate().any(|(u, thread)| {
            u != t && thread.held.iter().any(|(l, s)| *l == lock && !(*s && shared))
        });
        if taken || self.threads[t].held.len() >= 4 {
            return;
        }
        self.threads[t].held.push((lock, shared));
        let modes = if shared {
            [Mode::SHARED, Mode::TRY_SHARED]
        } else {
            [Mode::EXCLUSIVE, Mode::TRY_EXCLUSIVE]
        };
        self.push(t, Op::new(EventKind::Acquire, modes[rng.index(2)]), lock as u32);
    }

    fn other(&mut self, rng: &mut Rng, t: usize) {
        let u = rng.index(self.threads.len());
        let (handler, life) = (self.threads[u].handler, self.threads[u].life);
        match rng.index(8) {
            0 | 1 if life == Life::Unborn => {
                self.threads[u].life = Life::Alive;
                self.push(t, EventKind::Fork.into(), handler.0);
            }
            0 if u != t && life == Life::Alive && self.threads[u].held.is_empty() => {
                self.threads[u].life = Life::Ended;
                self.push(t, EventKind::Join.into(), handler.0);
            }
            1 if u != t && life == Life::Alive && rng.percent(30) => {
                // It runs already: what it does next is behind the fork.
                self.push(t, EventKind::Fork.into(), handler.0);
            }
            1 if life == Life::Ended && u != t => {
                // Joined again by another thread, or restarted.
                if rng.percent(50) {
                    self.push(t, EventKind::Join.into(), handler.0);
                } else {
                    self.threads[u].life = Life::Alive;
                    self.push(t, EventKind::Fork.into(), handler.0);
                }
            }
            2 => {
                self.b.on_condition(self.threads[t].task, EventKind::Wait, "c").expect("room");
                self.threads[t].waiting = true;
            }
            3 | 4 => {
                let kind = if rng.percent(70) { EventKind::Signal } else { EventKind::Broadcast };
                self.signals += 1;
                self.b.on_condition(self.threads[t].task, kind, "c").expect("room");
            }
            5 if self.signals > 0 => {
                self.b.on_condition(self.threads[t].task, EventKind::Wake, "c").expect("room");
                self.threads[t].waiting = false;
            }
            6 => {
                self.b.on_condition(self.threads[t].task, EventKind::Barrier, "b").expect("room");
            }
            7 => self.post_or_get(rng, t, u),
            _ => {}
        }
    }

    fn post_or_get(&mut self, rng: &mut Rng, t: usize, u: usize) {
        if self.threads[t].task != self.threads[t].initial {
            let task = self.threads[t].task;
            self.b.end(task).expect("room");
            self.threads[t].task = self.threads[t].initial;
        } else if !self.threads[t].posted.is_empty() && rng.percent(60) {
            let task = self.threads[t].posted.remove(0);
            self.b.get(task).expect("room");
            self.threads[t].task = task;
        } else {
            let task = self.b.task("p", self.threads[u].handler).expect("room");
            self.b.post(self.threads[t].task, task).expect("room");
            self.threads[u].posted.push(task);
        }
    }

    fn release_all(&mut self) {
        for t in 0..self.threads.len() {
            while let Some((lock, shared)) = self.threads[t].held.pop() {
                let mode = if shared { Mode::SHARED } else { Mode::EXCLUSIVE };
                self.push(t, Op::new(EventKind::Release, mode), lock as u32);
            }
        }
    }
}
