//! The fast path: an action on an object with at most two records whose lane knows all conflicting
//! records.
//!
//! Then nothing is learnt or reported; the action only replaces the records that it covers.

use crate::class::{Class, ClassTable, Specification};
use crate::relations::engine::{Act, Engine};
use crate::relations::lanes::{Lane, LaneId, Lanes};
use crate::relations::relation::Relation;
use crate::sections::candidates::{Candidate, Open};
use crate::sections::table::{NO_LOCKSET, Sections};
use crate::shadow::record::{LockBits, Record};

/// For each class of each table, the classes that it covers, a bit each.
#[derive(Clone, Debug)]
pub(crate) struct CoverTable {
    tables: Vec<[u32; 32]>,
    /// The classes that conflict with themselves.
    heavy: Vec<u32>,
}

impl CoverTable {
    /// Computes them.
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

    /// Returns the classes that a class of a table covers, a bit each.
    #[inline]
    pub(crate) fn of(&self, table: usize, class: Class) -> u32 {
        self.tables.get(table).map_or(0, |classes| classes[usize::from(class.0 & 31)])
    }

    /// Returns the classes of a table that conflict with themselves, a bit each.
    #[inline]
    pub(crate) fn heavy(&self, table: usize) -> u32 {
        self.heavy.get(table).copied().unwrap_or(0)
    }
}

/// The result of the fast path for an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Quick {
    /// It has been applied.
    Done,
    /// The lane knows all conflicting records; the action has not been recorded.
    Ordered,
    /// Nothing.
    Slow,
}

/// An action, ready to be compared.
#[derive(Clone, Copy)]
pub(crate) struct Question<'e> {
    pub(crate) lane: &'e Lane,
    id: LaneId,
    table: &'e ClassTable,
    class: Class,
    pub(crate) conflicting: u32,
    pub(crate) covering: u32,
    lockset: u32,
    locks: LockBits,
    /// The pairs whose second sections the lane has not released.
    pub(crate) pairs: &'e [Candidate],
}

impl<'e> Question<'e> {
    #[inline(always)]
    pub(crate) fn new(
        act: Act,
        new: &Record,
        (lanes, open): (&'e Lanes, &'e [Open]),
        table: &'e ClassTable,
        cover_table: &CoverTable,
    ) -> Question<'e> {
        Question {
            lane: lanes.get(act.lane),
            id: act.lane,
            table,
            class: act.class,
            conflicting: table.conflicting(act.class),
            covering: cover_table.of(usize::from(act.table), act.class),
            lockset: new.lockset,
            locks: new.locks(),
            pairs: open.get(act.lane).map_or(&[], |open| &open.pairs),
        }
    }

    /// Returns whether the record gives no reason to learn or to report, and counts it in
    /// `together`.
    #[inline(always)]
    fn is_settled<R: Relation>(
        &self,
        sections: &Sections,
        old: &Record,
        together: &mut u64,
    ) -> bool {
        if self.conflicting >> old.class().0 & 1 == 0 || old.slot() == self.lane.slot {
            return true;
        }
        if !R::SECTIONS || !old.locks().may_meet(self.locks) {
            return old.count() <= self.lane.clock.get(old.slot());
        }
        self.pairs.is_empty() && self.knows_sections(sections, old, together)
    }

    /// Returns whether the lane knows the releases of all sections that a record lies in; counts
    /// the record if the access lies in such a one, too.
    #[inline]
    fn knows_sections(&self, sections: &Sections, old: &Record, together: &mut u64) -> bool {
        let mut common = false;
        for section in &*sections.of_lockset(old.lockset) {
            let s = sections.section(*section);
            if !sections.is_known(*section, s.slot, &self.lane.clock) {
                return false;
            }
            let held = sections.held(self.id);
            common |= held.iter().any(|h| h.lock == s.lock && !(h.shared && s.shared));
        }
        *together += u64::from(common && self.table.is_reported(self.class, old.class()));
        true
    }

    /// Returns whether the action represents a record for all later accesses.
    #[inline(always)]
    pub(crate) fn covers<R: Relation>(&self, sections: &Sections, old: &Record) -> bool {
        self.covering >> old.class().0 & 1 != 0
            && (old.slot() == self.lane.slot || old.count() <= self.lane.clock.get(old.slot()))
            && (!R::SECTIONS
                || old.lockset == self.lockset
                || old.lockset == NO_LOCKSET
                || self.covers_sections(sections, old))
    }

    /// Returns whether the locks held do for later accesses what those of a record do.
    #[inline]
    fn covers_sections(&self, sections: &Sections, old: &Record) -> bool {
        old.locks().may_be_in(self.locks)
            && sections.covers(self.lane, self.id, old.lockset)
            // A clock known only by a pair's own edge may still be learnt by another edge.
            && !self.pairs.iter().any(|pair| pair.has_any(&sections.of_lockset(old.lockset)))
    }
}

impl<R: Relation, S: Specification> Engine<R, S> {
    /// Applies an action if that is easy.
    #[inline(always)]
    pub(crate) fn quick(&mut self, act: Act, new: Record) -> Quick {
        let Engine { cells, lanes, sections, table, own_tables, cover_table, open, .. } = self;
        let table = act.table(table, own_tables);
        let question = Question::new(act, &new, (lanes, open), table, cover_table);
        let cell = &mut cells[act.space][act.index];
        let (first, second) = (cell.newest, cell.second());
        let mut together = 0;
        // Records that are none have no count, and so are known.
        if !(question.is_settled::<R>(sections, &first, &mut together)
            && question.is_settled::<R>(sections, &second, &mut together))
        {
            return Quick::Slow;
        }
        if cell.more() != 0 {
            let pool = &self.pool;
            if pool.classes(cell.more()) & question.conflicting != 0
                && !pool
                    .items(cell.more())
                    .iter()
                    .all(|old| question.is_settled::<R>(sections, old, &mut together))
            {
                return Quick::Slow;
            }
            if self.looks_for_candidates() {
                self.report.counts.ordered += together;
            }
            return Quick::Ordered;
        }
        let drops_first = !first.is_some() || question.covers::<R>(sections, &first);
        let drops_second = !second.is_some() || question.covers::<R>(sections, &second);
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
