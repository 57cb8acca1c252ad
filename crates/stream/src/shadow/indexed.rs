//! Actions on objects whose records are indexed by lock.
//!
//! The records in the object's cell serve only for races. A later record that is ordered after one
//! replaces it, whatever locks the two were under. Accesses learn from sections through the entries
//! in [`ByLock`](crate::shadow::by_lock::ByLock).

use crate::class::{Class, Specification};
use crate::options::Candidates;
use crate::relations::engine::{Act, Engine};
use crate::relations::relation::Relation;
use crate::sections::table::{LocksetUses, NO_LOCKSET};
use crate::shadow::by_lock::Entry;
use crate::shadow::record::Record;
use crate::shadow::slot_list::OfSlot;
use std::collections::BTreeSet;

impl<R: Relation, S: Specification> Engine<R, S> {
    /// Indexes objects with more than `records` records by lock; the default is 8. The setting does
    /// not affect orders and the second events of racy pairs. It affects speed and which first
    /// events are listed.
    #[must_use]
    pub fn index_above(mut self, records: usize) -> Engine<R, S> {
        self.list_max = records.saturating_sub(2);
        self
    }

    /// Shares the sets of sections that more than `sections` were open for; the default is 8. The
    /// setting affects speed and memory only.
    #[must_use]
    pub fn nest_above(mut self, sections: usize) -> Engine<R, S> {
        self.sections.nest_above(sections);
        self
    }

    /// Keeps the records of an object by class from a list of `records` on; the default is 24. The
    /// setting affects speed and which first events are listed only.
    #[must_use]
    pub fn apart_above(mut self, records: usize) -> Engine<R, S> {
        self.pool.wide = records;
        self.by_locks.keep_apart_above(records);
        self
    }

    /// Returns how many lists of records, and of records of one lock, became long enough for that.
    #[must_use]
    pub fn lists_apart(&self) -> [u64; 2] {
        [self.pool.widened, self.by_locks.widened()]
    }

    /// Returns how often the analysis has used what makes many locks held at once cheap.
    #[must_use]
    pub fn lockset_uses(&self) -> LocksetUses {
        self.sections.uses
    }

    /// Returns whether the lane knows all conflicting records, and all sections that would teach
    /// the action something.
    #[inline]
    pub(crate) fn knows_indexed(&mut self, act: Act) -> bool {
        let Engine { cells, by_locks, sections, table, own_tables, lanes, pool, open, .. } = self;
        if !open[act.lane].pairs.is_empty() {
            return false;
        }
        let table = act.table(table, own_tables);
        let lane = lanes.get(act.lane);
        let cell = &cells[act.space][act.index];
        let conflicting = table.conflicting(act.class);
        let conflicts = |slot, class: Class| slot != lane.slot && conflicting >> class.0 & 1 != 0;
        let mut together = 0;
        for held in sections.held(act.lane).iter() {
            let known = by_locks.all((cell.by_lock, held.lock), conflicting, |entry| {
                let (slot, class) = (entry.slot(), entry.class());
                let conflicts = conflicts(slot, class);
                together += u64::from(conflicts && table.is_reported(act.class, class));
                // An open section has no clock to learn; a conflict with it is a race.
                !conflicts || sections.released(entry.section()) <= lane.clock.get(slot)
            });
            if !known {
                return false;
            }
        }
        // The records of the cell serve for races only.
        let reported = table.reported_with(act.class);
        let known = cell.all(pool, reported, |record| {
            record.slot() == lane.slot
                || reported >> record.class().0 & 1 == 0
                || record.count() <= lane.clock.get(record.slot())
        });
        if known && self.looks_for_candidates() {
            self.report.counts.ordered += together;
        }
        known
    }

    /// Makes an action the newest of its object, and drops the records that it covers.
    pub(crate) fn remember_indexed(&mut self, act: Act, new: Record) {
        let printed = self.options.candidates == Candidates::AsPrinted;
        let Engine {
            cells,
            by_locks,
            sections,
            lanes,
            table,
            own_tables,
            cover_table,
            open,
            pool,
            ..
        } = self;
        let table = act.table(table, own_tables);
        let pairs = open.get(act.lane).map_or(&[][..], |open| &open.pairs);
        let lane = lanes.get(act.lane);
        let cell = &mut cells[act.space][act.index];
        let conflicting = table.conflicting(act.class);
        let heavy = cover_table.heavy(usize::from(act.table));
        let covering = cover_table.of(usize::from(act.table), act.class);
        let covers = |old: Class| covering >> old.0 & 1 != 0;
        let reported = table.reported_with(act.class);
        let waits = !printed && pool.may_wait(cell.more(), act.class, reported);
        sections.keep_lockset(new.lockset);
        if waits && let Some(old) = cell.replace(pool, new, (true, conflicting)) {
            sections.drop_lockset(old.lockset);
        } else {
            let sweep = if waits { 0 } else { pool.to_sweep(cell.more(), covering, reported) };
            cell.add(pool, new, (sweep, heavy), |old| {
                let covered = covers(old.class())
                    && (old.slot() == lane.slot || old.count() <= lane.clock.get(old.slot()))
                    && (!printed || old.lockset == NO_LOCKSET || old.lockset == new.lockset);
                if covered {
                    sections.drop_lockset(old.lockset);
                }
                covered
            });
        }
        let held_count = sections.held(act.lane).count();
        for place in 0..sections.held(act.lane).places_count() {
            let Some(held) = sections.held(act.lane).get_at(place) else { continue };
            sections.keep_lockset(new.lockset);
            let entry = Entry::new(&new, held.section, held.shared);
            by_locks.add((cell.by_lock, held.lock), (entry, conflicting), |old| {
                let covered = covers(old.class())
                    && (!held.shared || old.is_shared())
                    && (old.slot() == lane.slot
                        || sections.is_known(old.section(), old.slot(), &lane.clock))
                    // A clock known only by a pair's own edge may still be learnt by another edge.
                    && !pairs
                        .iter()
                        .any(|pair| pair.has_one(sections, act.lane, (old.slot(), old.section())));
                if covered {
                    sections.drop_lockset(old.record().lockset);
                }
                covered
            });
        }
        if cell.has_one() && by_locks.len(cell.by_lock) == held_count {
            by_locks.free(cell.by_lock, |entry| sections.drop_lockset(entry.record().lockset));
            cell.by_lock = 0;
        }
    }

    /// Lets an object keep its records in a list from now on.
    pub(crate) fn list_records(&mut self, (space, index): (usize, usize)) {
        let Engine { cells, by_locks, sections, pool, .. } = self;
        let cell = &mut cells[space][index];
        if std::mem::replace(&mut cell.is_listed, true) || cell.by_lock == 0 {
            return;
        }
        let mut entries: Vec<Record> = Vec::new();
        by_locks.free(cell.by_lock, |entry| entries.push(entry.record()));
        cell.by_lock = 0;
        let key = |record: &Record| (record.event(), record.class().0);
        let mut known: BTreeSet<(u64, u8)> = cell.records(pool).map(key).collect();
        for record in entries {
            if known.insert(key(&record)) {
                cell.append(pool, record);
            } else {
                sections.drop_lockset(record.lockset);
            }
        }
    }

    /// Indexes the records of an object by lock.
    pub(crate) fn index_by_lock(&mut self, (space, index): (usize, usize)) {
        let Engine { cells, by_locks, sections, pool, .. } = self;
        let number = by_locks.make();
        for record in cells[space][index].records(pool) {
            let of_record: Vec<u32> = sections.of_lockset(record.lockset).collect();
            for section in of_record {
                let (lock, shared) = {
                    let section = sections.section(section);
                    (section.lock, section.shared)
                };
                sections.keep_lockset(record.lockset);
                let entry = Entry::new(record, section, shared);
                by_locks.add((number, lock), (entry, u32::MAX), |_| false);
            }
        }
        cells[space][index].by_lock = number;
    }
}
