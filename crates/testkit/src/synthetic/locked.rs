//! An event-driven program with most accesses under locks.

use super::stream::Stream;
use anyorder_common::random::{Random, Rng};
use anyorder_trace::{
    EventKind, HandlerId, Location, LocationId, LockId, Mailbox, SiteId, TableFull, TaskId,
    TaskKind, TraceSink,
};
use std::collections::VecDeque;
use std::io;

/// How large the program is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Locked {
    /// The number of events, about.
    pub events: u64,
    /// The number of event loops, at least 1.
    pub handlers: u32,
    /// How many chains of tasks, each posted by the one before, run side by side, at least 1.
    pub sessions: u32,
    /// The number of locks, at least 1.
    pub locks: u32,
    /// The number of variables, each guarded by one lock; at least as many as there are locks.
    pub variables: u32,
    /// The seed.
    pub seed: u64,
}

impl Default for Locked {
    fn default() -> Locked {
        Locked {
            events: 4_000_000,
            handlers: 8,
            sessions: 64,
            locks: 16,
            variables: 20_000,
            seed: 1,
        }
    }
}

/// Accesses of a section.
const ACCESSES: u64 = 6;
/// Sections of a task.
const SECTIONS: u64 = 5;

/// Streams the trace into a sink; returns the number of events. A task of 5 sections, with 6
/// accesses in each, posts the next one to a loop that is drawn.
///
/// # Errors
///
/// Fails when the sink fails, and when a table would pass what ids can address.
pub fn locked(config: &Locked, sink: &mut dyn TraceSink) -> io::Result<u64> {
    let mut program = Program::new(config, sink).map_err(io::Error::other)?;
    program.run(config.events).map_err(io::Error::other)?;
    program.stream.finish()
}

#[derive(Default)]
struct Loop {
    pending: VecDeque<TaskId>,
    /// The running task, and its number of remaining sections.
    running: Option<(TaskId, u64)>,
}

struct Program<'s> {
    rng: Rng,
    stream: Stream<'s>,
    handlers: Vec<HandlerId>,
    loops: Vec<Loop>,
    locks: Vec<LockId>,
    variables: Vec<LocationId>,
}

impl<'s> Program<'s> {
    fn new(config: &Locked, sink: &'s mut dyn TraceSink) -> Result<Program<'s>, TableFull> {
        let mut stream = Stream::new(sink);
        let (main, code) = stream.handler("main", Mailbox::None, false)?;
        debug_assert_eq!(main, HandlerId(0));
        let (mut handlers, mut loops) = (Vec::new(), Vec::new());
        for index in 0..config.handlers.max(1) {
            handlers.push(stream.handler(&format!("loop{index}"), Mailbox::Fifo, false)?.0);
            loops.push(Loop::default());
        }
        let (mut locks, mut variables) = (Vec::new(), Vec::new());
        for index in 0..config.locks.max(1) {
            let name = stream.interner.name(&format!("lock{index}"))?;
            locks.push(stream.interner.lock(name)?);
        }
        for index in 0..config.variables.max(config.locks.max(1)) {
            let name = stream.interner.name(&format!("x{index}"))?;
            variables.push(stream.interner.location(Location::Named(name))?);
        }
        let rng = Rng::new(config.seed);
        let mut program = Program { rng, stream, handlers, loops, locks, variables };
        for _ in 0..config.sessions.max(1) {
            program.post(code)?;
        }
        Ok(program)
    }

    fn run(&mut self, events: u64) -> Result<(), TableFull> {
        while self.stream.events < events {
            let at = self.rng.index(self.loops.len());
            match self.loops[at].running {
                None => {
                    let Some(task) = self.loops[at].pending.pop_front() else { continue };
                    self.stream.plain(task, EventKind::Get, self.handlers[at].0);
                    self.loops[at].running = Some((task, SECTIONS));
                }
                Some((task, 0)) => {
                    self.post(task)?;
                    self.stream.plain(task, EventKind::End, 0);
                    self.loops[at].running = None;
                }
                Some((task, left)) => {
                    self.section(task);
                    self.loops[at].running = Some((task, left - 1));
                }
            }
        }
        Ok(())
    }

    fn section(&mut self, task: TaskId) {
        let lock = self.rng.index(self.locks.len());
        self.stream.plain(task, EventKind::Acquire, self.locks[lock].0);
        let guarded = self.variables.len() / self.locks.len();
        for _ in 0..ACCESSES {
            let variable = lock + self.rng.index(guarded) * self.locks.len();
            let kind = if self.rng.percent(60) { EventKind::Read } else { EventKind::Write };
            self.stream.emit(task, kind, self.variables[variable].0, SiteId::UNKNOWN);
        }
        self.stream.plain(task, EventKind::Release, self.locks[lock].0);
    }

    fn post(&mut self, from: TaskId) -> Result<(), TableFull> {
        let to = self.rng.index(self.loops.len());
        let name = self.stream.interner.name("step")?;
        let task = self.stream.task(name, self.handlers[to], TaskKind::Posted, 0)?;
        self.stream.plain(from, EventKind::Post, task.0);
        self.loops[to].pending.push_back(task);
        Ok(())
    }
}
