//! Random event-driven traces that mainly exercise critical sections.
//!
//! Differences to [`random_trace`](super::random_trace): most accesses are under locks, a handler
//! may hold a lock across tasks, bursts of one handler overlap, and handlers that have already run
//! are forked again.

use anyorder_common::random::{Random, Rng};
use anyorder_trace::{
    EventKind, HandlerId, Location, LocationId, LockId, Mailbox, Mode, Op, Position, TableFull,
    TaskDef, TaskId, TaskKind, Trace, TraceBuilder,
};

/// An executor of events in sequence: a handler, or a slot for bursts of an untracked one.
struct Agent {
    handler: HandlerId,
    mailbox: Mailbox,
    untracked: bool,
    /// Its posted task or burst.
    running: Option<TaskId>,
    /// Pending tasks, with their delays.
    pending: Vec<TaskId>,
    held: Vec<(LockId, bool)>,
    left: u64,
}

struct Machine {
    rng: Rng,
    build: TraceBuilder,
    agents: Vec<Agent>,
    locks: Vec<LockId>,
    locations: Vec<LocationId>,
    tasks: u32,
    signals: u32,
    /// How often a task may end with locks held, in percent.
    careless: u32,
}

/// Makes a trace of 20 to 90 events. The same seed always gives the same trace.
///
/// # Panics
///
/// Never fails: such a small trace fits into its tables.
#[must_use]
pub fn random_sections(seed: u64) -> Trace {
    make(seed).expect("small traces fit into their tables")
}

fn make(seed: u64) -> Result<Trace, TableFull> {
    let mut rng = Rng::new(seed ^ 0x5EC7_1045);
    let mut build = TraceBuilder::new();
    let mut agents = Vec::new();
    for number in 0..rng.within(2, 4) {
        let modes = [Mailbox::None, Mailbox::Fifo, Mailbox::Fifo, Mailbox::Delayed, Mailbox::Bag];
        let mailbox = rng.pick(&modes);
        let untracked = mailbox == Mailbox::None && rng.percent(30);
        let handler = build.handler(&format!("h{number}"), mailbox)?;
        build.interner.tables.handlers[handler.index()].untracked = untracked;
        for _ in 0..1 + u32::from(untracked) {
            let (pending, held) = (Vec::new(), Vec::new());
            agents.push(Agent {
                handler,
                mailbox,
                untracked,
                running: None,
                pending,
                held,
                left: 0,
            });
        }
    }
    let mut locks = Vec::new();
    for number in 0..rng.within(1, 2) {
        let name = build.interner.name(&format!("l{number}"))?;
        locks.push(build.interner.lock(name)?);
    }
    let mut locations = vec![build.variable("x")?];
    for (address, size) in [(0x100, 8), (0x104, 8), (0x108, 4)] {
        if rng.percent(40) {
            let location = Location::Range { address, size, generation: 0 };
            locations.push(build.interner.location(location)?);
        }
    }
    let careless = rng.pick(&[0, 0, 0, 40]);
    let mut machine =
        Machine { rng, build, agents, locks, locations, tasks: 0, signals: 0, careless };
    let events = machine.rng.within(20, 90) as usize;
    let mut turns = 0;
    while machine.build.columns.len() < events && turns < 20 * events {
        turns += 1;
        let agent = machine.rng.index(machine.agents.len());
        machine.step(agent)?;
    }
    if machine.rng.percent(70) {
        for agent in 0..machine.agents.len() {
            while !machine.agents[agent].held.is_empty() {
                machine.release(agent);
            }
        }
    }
    Ok(machine.build.finish())
}

impl Machine {
    fn emit(&mut self, agent: usize, op: impl Into<Op>, operand: u32) {
        let at = &self.agents[agent];
        let task = at.running.unwrap_or_else(|| self.build.initial(at.handler));
        self.build.push(task, op.into(), operand);
    }

    fn step(&mut self, agent: usize) -> Result<(), TableFull> {
        let at = &mut self.agents[agent];
        let serves = at.untracked || !at.pending.is_empty();
        if at.running.is_none() && (at.untracked || (serves && self.rng.percent(60))) {
            return self.begin(agent);
        }
        let at = &mut self.agents[agent];
        if at.running.is_some() {
            if at.left == 0 {
                self.end(agent);
                return Ok(());
            }
            at.left -= 1;
        } else if at.mailbox != Mailbox::None && self.rng.percent(70) {
            // A looping handler's thread code is short.
            return Ok(());
        }
        match self.rng.below(100) {
            0..40 => self.access(agent),
            40..64 => self.acquire(agent),
            64..88 => self.release(agent),
            88..95 => self.post(agent)?,
            95..97 => {
                let to = self.rng.index(self.agents.len());
                let handler = self.agents[to].handler;
                self.emit(agent, EventKind::Fork, handler.0);
            }
            97 => {
                let to = self.rng.index(self.agents.len());
                let handler = self.agents[to].handler;
                if handler != self.agents[agent].handler {
                    self.emit(agent, EventKind::Join, handler.0);
                }
            }
            98 if self.agents[agent].running.is_none() => {
                self.emit(agent, EventKind::Loop, 0);
            }
            _ => self.signal(agent)?,
        }
        Ok(())
    }

    /// Starts a pending task, or a burst.
    fn begin(&mut self, agent: usize) -> Result<(), TableFull> {
        self.agents[agent].left = self.rng.within(4, 16);
        if self.agents[agent].untracked {
            let handler = self.agents[agent].handler;
            let (kind, position) = (TaskKind::Burst, Position::Back);
            let name = self.build.interner.name(&format!("burst{}", self.tasks))?;
            self.tasks += 1;
            let burst = TaskDef { name, kind, handler, delay: 0, position };
            self.agents[agent].running = Some(self.build.interner.push_task(burst)?);
            self.emit(agent, EventKind::Begin, 0);
            return Ok(());
        }
        let any = self.agents[agent].mailbox == Mailbox::Bag;
        let at = if any { self.rng.index(self.agents[agent].pending.len()) } else { 0 };
        let task = self.agents[agent].pending.remove(at);
        self.agents[agent].running = Some(task);
        self.build.get(task)?;
        Ok(())
    }

    fn end(&mut self, agent: usize) {
        if !self.agents[agent].held.is_empty() {
            let careless = !self.agents[agent].untracked && self.rng.percent(self.careless);
            if !careless {
                self.release(agent);
                return;
            }
        }
        let kind = if self.agents[agent].untracked { EventKind::Exit } else { EventKind::End };
        self.emit(agent, kind, 0);
        self.agents[agent].running = None;
    }

    fn access(&mut self, agent: usize) {
        if self.agents[agent].held.is_empty() && self.rng.percent(80) {
            return;
        }
        let location = self.rng.pick(&self.locations);
        let kinds = [EventKind::Read, EventKind::Read, EventKind::Write, EventKind::Write];
        let kind = self.rng.pick(&kinds);
        let (kind, mode) = match self.rng.below(20) {
            0 => (EventKind::Rmw, Mode::SEQ_CST),
            1 => (EventKind::Rmw, Mode::PLAIN),
            2 | 3 => (kind, Mode::RELAXED),
            _ => (kind, Mode::PLAIN),
        };
        self.emit(agent, Op::new(kind, mode), location.0);
    }

    fn acquire(&mut self, agent: usize) {
        let lock = self.rng.pick(&self.locks);
        let mut shared = self.rng.percent(25);
        let own = self.agents[agent].held.iter().find(|(held, _)| *held == lock);
        if let Some((_, mode)) = own {
            shared = *mode;
        }
        let taken = self.agents.iter().enumerate().any(|(other, at)| {
            other != agent && at.held.iter().any(|(held, mode)| *held == lock && !(*mode && shared))
        });
        if !taken && self.agents[agent].held.len() < 4 {
            self.agents[agent].held.push((lock, shared));
            let mode = if shared { Mode::SHARED } else { Mode::EXCLUSIVE };
            self.emit(agent, Op::new(EventKind::Acquire, mode), lock.0);
        }
    }

    fn release(&mut self, agent: usize) {
        let held = self.agents[agent].held.len();
        if held > 0 {
            let at = if self.rng.percent(75) { held - 1 } else { self.rng.index(held) };
            let (lock, shared) = self.agents[agent].held.remove(at);
            let mode = if shared { Mode::SHARED } else { Mode::EXCLUSIVE };
            self.emit(agent, Op::new(EventKind::Release, mode), lock.0);
        }
    }

    fn post(&mut self, agent: usize) -> Result<(), TableFull> {
        let open: Vec<usize> =
            (0..self.agents.len()).filter(|to| self.agents[*to].mailbox != Mailbox::None).collect();
        if open.is_empty() {
            return Ok(());
        }
        let to = self.rng.pick(&open);
        let task = self.build.task(&format!("m{}", self.tasks), self.agents[to].handler)?;
        self.tasks += 1;
        self.agents[to].pending.push(task);
        self.emit(agent, EventKind::Post, task.0);
        Ok(())
    }

    fn signal(&mut self, agent: usize) -> Result<(), TableFull> {
        let at = &self.agents[agent];
        let task = at.running.unwrap_or_else(|| self.build.initial(at.handler));
        let kind = match self.rng.below(3) {
            0 if self.signals > 0 => EventKind::Wake,
            0 | 1 => EventKind::Signal,
            _ => EventKind::Barrier,
        };
        self.signals += u32::from(kind == EventKind::Signal);
        let condition = if kind == EventKind::Barrier { "b" } else { "c" };
        self.build.on_condition(task, kind, condition)?;
        Ok(())
    }
}
