//! A proof that a run cannot end inside of a section: what the section has read is overwritten.
//!
//! Where a run ends inside of a section, all other sections of its lock that the run contains come
//! before it. So does a write in such a section. If that write comes after another one in every
//! run, no read of the open section can see the other one any more.
//!
//! This is what keeps a signal behind the wait for it, when the waiting thread has read the
//! predicate under the lock and the other thread changes it under the lock before the signal.

use super::chains::NONE;
use super::deadlock::closure::{Closures, acquire};
use super::past::Past;
use std::collections::HashMap;

/// The writes of each cell by each chain, in their order.
#[derive(Debug)]
pub(super) struct Writes {
    of: HashMap<(u32, u32), Vec<u32>>,
}

/// The most events of an open section that are visited, from its end.
const VISITED_MAX: usize = 256;

impl Writes {
    /// Collects the writes of a trace. Linear in the touched cells.
    pub(super) fn new(past: &Past<'_>) -> Writes {
        let mut of: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
        for event in 0..past.chain.len() as u32 {
            let (op, operand) = past.op(event);
            if op.kind().is_access() && op.kind().writes() {
                for cell in past.cells.of(operand) {
                    of.entry((cell, past.chain[event as usize])).or_default().push(event);
                }
            }
        }
        Writes { of }
    }

    /// Returns whether a read in a section, between its begin and an action of its chain, sees a
    /// write that is overwritten before the section begins in each run which contains the events
    /// below `tops` and has not left the section. Counts the visited events as work. With
    /// `any_overwrites`, a fault for tests, each other write counts.
    pub(super) fn are_read(
        &self,
        (past, closures, any_overwrites): (&Past<'_>, &Closures, bool),
        tops: &[u32],
        (section, action): (u32, u32),
        work: &mut u64,
    ) -> bool {
        let section = past.holding.sections[section as usize];
        let Some(lock) = closures.locks.get(section.lock as usize) else { return false };
        let mut event = past.previous[action as usize];
        for _ in 0..VISITED_MAX {
            if event == NONE || event <= section.acquire {
                return false;
            }
            *work += 1;
            let (op, operand) = past.op(event);
            let is_bound = op.kind().is_access() && op.kind().reads() && !past.is_free(event);
            let cells = past.cells.of(operand).filter(|_| is_bound);
            for (cell, seen) in cells.zip(past.reads.row(event)) {
                let others = lock.lists.iter().filter(|list| list.chain != section.chain);
                let overwritten = |chain: u32, sections: &[u32]| {
                    let last = self.last(cell, chain, tops[chain as usize])?;
                    let begun = sections.partition_point(|id| acquire(past, *id) < last);
                    let of = past.holding.sections[sections[begun.checked_sub(1)?] as usize];
                    let is_inside = of.release != NONE && last < of.release;
                    let is_overwritten = || match any_overwrites {
                        true => *seen != last,
                        false => comes_after((past, closures), *seen, last),
                    };
                    (is_inside && is_overwritten()).then_some(())
                };
                for list in others {
                    let sections = if section.exclusive { &list.all } else { &list.exclusive };
                    if overwritten(list.chain, sections).is_some() {
                        return true;
                    }
                }
            }
            event = past.previous[event as usize];
        }
        false
    }

    /// Returns the last write of a chain to a cell before a position.
    fn last(&self, cell: u32, chain: u32, top: u32) -> Option<u32> {
        let writes = self.of.get(&(cell, chain))?;
        let before = writes.partition_point(|write| *write < top);
        Some(writes[before.checked_sub(1)?])
    }
}

/// Returns whether a write comes after another one in each run that contains it, or after the begin
/// of all (`NONE`).
fn comes_after((past, closures): (&Past<'_>, &Closures), first: u32, then: u32) -> bool {
    if first == NONE {
        return true;
    }
    let chain = past.chain[first as usize];
    match chain == past.chain[then as usize] {
        true => first < then,
        false => closures.before(then)[chain as usize] > first,
    }
}
