//! The streaming analyses HB, WDC and EDC: one engine, three relations.
//!
//! **Problem.** For each action of a trace tell whether some earlier action does not commute with it and is not ordered
//! before it (racy), or is ordered only by the critical sections of the two (non-racy candidate).
//!
//! **Source.** WDC: Algorithm 1, EDC: Algorithm 2 of the thesis on OVPredict (chapter 3), corrected. HB with epochs: Flanagan and Freund,
//! FastTrack, PLDI 2009.
//!
//! **Guarantee.** The orders are exactly those of `docs/prediction.md`, and so are the second events of racy pairs.
//!
//! **Deviations.** (1) Races are tested after the clock has learnt from critical sections, not before. (2) An object keeps
//! several records where FastTrack keeps one: after a race the last write alone would hide later ones. (3) Release clocks are not kept
//! for each pair of lock and object but for each section that a record still names. (4) Candidates: see `candidates.rs`.
//!
//! **Cost.** O(1) for an access that repeats the last one of its object in the same epoch and under the same locks; else one
//! comparison for each record of the object, and for each record under a common lock at most one join of clocks.

use crate::analysis::{Analysis, Stamp, Step};
use crate::candidates::{Candidate, Common, Open};
use crate::class::{Class, ClassTable, Point, Specification};
use crate::error::PredictError;
use crate::hard::{Hard, HardEvent};
use crate::lanes::{LaneId, Lanes};
use crate::lock_clocks::LockClocks;
use crate::options::{Candidates, Options};
use crate::overlaps::Overlaps;
use crate::relation::Relation;
use crate::report::{Object, Report, Side, Violation, ViolationKind};
use crate::sections::{NO_HOLD, Sections};
use crate::shadow::{Cell, Pool, Record, epoch};
use anyorder_order::Clock;
use anyorder_trace::{EventKind, LocationId, Tables};
use std::marker::PhantomData;

/// How many objects a specification may have.
const OBJECTS_MAX: u32 = 1 << 28;

/// A streaming analysis by relation `R`, of memory accesses and the actions of specification `S`.
#[derive(Clone, Debug)]
pub struct Engine<R, S> {
    options: Options,
    spec: S,
    table: ClassTable,
    lanes: Lanes,
    hard: Hard,
    locks: LockClocks,
    sections: Sections,
    overlaps: Overlaps,
    /// Shadow state of memory locations, and of the specification's objects.
    cells: [Vec<Cell>; 2],
    pool: Pool,
    open: Vec<Open>,
    report: Report,
    scratch: Scratch,
    points: Vec<Point>,
    last: Option<(LaneId, Stamp)>,
    relation: PhantomData<R>,
}

/// Lists used by one access, kept for their room.
#[derive(Clone, Debug, Default)]
struct Scratch {
    /// Conflicting records without a common lock.
    apart: Vec<Record>,
    /// Conflicting records with common locks: which part of `common` is theirs.
    together: Vec<(Record, usize, usize)>,
    /// Sections that the access learns from.
    common: Vec<u32>,
    /// The newest record that the access communicates with.
    observed: Option<Record>,
}

/// An action about to be applied.
#[derive(Clone, Copy, Debug)]
struct Act {
    lane: LaneId,
    space: usize,
    index: usize,
    class: Class,
    side: Side,
}

impl<R: Relation, S: Specification> Engine<R, S> {
    /// Makes an analysis.
    pub fn new(spec: S, options: Options) -> Engine<R, S> {
        Engine {
            options,
            table: spec.classes(),
            spec,
            lanes: Lanes::default(),
            hard: Hard::default(),
            locks: LockClocks::default(),
            sections: Sections::default(),
            overlaps: Overlaps::default(),
            cells: [Vec::new(), Vec::new()],
            pool: Pool::default(),
            open: Vec::new(),
            report: Report::default(),
            scratch: Scratch::default(),
            points: Vec::new(),
            last: None,
            relation: PhantomData,
        }
    }

    /// Returns the stamp of the event taken last.
    #[must_use]
    pub fn stamp(&self) -> Option<Stamp> {
        self.last.map(|(_, stamp)| stamp)
    }

    /// Returns whether an event is ordered before, or is, the event taken last.
    #[must_use]
    pub fn knows(&self, stamp: Stamp) -> bool {
        self.last.is_some_and(|(lane, _)| self.lanes.get(lane).clock.get(stamp.slot) >= stamp.count)
    }

    /// Returns the number of places in clocks: lanes, less those that go on in the place of another.
    #[must_use]
    pub fn slots_count(&self) -> u32 {
        self.lanes.slots_count()
    }

    /// Returns how many critical sections are remembered now, and how many were at the same time at the most.
    #[must_use]
    pub fn sections_counts(&self) -> (usize, usize) {
        self.sections.counts()
    }

    /// Returns the pairs of the lane that are open, if there may be any.
    #[inline]
    const fn looks_for_candidates(&self) -> bool {
        R::SECTIONS && !matches!(self.options.candidates, Candidates::Off)
    }

    fn access(&mut self, lane: LaneId, step: Step) -> Result<(), PredictError> {
        let index = step.operand as usize;
        if index >= self.cells[0].len() {
            let (event, index) = (step.event, step.operand);
            return Err(PredictError::Unknown { event, what: "location", index });
        }
        self.report.counts.accesses += 1;
        let side = Side { event: step.event, site: step.site };
        let act = Act { lane, space: 0, index, class: Class::of_access(step.op), side };
        if !self.hard.minds_access(step.op) {
            self.act(act);
            return Ok(());
        }
        let (open, sections, counts) =
            (&mut self.open, &mut self.sections, &mut self.report.counts);
        self.hard.before_access(
            &mut self.lanes,
            lane,
            (step.op, step.operand),
            &mut |lane, clock| {
                counts.ordered += learn(open, sections, lane, clock);
            },
        );
        self.act(act);
        self.hard.after_access(&mut self.lanes, lane, (step.op, step.operand));
        Ok(())
    }

    #[inline]
    fn act(&mut self, act: Act) {
        let lane = self.lanes.get(act.lane);
        let now = epoch(lane.slot, lane.now);
        let hold = if R::SECTIONS { self.sections.hold(act.lane) } else { NO_HOLD };
        let cell = &mut self.cells[act.space][act.index];
        let newest = &cell.newest;
        let same = newest.epoch == now && newest.class() == act.class && newest.hold == hold;
        let lonely = act.space != 0 || self.overlaps.of(act.index as u32).is_empty();
        if same && newest.is_quiet() && lonely {
            return;
        }
        let new = Record::new(now, act.side, hold, act.class, true);
        if lonely && cell.classes & self.table.conflicting(act.class) == 0 {
            // Nothing here conflicts. What is like the new record gives way to it, wherever it is.
            match cell.find(&mut self.pool, &new) {
                Some(old) => *old = new,
                None => self.remember(act, new),
            }
            return;
        }
        let alone = lonely && cell.is_single() && (cell.newest.epoch ^ now) >> 32 == 0;
        let quiet = alone || self.compare(act, hold);
        self.remember(act, Record::new(now, act.side, hold, act.class, quiet));
    }

    /// Compares an action with the records it conflicts with, and learns from critical sections; returns whether it races
    /// with none.
    fn compare(&mut self, act: Act, hold: u32) -> bool {
        self.collect(act, hold);
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
    fn collect(&mut self, act: Act, hold: u32) {
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
            if hold != NO_HOLD && record.hold != NO_HOLD {
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
            let clock = &lanes.get(act.lane).clock;
            let ordered = if printed {
                candidate.count <= clock.get(candidate.slot)
            } else {
                let others = scratch.common.iter().filter(|section| !own.contains(section));
                candidate.is_ordered_by(clock)
                    || own.iter().any(|s| communicates(scratch.observed.as_ref(), *s, sections))
                    || others
                        .into_iter()
                        .any(|s| candidate.is_ordered_by(&sections.section(*s).clock))
            };
            if ordered {
                report.counts.ordered += 1;
            } else if open[act.lane].pairs.len() >= options.open_max {
                report.counts.candidates_lost += 1;
            } else {
                open[act.lane].push(sections, candidate);
            }
        }
    }

    /// Makes an action the newest of its object, and forgets the records that it covers.
    fn remember(&mut self, act: Act, new: Record) {
        let Engine { cells, sections, lanes, table, open, pool, .. } = self;
        let pairs = open.get(act.lane).map_or(&[][..], |open| &open.pairs);
        let lane = lanes.get(act.lane);
        sections.keep_hold(new.hold);
        cells[act.space][act.index].add(pool, new, |old| {
            let ordered = old.slot() == lane.slot || old.count() <= lane.clock.get(old.slot());
            let covered = ordered
                && table.covers(act.class, old.class())
                && (old.hold == NO_HOLD
                    || old.hold == new.hold
                    || (sections.covers(lanes, act.lane, old.hold)
                        // What the lane knows by a pair's own edge only may still be learnt by another edge.
                        && !pairs.iter().any(|pair| pair.has_any(sections.of_hold(old.hold)))));
            if covered {
                sections.drop_hold(old.hold);
            }
            covered
        });
    }

    fn acquire(&mut self, lane: LaneId, step: Step) {
        self.report.counts.acquires += 1;
        let shared = step.op.mode().is_shared();
        if R::LOCKS {
            self.locks.acquire(&mut self.lanes, lane, (step.operand, shared));
        }
        if R::SECTIONS {
            self.sections.acquire(&self.lanes, lane, step.operand, shared);
        }
    }

    fn release(&mut self, lane: LaneId, step: Step) {
        if R::LOCKS {
            self.locks.release(&mut self.lanes, lane, (step.operand, step.op.mode().is_shared()));
        }
        if !R::SECTIONS || !self.sections.release(&mut self.lanes, lane, step.operand) {
            return;
        }
        let Engine { open, sections, report, lanes, options, .. } = self;
        if open[lane].pairs.is_empty() {
            return;
        }
        if options.candidates == Candidates::AsPrinted {
            let clock = &lanes.get(lane).clock;
            report.counts.ordered += open[lane].drop_if(sections, |pair, _| {
                pair.common.iter().any(|common| common.lock == step.operand)
                    && pair.count <= clock.get(pair.slot)
            });
        }
        open[lane].released(sections, step.operand, |pair| {
            report.add(options.violations_max, pair.violation);
        });
    }

    fn hard(&mut self, lane: LaneId, step: Step) {
        let Step { event, op, task, operand, refers, .. } = step;
        let (open, sections, counts) =
            (&mut self.open, &mut self.sections, &mut self.report.counts);
        let event = HardEvent { event, task, op, operand, refers };
        self.hard.apply(&mut self.lanes, lane, event, &mut |lane, clock| {
            counts.ordered += learn(open, sections, lane, clock);
        });
    }

    /// Applies the actions that the specification sees in an event.
    fn own_actions(
        &mut self,
        tables: &Tables,
        lane: LaneId,
        step: Step,
    ) -> Result<(), PredictError> {
        let mut points = std::mem::take(&mut self.points);
        points.clear();
        self.spec.points(tables, step.op, step.operand, &mut points);
        for point in &points {
            if point.object >= OBJECTS_MAX {
                return Err(PredictError::TooMany("objects of the specification"));
            }
            let index = point.object as usize;
            if index >= self.cells[1].len() {
                self.cells[1].resize(index + 1, Cell::NEW);
            }
            self.report.counts.actions += 1;
            let side = Side { event: step.event, site: step.site };
            self.act(Act { lane, space: 1, index, class: point.class, side });
        }
        self.points = points;
        Ok(())
    }
}

/// Drops the open pairs of a lane that a clock it is about to learn orders; returns their number.
fn learn(open: &mut [Open], sections: &mut Sections, lane: LaneId, clock: &Clock) -> u64 {
    match open.get_mut(lane) {
        Some(open) if !open.pairs.is_empty() => {
            open.drop_if(sections, |pair, _| pair.is_ordered_by(clock))
        }
        _ => 0,
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

impl<R: Relation, S: Specification> Analysis for Engine<R, S> {
    fn grow(&mut self, tables: &Tables) -> Result<(), PredictError> {
        self.lanes.grow(tables);
        self.overlaps.grow(tables)?;
        self.cells[0].resize(tables.locations.len(), Cell::NEW);
        self.locks.grow(tables.locks.len());
        self.lanes.check()
    }

    #[inline]
    fn step(&mut self, tables: &Tables, step: Step) -> Result<(), PredictError> {
        let (open, sections, counts) =
            (&mut self.open, &mut self.sections, &mut self.report.counts);
        counts.events += 1;
        let lane = self.lanes.enter(tables, (step.event, step.task), &mut |lane, clock| {
            counts.ordered += learn(open, sections, lane, clock);
        })?;
        if R::SECTIONS && self.lanes.len() != self.open.len() {
            self.sections.grow(self.lanes.len());
            self.open.resize_with(self.lanes.len(), Open::default);
        }
        let of_lane = self.lanes.get(lane);
        self.last = Some((lane, Stamp { slot: of_lane.slot, count: of_lane.now }));
        match step.op.kind() {
            kind if kind.is_access() => self.access(lane, step)?,
            EventKind::Acquire => {
                self.locks.check(step)?;
                self.acquire(lane, step);
                self.own_actions(tables, lane, step)?;
            }
            EventKind::Release => {
                self.locks.check(step)?;
                self.own_actions(tables, lane, step)?;
                self.release(lane, step);
            }
            EventKind::Get | EventKind::Join | EventKind::Wake => {
                self.hard(lane, step);
                self.own_actions(tables, lane, step)?;
            }
            _ => {
                self.own_actions(tables, lane, step)?;
                self.hard(lane, step);
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Report {
        let mut report = std::mem::take(&mut self.report);
        let left: usize = self.open.iter().map(|open| open.pairs.len()).sum();
        report.counts.undecided = left as u64;
        report.counts.signals_lost = self.hard.signals_lost;
        report.counts.stray_releases = self.sections.strays;
        report
    }

    fn memory_bytes(&self) -> usize {
        self.cells.iter().map(|cells| cells.capacity() * size_of::<Cell>()).sum::<usize>()
            + self.pool.memory_bytes()
            + self.lanes.memory_bytes()
            + self.sections.memory_bytes()
    }
}
