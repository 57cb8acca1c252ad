//! Compares an action with the records of its object, for races and for candidates.

use crate::class::Specification;
use crate::options::Candidates;
use crate::relations::engine::{Act, Engine};
use crate::relations::relation::Relation;
use crate::report::{Object, Violation, ViolationKind};
use crate::sections::candidates::{Candidate, Common, CommonLocks};
use crate::sections::ends::Ends;
use crate::sections::table::Sections;
use crate::shadow::record::{LockBits, Record};
use anyorder_order::ChainId;
use anyorder_trace::LocationId;

/// Reused lists of one access.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// The actions of an event of the specification.
    pub(crate) acts: Vec<Act>,
    /// Conflicting records without a common lock, to be reported.
    apart: Vec<Record>,
    /// Conflicting records with common locks, to be reported, with their ranges in `common`.
    together: Vec<(Record, usize, usize)>,
    /// Sections that the access learns from.
    common: Vec<u32>,
    /// Ends of locksets in `common` that stand for the sections between them, too, with the
    /// locksets.
    ends: Vec<(u32, u32)>,
    /// The slots and locksets of those ends that are two sections.
    apart_ends: Vec<(ChainId, u32)>,
    /// The newest record that the access communicates with.
    observed: Option<Record>,
}

impl Scratch {
    /// Returns whether an action must be compared with an event.
    fn has(&self, event: u64) -> bool {
        self.apart.iter().any(|record| record.event() == event)
            || self.together.iter().any(|(record, ..)| record.event() == event)
    }
}

impl<R: Relation, S: Specification> Engine<R, S> {
    /// Compares an action with the records that it conflicts with, and learns from critical
    /// sections. Returns whether it races with none of them. The caller passes the action for each
    /// cell that it touches; all cells belong to one object.
    pub(crate) fn compare(&mut self, acts: &[Act], locks: LockBits) -> bool {
        let act = acts[0];
        self.collect_all(acts, locks, false);
        if !self.scratch.ends.is_empty() && self.needs_all_common(act) {
            self.collect_all(acts, locks, true);
        }
        if !self.scratch.common.is_empty() {
            acts.iter().for_each(|act| self.observe(*act));
        }
        let printed = self.options.candidates == Candidates::AsPrinted;
        let mut quiet = true;
        if printed {
            quiet = self.report_races(act);
        }
        if self.looks_for_candidates() {
            self.close_ordered(act);
            self.open_pairs(act, printed);
        }
        for &section in &self.scratch.common {
            self.sections.learn(&mut self.lanes, act.lane, section);
        }
        if !printed {
            quiet = self.report_races(act);
        }
        quiet
    }

    /// Puts the conflicting records of other slots into the scratch lists. With `all`, each common
    /// section is listed; else the ends of a lockset may stand for those between them.
    fn collect_all(&mut self, acts: &[Act], locks: LockBits, all: bool) {
        self.scratch.apart.clear();
        self.scratch.together.clear();
        self.scratch.common.clear();
        self.scratch.ends.clear();
        self.scratch.apart_ends.clear();
        self.scratch.observed = None;
        for act in acts {
            self.collect(*act, (locks, all));
        }
    }

    /// Returns whether sections that stand for others are not enough: another record is in some of
    /// those and maybe not in all, or an open pair of the object may be.
    fn needs_all_common(&mut self, act: Act) -> bool {
        let Scratch { ends, apart_ends, common, .. } = &mut self.scratch;
        ends.sort_unstable();
        let differ = |same: &[(u32, u32)]| same.iter().any(|(_, other)| *other != same[0].1);
        let several = ends.chunk_by(|a, b| a.0 == b.0).any(differ);
        let stands = |section: &&u32| ends.binary_search_by_key(*section, |e| e.0).is_ok();
        if several || common.iter().filter(stands).count() > ends.len() {
            return true;
        }
        // Two sets that share sections share an end of one of them, which the tests above find
        // unless it lies inside the other.
        apart_ends.sort_unstable();
        if apart_ends.windows(2).any(|two| two[0].0 == two[1].0 && two[0].1 != two[1].1) {
            self.sections.uses.crossing_sets += 1;
            return true;
        }
        let key = cell_key(act);
        let slot = |(section, _): &(u32, u32)| self.sections.section(*section).slot;
        let pairs = self.open.get(act.lane).map_or(&[][..], |open| &open.pairs);
        pairs.iter().any(|pair| {
            (pair.cell == key || self.overlaps(act, pair.cell))
                && self.scratch.ends.iter().any(|e| slot(e) == pair.slot)
        })
    }

    /// Returns whether a cell is of another location that overlaps that of an action.
    fn overlaps(&self, act: Act, cell: usize) -> bool {
        act.space == 0
            && cell & 1 == 0
            && self.overlaps.of(act.index as u32).contains(&((cell >> 1) as u32))
    }

    /// Adds the conflicting records of other slots to the scratch lists.
    fn collect(&mut self, act: Act, how: (LockBits, bool)) {
        self.collect_from(act, how, act.index);
        if act.space == 0 {
            for at in 0..self.overlaps.of(act.index as u32).len() {
                let other = self.overlaps.of(act.index as u32)[at] as usize;
                self.collect_from(act, how, other);
            }
        }
    }

    fn collect_from(&mut self, act: Act, (locks, all): (LockBits, bool), index: usize) {
        let by_lock = self.cells[act.space][index].by_lock;
        if by_lock != 0 {
            self.collect_by_lock(act, by_lock);
        }
        let Engine { cells, sections, scratch, table, own_tables, lanes, pool, options, .. } = self;
        let table = act.table(table, own_tables);
        let lane = lanes.get(act.lane);
        // Records under common locks were found by their locks. They are known once those sections
        // are joined.
        let looks = by_lock == 0 || options.candidates == Candidates::AsPrinted;
        let compared = match looks {
            true => Self::compared(table, act.class, locks),
            false => table.reported_with(act.class),
        };
        for record in cells[act.space][index].of_classes(pool, compared) {
            if compared >> record.class().0 & 1 == 0 || record.slot() == lane.slot {
                continue;
            }
            if act.space != 0 && scratch.has(record.event()) {
                // The action has touched several cells, or one cell in several ways.
                continue;
            }
            let reported = table.is_reported(act.class, record.class());
            let from = scratch.common.len();
            if looks && record.locks().may_meet(locks) {
                match sections.common_ends(record.lockset, act.lane).filter(|_| !all) {
                    Some(Ends { first, last }) => {
                        scratch.common.push(first);
                        scratch.ends.push((first, record.lockset));
                        if first != last {
                            scratch.common.push(last);
                            scratch.ends.push((last, record.lockset));
                            scratch.apart_ends.push((record.slot(), record.lockset));
                        }
                    }
                    None => sections.common(record.lockset, act.lane, &mut scratch.common),
                }
            }
            if scratch.common.len() > from {
                if reported && by_lock == 0 {
                    scratch.together.push((*record, from, scratch.common.len()));
                }
            } else if reported && record.count() > lane.clock.get(record.slot()) {
                scratch.apart.push(*record);
            }
        }
    }

    /// Finds the newest record that an action communicates with.
    fn observe(&mut self, act: Act) {
        let Engine { cells, scratch, table, own_tables, pool, overlaps, .. } = self;
        let observed = act.table(table, own_tables).observed_by(act.class);
        let mut observe = |index: usize| {
            for record in cells[act.space][index].of_classes(pool, observed) {
                if observed >> record.class().0 & 1 != 0
                    && scratch.observed.is_none_or(|other| other.event() < record.event())
                {
                    scratch.observed = Some(*record);
                }
            }
        };
        observe(act.index);
        if act.space == 0 {
            overlaps.of(act.index as u32).iter().for_each(|other| observe(*other as usize));
        }
    }

    /// Adds the conflicting records that are indexed by lock.
    fn collect_by_lock(&mut self, act: Act, by_lock: u32) {
        let Engine { by_locks, sections, scratch, table, own_tables, lanes, .. } = self;
        let table = act.table(table, own_tables);
        let lane = lanes.get(act.lane);
        for held in sections.held(act.lane).iter() {
            for entry in by_locks.entries(by_lock, held.lock) {
                let record = entry.record();
                if record.slot() == lane.slot
                    || !table.conflicts(act.class, record.class())
                    || (held.shared && entry.is_shared())
                    || sections.released(entry.section()) == 0
                    || scratch.has(record.event())
                {
                    continue;
                }
                let from = scratch.common.len();
                sections.common(record.lockset, act.lane, &mut scratch.common);
                if table.is_reported(act.class, record.class()) {
                    scratch.together.push((record, from, scratch.common.len()));
                }
            }
        }
    }

    /// Reports races. Returns whether there was none to report.
    fn report_races(&mut self, act: Act) -> bool {
        let lane = self.lanes.get(act.lane);
        let mut quiet = true;
        for record in &self.scratch.apart {
            let unordered = record.count() > lane.clock.get(record.slot());
            if unordered {
                quiet = false;
                let violation = violation(ViolationKind::Racy, act, record);
                self.report.add(self.options.violations_max, violation);
            }
        }
        self.report.counts.racy_seconds += u64::from(!quiet);
        quiet
    }

    /// Drops the open pairs that the clocks about to be learnt order.
    fn close_ordered(&mut self, act: Act) {
        if self.scratch.common.is_empty()
            || self.open[act.lane].pairs.is_empty()
            || self.options.candidates == Candidates::AsPrinted
        {
            return;
        }
        let Engine { open, sections, scratch, report, overlaps, .. } = self;
        let overlaps = |cell: usize| {
            act.space == 0
                && cell & 1 == 0
                && overlaps.of(act.index as u32).contains(&((cell >> 1) as u32))
        };
        let is_same = |cell: usize| cell == cell_key(act) || overlaps(cell);
        open[act.lane].list_all(sections, act.lane, |pair| is_same(pair.cell));
        report.counts.ordered += open[act.lane].drop_if(sections, |pair, sections| {
            let is_same = is_same(pair.cell);
            scratch.common.iter().any(|&section| {
                let own = is_same
                    && pair.has(sections, section)
                    && !communicates(scratch.observed.as_ref(), section, sections);
                !own && pair.is_ordered_by(sections.known_at_release(section, pair.slot))
            })
        });
    }

    /// Opens a candidate for each record under a common lock that no other edge orders.
    fn open_pairs(&mut self, act: Act, printed: bool) {
        let Engine { open, sections, scratch, report, lanes, options, .. } = self;
        for (record, from, to) in &scratch.together {
            let own = &scratch.common[*from..*to];
            let clock = &lanes.get(act.lane).clock;
            let ordered_by =
                |known: u32| own.iter().any(|section| sections.section(*section).acquired <= known);
            let ordered = if printed {
                record.count() <= clock.get(record.slot())
            } else {
                let mut others = scratch.common.iter().filter(|section| !own.contains(section));
                ordered_by(clock.get(record.slot()))
                    || own.iter().any(|s| communicates(scratch.observed.as_ref(), *s, sections))
                    || others.any(|s| ordered_by(sections.known_at_release(*s, record.slot())))
            };
            if ordered {
                report.counts.ordered += 1;
            } else if open[act.lane].pairs.len() >= options.open_max {
                report.counts.candidates_lost += 1;
            } else {
                let first = |section: &u32| Common::of(sections, *section);
                let ends = match *own {
                    [one] => Some(Ends { first: one, last: one }),
                    [first, last] => Some(Ends { first, last }),
                    _ => None,
                };
                let is_end = |end: u32| scratch.ends.contains(&(end, record.lockset));
                let common = match ends.filter(|ends| is_end(ends.first)) {
                    Some(ends) => {
                        sections.uses.pairs_of_ends += 1;
                        sections.uses.pairs_of_two_ends += u64::from(!ends.is_one());
                        CommonLocks::between(sections, act.lane, (record.lockset, ends))
                    }
                    None => CommonLocks::all(own.iter().map(first).collect()),
                };
                let candidate = Candidate {
                    violation: violation(ViolationKind::NonRacy, act, record),
                    cell: cell_key(act),
                    slot: record.slot(),
                    count: record.count(),
                    common,
                };
                open[act.lane].push(sections, candidate);
            }
        }
    }
}

/// Returns whether the access communicates with `observed` by an action in a section.
fn communicates(observed: Option<&Record>, section: u32, sections: &Sections) -> bool {
    observed.is_some_and(|record| sections.contains(record.lockset, section))
}

const fn cell_key(act: Act) -> usize {
    (act.object as usize) << 1 | act.space
}

fn violation(kind: ViolationKind, act: Act, first: &Record) -> Violation {
    let object = match act.space {
        0 => Object::Location(LocationId(act.index as u32)),
        _ => Object::Own(act.object),
    };
    Violation { kind, object, first: first.side(), second: act.side }
}
