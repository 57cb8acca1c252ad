//! Random runs that allocate, use, free, use again and free twice, create threads and join them.

use crate::synthetic::{Writer, pc};
use anyorder_common::random::{Random, Rng};
use anyorder_native::recording::{Event, Recording, kind};
use std::collections::BTreeMap;

/// The threads that are there from the beginning, and all.
const FIRST: u32 = 3;
const THREADS: u32 = 6;
const STATICS: u64 = 0x9000;
const LOCKS: u64 = 0x1000;
const HEAP: u64 = 0x10_0000;
const SIZES: [u64; 6] = [8, 13, 24, 40, 64, 5000];

#[derive(Clone, Copy, Debug)]
struct Block {
    address: u64,
    size: u64,
    owner: u32,
    is_freed: bool,
}

/// A thread of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    NotBegun,
    Runs,
    Ended,
    Joined,
}

pub(crate) struct Machine {
    rng: Rng,
    run: Vec<(u32, Event)>,
    blocks: Vec<Block>,
    /// By lock: who holds it.
    held: BTreeMap<u64, u32>,
    top: u64,
    threads: [State; THREADS as usize],
    /// Creations and joins of threads that do not run from the beginning.
    changes: u64,
    loops: u64,
    polls: u64,
}

impl Machine {
    fn event(&mut self, thread: u32, kind: u8, address: u64, arg: u8, third: u64) {
        let time = 10 * (self.run.len() as u64 + 1);
        let pc = pc(self.run.len() as u32 % 4000 + 1);
        self.run.push((thread, Event { kind, arg, address, pc, time, third }));
    }

    /// Some accesses at one place in the code, to words that follow each other.
    fn walk(&mut self, thread: u32, kind: u8, from: u64, words: u64) {
        let at = pc(5_000 + self.run.len() as u32 % 3);
        let (is_atomic, synchronises) = (self.rng.percent(15), self.rng.percent(30));
        for word in 0..words {
            if is_atomic {
                self.event(thread, kind::ATOMIC_RMW, from + 8 * word, 8 | 4 << 5, 0);
            } else {
                self.event(thread, kind, from + 8 * word, 8, 0);
            }
            if let Some((_, event)) = self.run.last_mut() {
                event.pc = at;
            }
            if synchronises {
                self.event(thread, kind::ATOMIC_RMW, STATICS + 0x1000, 8 | 4 << 5, 0);
            }
        }
        self.loops += 1;
    }

    pub(crate) fn stack(thread: u32) -> u64 {
        0x7000_0000 + 0x1_0000 * u64::from(thread)
    }

    /// Creates a thread, ends one or joins one.
    fn change(&mut self, thread: u32) {
        let with = |state| self.threads.iter().position(|one| *one == state);
        let others = self.threads.iter().filter(|state| **state == State::Runs).count() > 2;
        if let Some(child) = with(State::Ended).filter(|_| self.rng.percent(50)) {
            self.threads[child] = State::Joined;
            self.event(thread, kind::THREAD_JOIN, child as u64, 0, 0);
            self.changes += 1;
        } else if let Some(child) = with(State::NotBegun).filter(|_| self.rng.percent(60)) {
            self.threads[child] = State::Runs;
            self.event(thread, kind::THREAD_CREATE, child as u64, 0, 0);
            self.event(child as u32, kind::THREAD_BEGIN, Machine::stack(child as u32), 0, 0x1000);
            self.changes += 1;
        } else if others && !self.held.values().any(|holder| *holder == thread) {
            self.threads[thread as usize] = State::Ended;
            self.event(thread, kind::THREAD_END, 0, 0, 0);
        }
    }

    /// A block of a thread, or now and then of another one; freed or not.
    fn block(&mut self, thread: u32, of_others: u32) -> Option<usize> {
        let others = self.rng.percent(of_others);
        let freed = self.rng.percent(15);
        let fits = |block: &Block| (block.owner != thread) == others && block.is_freed == freed;
        let fitting: Vec<usize> =
            (0..self.blocks.len()).filter(|at| fits(&self.blocks[*at])).collect();
        (!fitting.is_empty()).then(|| self.rng.pick(&fitting))
    }

    fn allocate(&mut self, thread: u32) {
        let size = self.rng.pick(&SIZES);
        // What was freed last is used again, by any thread; also a part of it.
        let reused = self.blocks.iter().rposition(|one| one.is_freed && one.size >= size);
        let reused = reused.filter(|_| self.rng.percent(80));
        let address = match reused {
            Some(at) => {
                let old = self.blocks.swap_remove(at);
                let room = (old.size - size) / 16 * 16;
                old.address + if self.rng.percent(50) { 0 } else { room }
            }
            None => {
                self.top += size.next_multiple_of(16);
                HEAP + self.top - size.next_multiple_of(16)
            }
        };
        self.blocks.push(Block { address, size, owner: thread, is_freed: false });
        self.event(thread, kind::ALLOC, address, 0, size);
    }

    fn step(&mut self) {
        let thread = self.rng.below(THREADS.into()) as u32;
        if self.threads[thread as usize] != State::Runs {
            return;
        }
        if self.rng.percent(6) {
            return self.change(thread);
        }
        let kind = self.rng.pick(&[kind::READ, kind::WRITE]);
        match self.rng.below(100) {
            0..18 => self.allocate(thread),
            18..32 => {
                if let Some(at) = self.block(thread, 12) {
                    let Block { address, size, .. } = self.blocks[at];
                    self.blocks[at].is_freed = true;
                    // The allocator tells how much may be used, which is often more.
                    let usable = size + self.rng.pick(&[0, 8, 11]);
                    self.event(thread, kind::FREE, address, 0, usable);
                }
            }
            32..44 => {
                let words = 2 + self.rng.below(4);
                if self.rng.percent(30) {
                    self.walk(thread, kind, STATICS, words);
                } else if let Some(at) = self.block(thread, 40) {
                    let Block { address, size, .. } = self.blocks[at];
                    self.walk(thread, kind, address, words.min(size / 8));
                }
            }
            44..70 => {
                if let Some(at) = self.block(thread, 12) {
                    let Block { address, size, .. } = self.blocks[at];
                    let width = self.rng.pick(&[1, 4, 8]).min(size);
                    let offset = self.rng.below(size.min(64) / width) * width;
                    if size > 4096 && self.rng.percent(50) {
                        let kind =
                            if kind == kind::READ { kind::READ_RANGE } else { kind::WRITE_RANGE };
                        self.event(thread, kind, address, 0, size);
                    } else if self.rng.percent(10) {
                        self.event(thread, kind::ATOMIC_RMW, address, 4 | 4 << 5, 0);
                    } else {
                        self.event(thread, kind, address + offset, width as u8, 0);
                    }
                }
            }
            70..76 => {
                let address = STATICS + 8 * self.rng.below(20);
                self.event(thread, kind, address, 8, 0);
            }
            76 => {
                let address = STATICS + 8 * self.rng.below(20);
                self.event(thread, kind::FREE, address, 0, 16);
            }
            77..82 => {
                let of = if self.rng.percent(10) { self.rng.below(3) } else { thread.into() };
                let address = Machine::stack(of as u32) + 8 * self.rng.below(4);
                self.event(thread, kind, address, 8, 0);
            }
            82..98 => {
                let mut lock = LOCKS + 0x100 * self.rng.below(2);
                if self.rng.percent(15)
                    && let Some(at) = self.block(thread, 30)
                {
                    lock = self.blocks[at].address;
                }
                let own = self.held.iter().find(|(_, holder)| **holder == thread);
                match own.map(|(lock, _)| *lock) {
                    Some(lock) if self.rng.percent(60) => {
                        self.held.remove(&lock);
                        self.event(thread, kind::UNLOCK, lock, 0, 0);
                    }
                    _ if !self.held.contains_key(&lock) => {
                        self.held.insert(lock, thread);
                        self.event(thread, kind::LOCK, lock, 0, 0);
                    }
                    _ => {}
                }
            }
            _ => {
                // A flag that is polled, while others run.
                let at = pc(5_010);
                for _ in 0..1 + self.rng.below(4) {
                    self.event(thread, kind::ATOMIC_LOAD, STATICS, 8 | 2 << 5, 0);
                    if let Some((_, event)) = self.run.last_mut() {
                        event.pc = at;
                    }
                    self.polls += 1;
                    if self.rng.percent(40) {
                        self.step();
                    }
                    if self.threads[thread as usize] != State::Runs {
                        break;
                    }
                }
            }
        }
    }
}

/// Returns a run, and how often threads were created or joined in it, accessed words in a row, and
/// polled.
pub(crate) fn recorded(seed: u64, steps: u64) -> (Recording, [u64; 3]) {
    let mut machine = Machine {
        rng: Rng::new(seed),
        run: Vec::new(),
        blocks: Vec::new(),
        held: BTreeMap::new(),
        top: 0,
        threads: [State::NotBegun; THREADS as usize],
        changes: 0,
        loops: 0,
        polls: 0,
    };
    machine.threads[..FIRST as usize].fill(State::Runs);
    for word in 0..8 {
        machine.event(0, kind::WRITE, STATICS + 8 * word, 8, 0);
    }
    for thread in 1..FIRST {
        machine.event(0, kind::THREAD_CREATE, thread.into(), 0, 0);
    }
    for thread in 0..FIRST {
        machine.event(thread, kind::THREAD_BEGIN, Machine::stack(thread), 0, 0x1000);
    }
    for _ in 0..steps {
        machine.step();
    }
    let mut writer = Writer::default();
    machine.run.iter().for_each(|(thread, event)| writer.push(*thread, *event));
    (writer.recording(), [machine.changes, machine.loops, machine.polls])
}
