//! Prefetches the shadow state of several events together, before they are applied. They share one
//! wait for memory.
//!
//! The loads of one step do not depend on each other, so the processor runs them in parallel. A
//! wrong guess costs only time.

use crate::class::{Class, ClassTable};
use crate::sections::table::Sections;
use crate::shadow::by_lock::ByLocks;
use crate::shadow::record::{Cell, Pool};
use anyorder_trace::{Block, EventKind};
use std::ops::Range;

/// How many events are prefetched together.
pub(crate) const AHEAD: usize = 64;

/// How many locks of a task the prefetcher remembers.
const LOCKS: usize = 4;

/// The locks that a task holds, or some of them.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    locks: [u32; LOCKS],
    count: usize,
}

impl Taken {
    fn push(&mut self, lock: u32) {
        if let Some(place) = self.locks.get_mut(self.count) {
            *place = lock;
            self.count += 1;
        }
    }

    fn remove(&mut self, lock: u32) {
        if let Some(at) = self.locks[..self.count].iter().rposition(|l| *l == lock) {
            self.locks.copy_within(at + 1.., at);
            self.count -= 1;
        }
    }
}

/// The shadow state that an event of the chunk needs besides its cell.
#[derive(Clone, Copy, Debug)]
struct Prefetch {
    by_lock: u32,
    list: u32,
    lock: u32,
    /// The classes that conflict with the access.
    conflicting: u32,
}

/// The prefetcher of shadow state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prefetcher {
    taken: Vec<Taken>,
    prefetches: Vec<Prefetch>,
}

impl Prefetcher {
    /// Makes room for task numbers below `count`.
    pub(crate) fn grow(&mut self, count: usize) {
        self.taken.resize(count, Taken::default());
    }

    /// Prefetches the shadow state for the events of a chunk.
    #[inline]
    pub(crate) fn fetch(
        &mut self,
        (block, chunk): (&Block, Range<usize>),
        cells: &[Cell],
        table: &ClassTable,
        indexed: Option<(&ByLocks, &Pool, &Sections)>,
    ) {
        let columns = &block.columns;
        // No branch here depends on loaded data: a misprediction would end the overlap.
        let mut touched = 0;
        for row in chunk.clone() {
            if columns.ops[row].kind().is_access()
                && let Some(cell) = cells.get(columns.operands[row] as usize)
            {
                touched |= cell.classes;
            }
        }
        std::hint::black_box(touched);
        let Some((by_locks, pool, sections)) = indexed else { return };
        if by_locks.is_empty() {
            return;
        }
        self.prefetches.clear();
        for row in chunk {
            let (kind, operand) = (columns.ops[row].kind(), columns.operands[row]);
            let task = columns.tasks[row].0 as usize;
            if kind.is_access() {
                let Some(cell) = cells.get(operand as usize) else { continue };
                if cell.by_lock != 0 {
                    let conflicting = table.conflicting(Class::of_access(columns.ops[row]));
                    let (by_lock, list) = (cell.by_lock, cell.more());
                    let taken = self.taken.get(task).copied().unwrap_or_default();
                    for lock in &taken.locks[..taken.count] {
                        self.prefetches.push(Prefetch { by_lock, list, lock: *lock, conflicting });
                    }
                    if taken.count == 0 {
                        self.prefetches.push(Prefetch { by_lock, list, lock: 0, conflicting: 0 });
                    }
                }
            } else if let Some(taken) = self.taken.get_mut(task) {
                match kind {
                    EventKind::Acquire => taken.push(operand),
                    EventKind::Release => taken.remove(operand),
                    _ => {}
                }
            }
        }
        for prefetch in &self.prefetches {
            touched |= by_locks.len(prefetch.by_lock) as u32 | pool.len(prefetch.list) as u32;
        }
        std::hint::black_box(touched);
        for prefetch in &self.prefetches {
            touched |= by_locks.touch(prefetch.by_lock, prefetch.lock) | pool.touch(prefetch.list);
        }
        std::hint::black_box(touched);
        for prefetch in &self.prefetches {
            for section in
                by_locks.some_sections(prefetch.by_lock, prefetch.lock, prefetch.conflicting)
            {
                touched |= sections.touch(section);
            }
        }
        std::hint::black_box(touched);
    }
}
