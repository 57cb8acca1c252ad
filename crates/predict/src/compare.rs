//! What an action is compared with: the records of its object, for races and for candidates.

use crate::candidates::{Candidate, Common};
use crate::class::Specification;
use crate::engine::{Act, Engine};
use crate::options::Candidates;
use crate::relation::Relation;
use crate::report::{Object, Violation, ViolationKind};
use crate::sections::Sections;
use crate::shadow::{LockBits, Record};
use anyorder_order::Clock;
use anyorder_trace::LocationId;

/// Lists used by one access, kept for their room.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// Conflicting records without a common lock.
    apart: Vec<Record>,
    /// Conflicting records with common locks: which part of `common` is theirs.
    together: Vec<(Record, usize, usize)>,
    /// Sections that the access learns from.
    common: Vec<u32>,
    /// The newest record that the access communicates with.
    observed: Option<Record>,
}

impl<R: Relation, S: Specification> Engine<R, S> {
    /// Compares an action with the records it conflicts with, and learns from critical sections; returns whether it races
    /// with none.
    pub(crate) fn compare(&mut self, act: Act, locks: LockBits) -> bool {
        self.collect(act, locks);
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
            let section = self.sections.section(section);
            if section.released > self.lanes.get(act.lane).clock.get(section.slot) {
                self.lanes.join(act.lane, &section.clock);
            }
        }
        if !printed {
            quiet = self.report_races(act);
        }
        quiet
    }

    /// Fills the scratch lists with the conflicting records of other slots.
    fn collect(&mut self, act: Act, locks: LockBits) {
        let Engine { cells, overlaps, sections, scratch, table, lanes, pool, .. } = self;
        let lane = lanes.get(act.lane);
        scratch.apart.clear();
        scratch.together.clear();
        scratch.common.clear();
        scratch.observed = None;
        let others = if act.space == 0 { overlaps.of(act.index as u32) } else { &[] };
        let indices = std::iter::once(act.index).chain(others.iter().map(|o| *o as usize));
        for record in indices.flat_map(|index| cells[act.space][index].records(pool)) {
            if !table.conflicts(act.class, record.class()) {
                continue;
            }
            if table.observes(act.class, record.class())
                && scratch.observed.is_none_or(|other| other.event() < record.event())
            {
                scratch.observed = Some(*record);
            }
            if record.slot() == lane.slot {
                continue;
            }
            let from = scratch.common.len();
            if record.locks().may_meet(locks) {
                sections.common(record.hold, act.lane, &mut scratch.common);
            }
            if scratch.common.len() > from {
                scratch.together.push((*record, from, scratch.common.len()));
            } else if record.count() > lane.clock.get(record.slot()) {
                scratch.apart.push(*record);
            }
        }
    }

    /// Returns whether there was no race to report.
    fn report_races(&mut self, act: Act) -> bool {
        let lane = self.lanes.get(act.lane);
        let mut quiet = true;
        for record in &self.scratch.apart {
            let unordered = record.count() > lane.clock.get(record.slot());
            if unordered && self.table.is_reported(act.class, record.class()) {
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
        let Engine { open, sections, scratch, report, options, overlaps, .. } = self;
        if scratch.common.is_empty()
            || open[act.lane].pairs.is_empty()
            || options.candidates == Candidates::AsPrinted
        {
            return;
        }
        let overlaps = |cell: usize| {
            act.space == 0
                && cell & 1 == 0
                && overlaps.of(act.index as u32).contains(&((cell >> 1) as u32))
        };
        report.counts.ordered += open[act.lane].drop_if(sections, |pair, sections| {
            scratch.common.iter().any(|&section| {
                let own = (pair.cell == cell_key(act) || overlaps(pair.cell))
                    && pair.has(section)
                    && !communicates(scratch.observed.as_ref(), section, sections);
                !own && pair.is_ordered_by(&sections.section(section).clock)
            })
        });
    }

    /// Opens a candidate for each record under a common lock that nothing else orders.
    fn open_pairs(&mut self, act: Act, printed: bool) {
        let Engine { open, sections, scratch, report, lanes, table, options, .. } = self;
        for (record, from, to) in &scratch.together {
            if !table.is_reported(act.class, record.class()) {
                continue;
            }
            let own = &scratch.common[*from..*to];
            let clock = &lanes.get(act.lane).clock;
            let ordered_by = |clock: &Clock| {
                let known = clock.get(record.slot());
                own.iter().any(|section| sections.section(*section).acquired <= known)
            };
            let ordered = if printed {
                record.count() <= clock.get(record.slot())
            } else {
                let mut others = scratch.common.iter().filter(|section| !own.contains(section));
                ordered_by(clock)
                    || own.iter().any(|s| communicates(scratch.observed.as_ref(), *s, sections))
                    || others.any(|section| ordered_by(&sections.section(*section).clock))
            };
            if ordered {
                report.counts.ordered += 1;
            } else if open[act.lane].pairs.len() >= options.open_max {
                report.counts.candidates_lost += 1;
            } else {
                let of = |&section: &u32| {
                    let s = sections.section(section);
                    Common { lock: s.lock, section, acquired: s.acquired, open: true }
                };
                let candidate = Candidate {
                    violation: violation(ViolationKind::NonRacy, act, record),
                    cell: cell_key(act),
                    slot: record.slot(),
                    count: record.count(),
                    common: own.iter().map(of).collect(),
                };
                open[act.lane].push(sections, candidate);
            }
        }
    }
}

/// Returns whether the access that communicates with `observed` does so with an action in a section.
fn communicates(observed: Option<&Record>, section: u32, sections: &Sections) -> bool {
    observed.is_some_and(|record| sections.of_hold(record.hold).contains(&section))
}

const fn cell_key(act: Act) -> usize {
    act.index << 1 | act.space
}

fn violation(kind: ViolationKind, act: Act, first: &Record) -> Violation {
    let object = match act.space {
        0 => Object::Location(LocationId(act.index as u32)),
        _ => Object::Own(act.index as u32),
    };
    Violation { kind, object, first: first.side(), second: act.side }
}
