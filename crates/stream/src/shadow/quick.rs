//! The fast path, for an action on an object with at most two records. The lane must know all
//! conflicting records.
//!
//! Then there is nothing to learn or report. The action only replaces the records that it covers.

use crate::class::{Class, ClassTable, Specification};
use crate::relations::engine::{Act, Engine};
use crate::relations::lanes::{Lane, LaneId};
use crate::relations::relation::Relation;
use crate::sections::candidates::Candidate;
use crate::sections::locksets::{NO_LOCKSET, as_one};
use crate::sections::table::Sections;
use crate::shadow::record::{LockBits, Record};

/// For each class of each table, the classes that it covers, one bit each.
#[derive(Clone, Debug)]
pub(crate) struct CoverTable {
    tables: Vec<[u32; 32]>,
    /// The classes that conflict with themselves.
    heavy: Vec<u32>,
}

impl CoverTable {
    /// Computes the table.
    pub(crate) fn new(tables: &[ClassTable]) -> CoverTable {
        let classes = |table: &ClassTable, new: usize| {
            (0..32).fold(0, |all, old| {
                all | u32::from(table.covers(Class(new as u8), Class(old))) << old
            })
        };
        let heavy = |table: &ClassTable| {
            (0..32).fold(0, |all, class| {
                all | u32::from(table.conflicts(Class(class), Class(class))) << class
            })
        };
        CoverTable {
            tables: tables.iter().map(|t| std::array::from_fn(|new| classes(t, new))).collect(),
            heavy: tables.iter().map(heavy).collect(),
        }
    }

    /// Returns the classes that a class of a table covers, one bit each.
    #[inline]
    pub(crate) fn of(&self, table: usize, class: Class) -> u32 {
        self.tables.get(table).map_or(0, |classes| classes[usize::from(class.0 & 31)])
    }

    /// Returns the classes of a table that conflict with themselves, one bit each.
    #[inline]
    pub(crate) fn heavy(&self, table: usize) -> u32 {
        self.heavy.get(table).copied().unwrap_or(0)
    }
}

/// The result of the fast path for an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Quick {
    /// The action has been applied.
    Done,
    /// The lane knows all conflicting records; the action has not been recorded.
    Ordered,
    /// The fast path did nothing.
    Slow,
}

/// An action that is ready to be compared.
#[derive(Clone, Copy)]
struct Question<'e> {
    lane: &'e Lane,
    id: LaneId,
    sections: &'e Sections,
    table: &'e ClassTable,
    class: Class,
    /// The classes that the action is compared with.
    compared: u32,
    reported: u32,
    covering: u32,
    lockset: u32,
    locks: LockBits,
    /// The pairs whose second sections the lane has not released.
    pairs: &'e [Candidate],
}

impl Question<'_> {
    /// Returns whether the record gives no reason to learn or to report. Counts it in `together`.
    #[inline(always)]
    fn is_settled<R: Relation>(&self, old: &Record, together: &mut u64) -> bool {
        if self.compared >> old.class().0 & 1 == 0 || old.slot() == self.lane.slot {
            return true;
        }
        if !R::SECTIONS || !old.locks().may_meet(self.locks) {
            return self.reported >> old.class().0 & 1 == 0
                || old.count() <= self.lane.clock.get(old.slot());
        }
        self.pairs.is_empty() && self.knows_sections(old, together)
    }

    /// Returns whether the lane knows the releases of all sections that contain a record. Counts
    /// the record if the access is in a section of one of these locks, too.
    #[inline]
    fn knows_sections(&self, old: &Record, together: &mut u64) -> bool {
        if !self.sections.are_known(old.lockset, &self.lane.clock) {
            return false;
        }
        if self.table.is_reported(self.class, old.class()) {
            *together += u64::from(self.sections.has_common(old.lockset, self.id));
        }
        true
    }

    /// Returns whether the action covers a settled record.
    #[inline(always)]
    fn covers<R: Relation>(&self, old: &Record) -> bool {
        self.covering >> old.class().0 & 1 != 0
            && (old.slot() == self.lane.slot || old.count() <= self.lane.clock.get(old.slot()))
            && (!R::SECTIONS
                || old.lockset == self.lockset
                || old.lockset == NO_LOCKSET
                || self.covers_one(old))
    }

    /// Returns whether the locks held give later accesses the same information as the one lock of a
    /// record.
    #[inline]
    fn covers_one(&self, old: &Record) -> bool {
        let Some(section) = as_one(old.lockset) else { return false };
        let s = self.sections.section(section);
        let clock = &self.lane.clock;
        (s.slot == self.lane.slot || self.sections.is_known(section, s.slot, clock))
            && self.sections.held(self.id).get(s.lock).is_some_and(|held| !held.shared || s.shared)
            // A clock known only by a pair's own edge may still be learnt by another edge.
            && !self
                .pairs
                .iter()
                .any(|pair| pair.has_one(self.sections, self.id, (old.slot(), section)))
    }
}

impl<R: Relation, S: Specification> Engine<R, S> {
    /// Applies an action if the fast path can.
    #[inline(always)]
    pub(crate) fn quick(&mut self, act: Act, new: Record) -> Quick {
        let Engine { cells, lanes, sections, table, own_tables, cover_table, open, .. } = self;
        let table = act.table(table, own_tables);
        let question = Question {
            lane: lanes.get(act.lane),
            id: act.lane,
            sections,
            table,
            class: act.class,
            compared: Self::compared(table, act.class, new.locks()),
            reported: table.reported_with(act.class),
            covering: cover_table.of(usize::from(act.table), act.class),
            lockset: new.lockset,
            locks: new.locks(),
            pairs: open.get(act.lane).map_or(&[], |open| &open.pairs),
        };
        let cell = &mut cells[act.space][act.index];
        let (first, second) = (cell.newest, cell.second());
        let mut together = 0;
        // Empty records have count 0, so they are known.
        if !(question.is_settled::<R>(&first, &mut together)
            && question.is_settled::<R>(&second, &mut together))
        {
            return Quick::Slow;
        }
        if cell.more() != 0 {
            let pool = &self.pool;
            if pool.classes(cell.more()) & question.compared != 0
                && !pool
                    .of_classes(cell.more(), question.compared)
                    .all(|old| question.is_settled::<R>(old, &mut together))
            {
                return Quick::Slow;
            }
            if self.looks_for_candidates() {
                self.report.counts.ordered += together;
            }
            return Quick::Ordered;
        }
        let drops_first = !first.is_some() || question.covers::<R>(&first);
        let drops_second = !second.is_some() || question.covers::<R>(&second);
        let done = if drops_second {
            cell.set_two(new, if drops_first { Record::NONE } else { first });
            true
        } else if drops_first {
            cell.set_two(new, second);
            true
        } else {
            false
        };
        if R::SECTIONS {
            if done {
                sections.keep_lockset(new.lockset);
                for (dropped, old) in [(drops_first, first), (drops_second, second)] {
                    if dropped {
                        sections.drop_lockset(old.lockset);
                    }
                }
            }
            if self.looks_for_candidates() {
                self.report.counts.ordered += together;
            }
        }
        if done { Quick::Done } else { Quick::Ordered }
    }
}
