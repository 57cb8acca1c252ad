//! The lives of locks: acquiring a lock does not commute with destroying it, with freeing its
//! memory, or with writing over it.
//!
//! An acquire uses the lock before it owns it. A release uses the lock, too, but it counts as a
//! separate use only in some cases: the lock has ended, the release's task was not the last to
//! acquire it, or the task has since forked, posted, signalled, passed a barrier, or acquired or
//! released a lock. Then other tasks may know the acquire but not the release. (Atomic writes in
//! between are ignored.)
//!
//! A lock whose name is an address lies in memory there. A `free` of memory around it ends it, and
//! a plain write by a task that does not hold it writes over it.
//!
//! A lock begins a new life when memory is allocated at its address, or when the task that ended it
//! acquires it again.

use super::compile::{FREED, LOCKS, OVERWRITTEN};
use super::objects::Numbering;
use crate::analysis::StreamEvent;
use crate::class::{Class, Point};
use anyorder_trace::{EventKind, LockId, Tables, address_of, memory_of_lock};
use std::collections::BTreeMap;

const USE: Class = Class(0);
const DESTROY: Class = Class(1);
const NOBODY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Life {
    object: u32,
    cell: u32,
    /// The task that destroyed it, or freed its memory.
    ended_by: Option<u32>,
    /// The task that last acquired it, with its mark at that time.
    taken: (u32, u32),
    /// The last task that acquired it, and how often it has it.
    held: (u32, u32),
}

/// The lives of all locks. Memory: an entry for each lock and task of the tables, and a number for
/// each location once a lock has an address.
#[derive(Clone, Debug)]
pub(super) struct Lives {
    /// The table of the points.
    table: u16,
    lives: Vec<Option<Life>>,
    /// For each task, the number of events that may release other tasks.
    marks: Vec<u32>,
    /// The locks that lie in memory, by their address: their size, and the lock.
    in_memory: BTreeMap<(u64, u32), u64>,
    /// The largest size of a lock in memory.
    size_max: u64,
    /// The number of locks whose names were read.
    known: usize,
    /// For each location, the number of locks in memory when none was found to lie in it.
    apart: Vec<usize>,
    /// For each lock in memory, the generation of its memory, once it was allocated.
    generations: BTreeMap<u32, u32>,
}

impl Default for Lives {
    fn default() -> Lives {
        Lives::new(LOCKS)
    }
}

impl Lives {
    pub(super) fn new(table: u16) -> Lives {
        Lives {
            table,
            lives: Vec::new(),
            marks: Vec::new(),
            in_memory: BTreeMap::new(),
            size_max: 0,
            known: 0,
            apart: Vec::new(),
            generations: BTreeMap::new(),
        }
    }

    /// Records an event that may release other tasks.
    pub(super) fn mark(&mut self, tables: &Tables, step: StreamEvent) {
        if let Some(mark) = self.mark_of(tables, step.task) {
            *mark = mark.wrapping_add(1);
        }
    }

    fn mark_of(&mut self, tables: &Tables, task: u32) -> Option<&mut u32> {
        if self.marks.len() < tables.tasks.len() {
            self.marks.resize(tables.tasks.len(), 0);
        }
        self.marks.get_mut(task as usize)
    }

    /// Returns the life of a lock, which may begin here.
    fn life(&mut self, numbers: &mut Numbering, tables: &Tables, lock: u32) -> Option<&mut Life> {
        if self.lives.len() < tables.locks.len() {
            self.lives.resize(tables.locks.len(), None);
        }
        let life = self.lives.get_mut(lock as usize)?;
        Some(life.get_or_insert_with(|| {
            let (object, cell) = numbers.lock(lock);
            Life { object, cell, ended_by: None, taken: (NOBODY, 0), held: (NOBODY, 0) }
        }))
    }

    /// Returns the point of an acquire, release or destroy.
    pub(super) fn point(
        &mut self,
        numbers: &mut Numbering,
        tables: &Tables,
        step: StreamEvent,
    ) -> Option<Point> {
        if step.op.kind() == EventKind::Acquire {
            self.mark(tables, step);
        }
        let mark = *self.mark_of(tables, step.task)?;
        let known = self.lives.get(step.operand as usize).copied().flatten();
        let ended_here = known.is_some_and(|life| life.ended_by == Some(step.task));
        if step.op.kind() == EventKind::Acquire && ended_here {
            self.lives[step.operand as usize] = None;
        }
        let table = self.table;
        let life = self.life(numbers, tables, step.operand)?;
        let class = match step.op.kind() {
            EventKind::Acquire => {
                life.taken = (step.task, mark);
                let times = if life.held.0 == step.task { life.held.1 } else { 0 };
                life.held = (step.task, times.saturating_add(1));
                USE
            }
            EventKind::Release => {
                let is_known = life.taken == (step.task, mark) && life.ended_by.is_none();
                if life.held.0 == step.task {
                    life.held.1 = life.held.1.saturating_sub(1);
                }
                let Life { object, cell, .. } = *life;
                self.mark(tables, step);
                return (!is_known).then_some(Point { object, cell, table, class: USE });
            }
            EventKind::Destroy => {
                life.ended_by = Some(step.task);
                DESTROY
            }
            _ => return None,
        };
        Some(Point { object: life.object, cell: life.cell, table, class })
    }

    /// Adds the points of an access on the locks in its memory.
    pub(super) fn access(
        &mut self,
        numbers: &mut Numbering,
        tables: &Tables,
        step: StreamEvent,
        points: &mut Vec<Point>,
    ) {
        let class = match step.op.kind() {
            EventKind::Free => Class(FREED),
            EventKind::Write | EventKind::Rmw if !step.op.mode().is_atomic() => Class(OVERWRITTEN),
            _ => return,
        };
        self.learn(tables);
        let at = step.operand as usize;
        if self.in_memory.is_empty() || self.apart.get(at) == Some(&self.in_memory.len()) {
            return;
        }
        let (locks, generation) = self.locks_in(tables, step.operand);
        if locks.is_empty() {
            if self.apart.len() < tables.locations.len() {
                self.apart.resize(tables.locations.len(), 0);
            }
            self.apart[at] = self.in_memory.len();
        }
        for lock in locks {
            if self.generations.get(&lock).is_some_and(|known| *known != generation) {
                continue;
            }
            let table = self.table;
            let Some(life) = self.life(numbers, tables, lock) else { continue };
            if class == Class(FREED) {
                life.ended_by = Some(step.task);
            } else if life.held.0 == step.task && life.held.1 > 0 {
                continue;
            }
            points.push(Point { object: life.object, cell: life.cell, table, class });
        }
    }

    /// Begins new lives of the locks in newly allocated memory.
    pub(super) fn allocate(&mut self, tables: &Tables, location: u32) {
        self.learn(tables);
        if self.in_memory.is_empty() {
            return;
        }
        let (locks, generation) = self.locks_in(tables, location);
        for lock in locks {
            self.generations.insert(lock, generation);
            if let Some(life) = self.lives.get_mut(lock as usize) {
                *life = None;
            }
        }
    }

    /// Reads the names of new locks.
    fn learn(&mut self, tables: &Tables) {
        for lock in self.known..tables.locks.len() {
            let lock = lock as u32;
            if let Some((address, size)) = memory_of_lock(tables, LockId(lock)) {
                self.in_memory.insert((address, lock), size);
                self.size_max = self.size_max.max(size);
            }
        }
        self.known = tables.locks.len();
    }

    /// Returns the locks in the memory of a location, and its generation.
    fn locks_in(&self, tables: &Tables, location: u32) -> (Vec<u32>, u32) {
        use anyorder_trace::Location::{Named, Range};
        let (address, size, generation) = match tables.locations.get(location as usize) {
            Some(Range { address, size, generation }) => (*address, *size, *generation),
            // An address without a size is the name of a variable there.
            Some(Named(name)) => match address_of(tables.name(*name)) {
                Some(address) => (address, 1, 0),
                None => return (Vec::new(), 0),
            },
            _ => return (Vec::new(), 0),
        };
        let end = address.saturating_add(u64::from(size.max(1)));
        let from = (address.saturating_sub(self.size_max), 0);
        let near = self.in_memory.range(from..(end, 0));
        let is_in = |((at, _), size): &(&(u64, u32), &u64)| at.saturating_add(**size) > address;
        (near.filter(is_in).map(|((_, lock), _)| *lock).collect(), generation)
    }
}
