//! The lives of locks: acquiring a lock does not commute with destroying it.
//!
//! An acquire uses the lock before it owns it. A release uses the lock, too, but it counts as a
//! separate use only in some cases: the lock has been destroyed, the release's task was not the
//! last to acquire it, or the task has since forked, posted, signalled, passed a barrier, or
//! acquired or released a lock. Then other tasks may know the acquire but not the release. (Atomic
//! writes in between are ignored.)
//!
//! A destroyed lock begins a new life when memory is allocated at its address, or when the task
//! that destroyed it acquires it again.

use super::compile::LOCKS;
use super::objects::Numbering;
use crate::analysis::StreamEvent;
use crate::class::{Class, Point};
use anyorder_trace::{EventKind, Location, LocationId, LockId, Tables};
use std::collections::BTreeMap;

const USE: Class = Class(0);
const DESTROY: Class = Class(1);
const NOBODY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Life {
    object: u32,
    cell: u32,
    /// The task that destroyed it.
    destroyed_by: Option<u32>,
    /// The task that last acquired it, with its mark at that time.
    taken: (u32, u32),
}

/// The lives of all locks. Memory: an entry for each lock and task of the tables.
#[derive(Clone, Debug, Default)]
pub(super) struct Lives {
    lives: Vec<Option<Life>>,
    /// For each task, the number of events that may release other tasks.
    marks: Vec<u32>,
    /// Destroyed locks by address.
    destroyed: BTreeMap<u64, u32>,
}

impl Lives {
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

    /// Returns the point of an acquire, release or destroy.
    pub(super) fn point(
        &mut self,
        numbers: &mut Numbering,
        tables: &Tables,
        step: StreamEvent,
    ) -> Option<Point> {
        let at = step.operand as usize;
        if at >= tables.locks.len() {
            return None;
        }
        if self.lives.len() < tables.locks.len() {
            self.lives.resize(tables.locks.len(), None);
        }
        if step.op.kind() == EventKind::Acquire {
            self.mark(tables, step);
        }
        let mark = *self.mark_of(tables, step.task)?;
        let anew = self.lives[at].is_none_or(|life| {
            step.op.kind() == EventKind::Acquire && life.destroyed_by == Some(step.task)
        });
        if anew {
            let (object, cell) = numbers.lock(step.operand);
            self.lives[at] = Some(Life { object, cell, destroyed_by: None, taken: (NOBODY, 0) });
        }
        let life = self.lives[at].as_mut()?;
        let class = match step.op.kind() {
            EventKind::Acquire => {
                life.taken = (step.task, mark);
                USE
            }
            EventKind::Release => {
                let is_known = life.taken == (step.task, mark) && life.destroyed_by.is_none();
                let Life { object, cell, .. } = *life;
                self.mark(tables, step);
                return (!is_known).then_some(Point { object, cell, table: LOCKS, class: USE });
            }
            EventKind::Destroy => {
                life.destroyed_by = Some(step.task);
                if let Some(address) = address(tables, step.operand) {
                    self.destroyed.insert(address, step.operand);
                }
                DESTROY
            }
            _ => return None,
        };
        Some(Point { object: life.object, cell: life.cell, table: LOCKS, class })
    }

    /// Begins new lives of destroyed locks in newly allocated memory.
    pub(super) fn allocate(&mut self, tables: &Tables, location: u32) {
        if self.destroyed.is_empty() {
            return;
        }
        let location = tables.locations.get(LocationId(location).index());
        let Some(Location::Range { address, size, .. }) = location else { return };
        let range = *address..address.saturating_add(u64::from(*size));
        while let Some((&at, &lock)) = self.destroyed.range(range.clone()).next() {
            self.destroyed.remove(&at);
            self.lives[lock as usize] = None;
        }
    }
}

/// Returns the address of a lock whose name is its address.
fn address(tables: &Tables, lock: u32) -> Option<u64> {
    let name = tables.name(*tables.locks.get(LockId(lock).index())?);
    u64::from_str_radix(name.strip_prefix("0x")?, 16).ok()
}
