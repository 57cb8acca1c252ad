//! Traces generated while they are read: threads take locks in ascending order, access variables
//! under them, and work on their own.
//!
//! The first half of the variables belongs to the locks in equal parts, each accessed only under
//! its lock. A quarter belongs to the threads. All threads only read the rest. At each step any
//! thread may be the next. A thread outside begins a section in one step of four, and makes one to
//! twelve accesses in it, of which a quarter write. One access in `stray_every` goes, under
//! whatever lock or none, to one of 32 variables that no lock owns, another one every 4,096 events:
//! those race. The first thread forks all others before and joins them after. Equal shapes give
//! equal traces.

#![allow(dead_code, unreachable_pub, reason = "each bench uses some of it")]

use anyorder_trace::{
    Block, EventKind, Interner, Location, Mailbox, Mode, Op, Position, Problems, ReadError, Site,
    SiteId, TableFull, Tables, TaskDef, TaskId, TaskKind, TraceSource,
};

/// Variables that are sometimes accessed without their lock.
const STRAY: usize = 32;

/// The parameters of a trace.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub events: u64,
    pub threads: usize,
    pub locks: usize,
    pub variables: usize,
    /// Locks that a section takes, one inside the other; 0: there are no sections.
    pub held: usize,
    /// Whether a lock is always taken with the same others; else each comes from its part of all
    /// locks by chance.
    pub same_nests: bool,
    /// One in this many accesses goes to a variable that no lock owns; 0: none does.
    pub stray_every: u32,
    /// Whether a section may access the variables of any lock.
    pub any_variable: bool,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape {
            events: 5_000_000,
            threads: 8,
            locks: 16,
            variables: 20_000,
            held: 1,
            same_nests: true,
            stray_every: 1_000,
            any_variable: false,
        }
    }
}

/// A small and fast generator, good enough for choices only.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * bound as u64) >> 32) as usize
    }
}

#[derive(Clone, Debug, Default)]
struct Thread {
    /// Locks held and to be taken, ascending.
    wanted: Vec<u32>,
    /// How many of them are held.
    held: usize,
    /// Accesses left in the section.
    left: usize,
}

/// The source.
#[derive(Debug)]
pub struct Workload {
    shape: Shape,
    rng: Rng,
    tables: Tables,
    problems: Problems,
    threads: Vec<Thread>,
    taken: Vec<bool>,
    done: u64,
    forked: usize,
    joined: usize,
}

impl Workload {
    /// Builds the tables; events are generated on demand.
    pub fn new(shape: Shape) -> Workload {
        Workload {
            shape,
            rng: Rng::new(20_260_101),
            tables: tables(shape).expect("the tables have room"),
            problems: Problems::default(),
            threads: vec![Thread::default(); shape.threads],
            taken: vec![false; shape.locks],
            done: 0,
            forked: 1,
            joined: 1,
        }
    }

    fn next(&mut self) -> Option<(usize, Op, u32)> {
        if self.forked < self.shape.threads {
            self.forked += 1;
            return Some((0, EventKind::Fork.into(), (self.forked - 1) as u32));
        }
        if self.done >= self.shape.events {
            return self.end();
        }
        loop {
            let t = self.rng.below(self.shape.threads);
            if let Some((op, operand)) = self.step(t) {
                return Some((t, op, operand));
            }
        }
    }

    /// Gives all locks back, then joins.
    fn end(&mut self) -> Option<(usize, Op, u32)> {
        if let Some(t) = self.threads.iter().position(|thread| thread.held > 0) {
            let (op, lock) = self.release(t);
            return Some((t, op, lock));
        }
        (self.joined < self.shape.threads).then(|| {
            self.joined += 1;
            (0, EventKind::Join.into(), (self.joined - 1) as u32)
        })
    }

    fn release(&mut self, t: usize) -> (Op, u32) {
        let thread = &mut self.threads[t];
        thread.held -= 1;
        let lock = thread.wanted[thread.held];
        thread.wanted.truncate(thread.held);
        thread.left = 0;
        self.taken[lock as usize] = false;
        (Op::new(EventKind::Release, Mode::EXCLUSIVE), lock)
    }

    /// The next event of a thread, unless it waits for a lock.
    fn step(&mut self, t: usize) -> Option<(Op, u32)> {
        let Shape { locks, variables, threads, held, .. } = self.shape;
        let (half, quarter) = (variables / 2, variables / 4);
        let thread = &self.threads[t];
        if thread.held < thread.wanted.len() && thread.left > 0 {
            return self.acquire(t);
        }
        let kind = if self.rng.below(4) == 0 { EventKind::Write } else { EventKind::Read };
        let thread = &mut self.threads[t];
        if thread.held > 0 {
            if thread.left == 0 {
                return Some(self.release(t));
            }
            thread.left -= 1;
        }
        let stray = self.shape.stray_every as usize;
        if stray > 0 && self.rng.below(stray) == 0 {
            let which = (self.done >> 12) as usize % STRAY.min(half / 2);
            return Some((kind.into(), (half - 1 - which) as u32));
        }
        let thread = &self.threads[t];
        if thread.held > 0 {
            if self.shape.any_variable {
                return Some((kind.into(), self.rng.below(half) as u32));
            }
            let lock = thread.wanted[if held > 1 { self.rng.below(held) } else { 0 }] as usize;
            let each = (half - STRAY.min(half / 2)) / locks;
            return Some((kind.into(), (lock * each + self.rng.below(each)) as u32));
        }
        if held > 0 && self.rng.below(4) == 0 {
            self.want(t);
            return self.acquire(t);
        }
        if self.rng.below(4) == 0 {
            let from = half + quarter;
            return Some((EventKind::Read.into(), (from + self.rng.below(quarter)) as u32));
        }
        let own = (quarter / threads).max(1);
        Some((kind.into(), (half + t * own + self.rng.below(own)) as u32))
    }

    /// Chooses the locks of the next section, ascending: one from each of so many equal parts.
    fn want(&mut self, t: usize) {
        let Shape { locks, held, .. } = self.shape;
        let thread = &mut self.threads[t];
        let each = locks / held;
        let same = self.rng.below(each);
        for i in 0..held {
            let which = if self.shape.same_nests { same } else { self.rng.below(each) };
            thread.wanted.push((i * each + which) as u32);
        }
        thread.left = 1 + self.rng.below(12);
    }

    fn acquire(&mut self, t: usize) -> Option<(Op, u32)> {
        let thread = &mut self.threads[t];
        let lock = thread.wanted[thread.held];
        let taken = &mut self.taken[lock as usize];
        if *taken {
            if thread.held == 0 {
                thread.wanted.clear();
                thread.left = 0;
            }
            return None;
        }
        *taken = true;
        thread.held += 1;
        Some((Op::new(EventKind::Acquire, Mode::EXCLUSIVE), lock))
    }
}

/// Names threads, locks and variables. Gives a source position to reads and to writes of each of
/// 1,000 groups of variables, and to all other events.
fn tables(shape: Shape) -> Result<Tables, TableFull> {
    let mut tables = Interner::default();
    for i in 0..shape.threads {
        let name = tables.name(&format!("T{i}"))?;
        let handler = anyorder_trace::Handler { name, mailbox: Mailbox::None, untracked: false };
        let handler = tables.push_handler(handler)?;
        let kind = TaskKind::Initial;
        tables.push_task(TaskDef { name, kind, handler, delay: 0, position: Position::Back })?;
    }
    for i in 0..shape.locks {
        let name = tables.name(&format!("m{i}"))?;
        tables.lock(name)?;
    }
    for i in 0..shape.variables {
        let name = tables.name(&format!("x{i}"))?;
        tables.location(Location::Named(name))?;
    }
    for i in 1..=SITES {
        let label = tables.name(&i.to_string())?;
        tables.site(Site { label, ..Site::default() })?;
    }
    Ok(tables.tables)
}

const SITES: u32 = 2_001;

fn site(op: Op, operand: u32) -> SiteId {
    match op.kind() {
        EventKind::Read => SiteId(1 + operand % 1_000),
        EventKind::Write => SiteId(1_001 + operand % 1_000),
        _ => SiteId(SITES),
    }
}

impl TraceSource for Workload {
    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        block.columns.clear();
        block.first = self.done;
        while block.columns.len() < Block::EVENTS {
            let Some((t, op, operand)) = self.next() else { break };
            block.columns.push(op, TaskId(t as u32), operand, site(op, operand));
            self.done += 1;
        }
        Ok(!block.columns.is_empty())
    }

    fn problems(&self) -> &Problems {
        &self.problems
    }

    fn take_tables(&mut self) -> Tables {
        std::mem::take(&mut self.tables)
    }
}
