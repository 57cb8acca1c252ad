//! Fetches the shadow state of some events together, before they are applied: one wait for memory, and not one for each.
//!
//! The loads of one step do not depend on each other, so that the processor runs them side by side. What is fetched is a
//! guess, and means nothing but time.

use crate::by_lock::ByLocks;
use crate::class::{Class, ClassTable};
use crate::sections::Sections;
use crate::shadow::{Cell, Pool};
use anyorder_trace::{Block, EventKind};
use std::ops::Range;

/// How many events are looked at together.
pub(crate) const AHEAD: usize = 64;

const NO_LOCK: u32 = u32::MAX;

/// What an event of the chunk will need beyond its cell.
#[derive(Clone, Copy, Debug)]
struct Want {
    by_lock: u32,
    list: u32,
    lock: u32,
    /// The classes that conflict with the access.
    conflicting: u32,
}

/// Looks ahead.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ahead {
    /// By task, the lock that it took last.
    locks: Vec<u32>,
    wants: Vec<Want>,
}

impl Ahead {
    /// Makes room for tasks below `count`.
    pub(crate) fn grow(&mut self, count: usize) {
        self.locks.resize(count, NO_LOCK);
    }

    /// Fetches what the events of a chunk will need.
    #[inline]
    pub(crate) fn fetch(
        &mut self,
        (block, chunk): (&Block, Range<usize>),
        cells: &[Cell],
        table: &ClassTable,
        indexed: Option<(&ByLocks, &Pool, &Sections)>,
    ) {
        let columns = &block.columns;
        // No branch here depends on what is loaded: a wrong guess of the processor would end the overlap.
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
        self.wants.clear();
        for row in chunk {
            let (kind, operand) = (columns.ops[row].kind(), columns.operands[row]);
            let task = columns.tasks[row].0 as usize;
            if kind.is_access() {
                let Some(cell) = cells.get(operand as usize) else { continue };
                if cell.by_lock != 0 {
                    let conflicting = table.conflicting(Class::of_access(columns.ops[row]));
                    let lock = self.locks.get(task).copied().unwrap_or(NO_LOCK);
                    self.wants.push(Want {
                        by_lock: cell.by_lock,
                        list: cell.more(),
                        lock,
                        conflicting,
                    });
                }
            } else if kind == EventKind::Acquire
                && let Some(lock) = self.locks.get_mut(task)
            {
                *lock = operand;
            }
        }
        for want in &self.wants {
            touched |= by_locks.len(want.by_lock) as u32 | pool.list_len(want.list) as u32;
        }
        std::hint::black_box(touched);
        for want in &self.wants {
            touched |= by_locks.touch(want.by_lock, want.lock) | pool.touch(want.list);
        }
        std::hint::black_box(touched);
        for want in &self.wants {
            for section in by_locks.some_sections(want.by_lock, want.lock, want.conflicting) {
                touched |= sections.touch(section);
            }
        }
        std::hint::black_box(touched);
    }
}
