//! The streaming analyses HB, WDC and EDC: one engine, three relations.
//!
//! **Problem.** For each action of a trace, find the earlier actions that do not commute with it.
//! Decide whether one of them is not ordered before it (racy), or is ordered only by the critical
//! sections of the two (non-racy candidate).
//!
//! **Source.** WDC: Algorithm 1, EDC: Algorithm 2 of the thesis on OVPredict (chapter 3),
//! corrected. HB with epochs: Flanagan and Freund, FastTrack, PLDI 2009.
//!
//! **Guarantee.** The orders and the second events of racy pairs are exactly those of
//! `docs/prediction.md`.
//!
//! **Deviations.** (1) Races are tested after the clock has learnt from critical sections, not
//! before. (2) An object keeps several records where FastTrack keeps one. After a race, the last
//! write alone would hide later races. (3) Release clocks are kept for each section that a record
//! still names, not for each pair of lock and object. (4) Candidates: see `candidates.rs`.
//!
//! **Cost.** O(1) for an access that repeats the last one of its object in the same epoch and under
//! the same locks. Otherwise one comparison for each record of the object, and at most one join of
//! clocks for each record under a common lock. A comparison is O(1) if few locks were held, or if
//! the sections are nested and the outermost is common; else linear in the locks held, at most. So
//! the worst case is events x records of an object x locks held, with a record for each thread,
//! class and lockset that no later access covers. Nested sections, locks and variables cost linear
//! time; a join of clocks is linear in the threads.

use crate::analysis::{Analysis, Stamp, StreamEvent};
use crate::class::{Class, ClassTable, Point, Specification};
use crate::error::PredictError;
use crate::options::{CandidateOptions, Candidates};
use crate::relations::compare::Scratch;
use crate::relations::hard::Hard;
use crate::relations::lanes::{LaneId, Lanes};
use crate::relations::lock_clocks::LockClocks;
use crate::relations::overlaps::Overlaps;
use crate::relations::prefetch::{AHEAD, Prefetcher};
use crate::relations::relation::Relation;
use crate::report::{Report, Side};
use crate::sections::candidates::Open;
use crate::sections::table::{NO_LOCKSET, Sections};
use crate::shadow::by_lock::ByLocks;
use crate::shadow::quick::{CoverTable, Quick};
use crate::shadow::record::{Cell, LockBits, Pool, Record, epoch};
use anyorder_common::cancel::Cancel;
use anyorder_order::SharedClock;
use anyorder_trace::{Block, EventKind, Tables};
use std::marker::PhantomData;

/// The most records beyond two that an object may have before they are indexed by lock.
const LIST_MAX: usize = 6;

/// The most objects of a specification.
const OBJECTS_MAX: u32 = 1 << 24;

/// A streaming analysis by relation `R`, of memory accesses and the actions of specification `S`.
#[derive(Clone, Debug)]
pub struct Engine<R, S> {
    pub(crate) options: CandidateOptions,
    pub(crate) spec: S,
    /// The table of memory accesses.
    pub(crate) table: ClassTable,
    /// All tables of the specification.
    pub(crate) own_tables: Vec<ClassTable>,
    pub(crate) cover_table: CoverTable,
    pub(crate) lanes: Lanes,
    pub(crate) hard: Hard,
    pub(crate) locks: LockClocks,
    pub(crate) sections: Sections,
    pub(crate) overlaps: Overlaps,
    /// Shadow state of memory locations, and of the specification's objects.
    pub(crate) cells: [Vec<Cell>; 2],
    pub(crate) pool: Pool,
    pub(crate) by_locks: ByLocks,
    prefetch: Prefetcher,
    /// The most records beyond two that an object may have before they are indexed by lock.
    pub(crate) list_max: usize,
    pub(crate) open: Vec<Open>,
    pub(crate) report: Report,
    pub(crate) scratch: Scratch,
    pub(crate) points: Vec<Point>,
    pub(crate) last: Option<(LaneId, Stamp)>,
    pub(crate) relation: PhantomData<R>,
}

/// An action to apply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Act {
    pub(crate) lane: LaneId,
    /// 0 for memory locations, 1 for objects of the specification.
    pub(crate) space: usize,
    /// The cell.
    pub(crate) index: usize,
    /// The object that reports name; for memory, the cell.
    pub(crate) object: u32,
    /// The table of classes; 0 for memory.
    pub(crate) table: u16,
    pub(crate) class: Class,
    pub(crate) side: Side,
}

impl Act {
    /// Returns the table that defines an action's class.
    #[inline(always)]
    pub(crate) fn table<'t>(
        &self,
        memory: &'t ClassTable,
        own: &'t [ClassTable],
    ) -> &'t ClassTable {
        if self.space == 0 { memory } else { &own[usize::from(self.table)] }
    }
}

impl<R: Relation, S: Specification> Engine<R, S> {
    /// Makes an analysis.
    pub fn new(spec: S, options: CandidateOptions) -> Engine<R, S> {
        let own_tables = spec.classes();
        Engine {
            options,
            table: own_tables.first().cloned().unwrap_or_default(),
            cover_table: CoverTable::new(&own_tables),
            own_tables,
            spec,
            lanes: Lanes::default(),
            hard: Hard::default(),
            locks: LockClocks::default(),
            sections: Sections::default(),
            overlaps: Overlaps::default(),
            cells: [Vec::new(), Vec::new()],
            pool: Pool::default(),
            by_locks: ByLocks::default(),
            prefetch: Prefetcher::default(),
            list_max: LIST_MAX,
            open: Vec::new(),
            report: Report::default(),
            scratch: Scratch::default(),
            points: Vec::new(),
            last: None,
            relation: PhantomData,
        }
    }

    /// Returns the specification, which knows the names of its objects.
    #[must_use]
    pub fn specification(&self) -> &S {
        &self.spec
    }

    /// Returns the width of the clocks: the number of lanes, less those that reuse the slot of
    /// another.
    #[must_use]
    pub fn slots_count(&self) -> u32 {
        self.lanes.slots_count()
    }

    /// Returns whether the analysis searches for pairs under a common lock.
    #[inline]
    pub(crate) const fn looks_for_candidates(&self) -> bool {
        R::SECTIONS && !matches!(self.options.candidates, Candidates::Off)
    }

    #[inline(always)]
    fn access(
        &mut self,
        tables: &Tables,
        lane: LaneId,
        step: StreamEvent,
    ) -> Result<(), PredictError> {
        let index = step.operand as usize;
        if index >= self.cells[0].len() {
            let (event, index) = (step.event, step.operand);
            return Err(PredictError::Unknown { event, what: "location", index });
        }
        self.report.counts.accesses += 1;
        let side = Side { event: step.event, site: step.site };
        let (object, class) = (step.operand, Class::of_access(step.op));
        let act = Act { lane, space: 0, index, object, table: 0, class, side };
        if !self.hard.minds_access(step.op) {
            self.act(act);
            return if S::ACCESSES { self.objects_in_memory(tables, lane, step) } else { Ok(()) };
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

    /// Applies the actions of a plain access on objects that lie in its memory, one by one.
    fn objects_in_memory(
        &mut self,
        tables: &Tables,
        lane: LaneId,
        step: StreamEvent,
    ) -> Result<(), PredictError> {
        let mut points = std::mem::take(&mut self.points);
        points.clear();
        self.spec.access_points(tables, step, &mut points);
        let mut applied = Ok(());
        for point in &points {
            applied = applied.and_then(|()| self.apply_points(lane, step, &[*point]));
        }
        self.points = points;
        applied
    }

    /// Returns the classes that an action of a class is compared with, one bit each. Without a
    /// lock, nothing is learnt from actions that are not reported.
    #[inline(always)]
    pub(crate) fn compared(table: &ClassTable, class: Class, locks: LockBits) -> u32 {
        match R::SECTIONS && locks != LockBits::default() {
            true => table.conflicting(class),
            false => table.reported_with(class),
        }
    }

    #[inline(always)]
    fn act(&mut self, act: Act) {
        let lockset = if R::SECTIONS { self.sections.lockset(act.lane) } else { NO_LOCKSET };
        if R::SECTIONS && self.sections.is_deep(lockset) {
            self.list_records((act.space, act.index));
        }
        let table = act.table(&self.table, &self.own_tables);
        let lane = self.lanes.get(act.lane);
        let now = epoch(lane.slot, lane.now);
        let cell = &mut self.cells[act.space][act.index];
        let newest = &cell.newest;
        let same = newest.epoch == now && newest.class() == act.class && newest.lockset == lockset;
        let lonely = !cell.overlaps;
        if same && newest.is_quiet() && lonely {
            return;
        }
        let locks = if R::SECTIONS { self.sections.locks(act.lane) } else { LockBits::default() };
        let new = Record::new(now, act.side, (lockset, locks), act.class, true);
        let compared = Self::compared(table, act.class, locks);
        if R::SECTIONS && cell.by_lock != 0 {
            let free = lonely && cell.classes & table.conflicting(act.class) == 0;
            let quiet = free || lonely && self.knows_indexed(act) || self.compare(&[act], locks);
            let new = Record::new(now, act.side, (lockset, locks), act.class, quiet);
            self.remember_indexed(act, new);
            return;
        }
        if lonely && cell.more() != 0 && cell.classes & compared == 0 {
            // No record here matters. The new record replaces an equivalent record at any
            // position.
            let conflicting = table.conflicting(act.class);
            if cell.replace(&mut self.pool, new, (false, conflicting)).is_none() {
                self.remember(act, new);
            }
            return;
        }
        let quiet = match if lonely { self.quick(act, new) } else { Quick::Slow } {
            Quick::Done => return,
            Quick::Ordered => true,
            Quick::Slow => self.compare(&[act], locks),
        };
        self.remember(act, Record::new(now, act.side, (lockset, locks), act.class, quiet));
    }

    /// Makes an action the newest of its object, and drops the records that it covers.
    #[inline]
    fn remember(&mut self, act: Act, new: Record) {
        if R::SECTIONS && self.cells[act.space][act.index].by_lock != 0 {
            self.remember_indexed(act, new);
            return;
        }
        let Engine { cells, sections, lanes, table, own_tables, cover_table, open, pool, .. } =
            self;
        let table = act.table(table, own_tables);
        let heavy = cover_table.heavy(usize::from(act.table));
        let covering = cover_table.of(usize::from(act.table), act.class);
        let cell = &mut cells[act.space][act.index];
        let compared = Self::compared(table, act.class, new.locks());
        let waits = pool.may_wait(cell.more(), act.class, compared);
        let conflicting = table.conflicting(act.class);
        if waits && cell.replace(pool, new, (false, conflicting)).is_some() {
            return;
        }
        let pairs = open.get(act.lane).map_or(&[][..], |open| &open.pairs);
        let lane = lanes.get(act.lane);
        if R::SECTIONS {
            sections.keep_lockset(new.lockset);
        }
        let sweep = if waits { 0 } else { pool.to_sweep(cell.more(), covering, compared) };
        cell.add(pool, new, (sweep, heavy), |old| {
            let covered = covering >> old.class().0 & 1 != 0
                && (old.slot() == lane.slot || old.count() <= lane.clock.get(old.slot()))
                && (old.lockset == NO_LOCKSET
                    || old.lockset == new.lockset
                    || (old.locks().may_be_in(new.locks())
                        // A clock known only by a pair's own edge may still be learnt by another
                        // edge.
                        && !pairs
                            .iter()
                            .any(|pair| pair.has_any(sections, old.lockset))
                        && sections.covers(lanes, act.lane, old.lockset)));
            if R::SECTIONS && covered {
                sections.drop_lockset(old.lockset);
            }
            covered
        });
        if R::SECTIONS
            && !self.cells[act.space][act.index].is_listed
            && self.pool.len(self.cells[act.space][act.index].more()) > self.list_max
        {
            self.index_by_lock((act.space, act.index));
        }
    }

    fn acquire(&mut self, lane: LaneId, step: StreamEvent) {
        self.report.counts.acquires += 1;
        let shared = step.op.mode().is_shared();
        if R::SECTIONS {
            self.sections.acquire(&self.lanes, lane, step.operand, shared);
        } else {
            self.locks.acquire(&mut self.lanes, lane, (step.operand, shared));
        }
    }

    fn release(&mut self, lane: LaneId, step: StreamEvent) {
        if !R::SECTIONS {
            self.locks.release(&mut self.lanes, lane, (step.operand, step.op.mode().is_shared()));
            return;
        }
        if self.sections.ends(lane, step.operand) {
            self.open[lane].list_all(&mut self.sections, lane, |_| true);
        }
        if !self.sections.release(&mut self.lanes, lane, step.operand) {
            return;
        }
        let Engine { open, sections, report, lanes, options, .. } = self;
        if open[lane].pairs.is_empty() {
            return;
        }
        if options.candidates == Candidates::AsPrinted {
            let clock = &lanes.get(lane).clock;
            report.counts.ordered += open[lane].drop_if(sections, |pair, _| {
                pair.has_lock(step.operand) && pair.count <= clock.get(pair.slot)
            });
        }
        open[lane].released(sections, step.operand, |pair| {
            report.add(options.violations_max, pair.violation);
        });
    }

    fn hard(&mut self, lane: LaneId, step: StreamEvent) {
        let (open, sections, counts) =
            (&mut self.open, &mut self.sections, &mut self.report.counts);
        self.hard.apply(&mut self.lanes, lane, step, &mut |lane, clock| {
            counts.ordered += learn(open, sections, lane, clock);
        });
    }

    /// Returns whether an event is hidden inside an invocation, and counts it.
    fn is_hidden(&mut self, step: StreamEvent) -> bool {
        let kind = step.op.kind();
        let can_be = kind.is_access() || matches!(kind, EventKind::Acquire | EventKind::Release);
        let hidden = can_be && self.spec.hides(step.task, kind, step.operand);
        self.report.counts.hidden += u64::from(hidden);
        hidden
    }

    /// Applies the actions that the specification sees in an event.
    fn own_actions(
        &mut self,
        tables: &Tables,
        lane: LaneId,
        step: StreamEvent,
    ) -> Result<(), PredictError> {
        let mut points = std::mem::take(&mut self.points);
        points.clear();
        self.spec.points(tables, step, &mut points);
        let applied = self.apply_points(lane, step, &points);
        self.points = points;
        applied
    }

    fn apply_points(
        &mut self,
        lane: LaneId,
        step: StreamEvent,
        points: &[Point],
    ) -> Result<(), PredictError> {
        let side = Side { event: step.event, site: step.site };
        let mut acts = std::mem::take(&mut self.scratch.acts);
        acts.clear();
        for point in points {
            if point.cell >= OBJECTS_MAX || usize::from(point.table) >= self.own_tables.len() {
                return Err(PredictError::TooMany("objects of the specification"));
            }
            let index = point.cell as usize;
            if index >= self.cells[1].len() {
                self.cells[1].resize(index + 1, Cell::NEW);
            }
            let Point { object, table, class, .. } = *point;
            acts.push(Act { lane, space: 1, index, object, table, class, side });
        }
        self.report.counts.actions += u64::from(!acts.is_empty());
        match acts[..] {
            [] => {}
            [act] => self.act(act),
            _ => self.act_on_several(&acts),
        }
        self.scratch.acts = acts;
        Ok(())
    }

    /// Applies an action that touches several cells.
    fn act_on_several(&mut self, acts: &[Act]) {
        let lane = self.lanes.get(acts[0].lane);
        let now = epoch(lane.slot, lane.now);
        let lockset = if R::SECTIONS { self.sections.lockset(acts[0].lane) } else { NO_LOCKSET };
        if R::SECTIONS && self.sections.is_deep(lockset) {
            for act in acts {
                self.list_records((act.space, act.index));
            }
        }
        let repeats = acts.iter().all(|act| {
            let newest = &self.cells[act.space][act.index].newest;
            let same =
                newest.epoch == now && newest.class() == act.class && newest.lockset == lockset;
            same && newest.is_quiet()
        });
        if repeats {
            return;
        }
        let locks =
            if R::SECTIONS { self.sections.locks(acts[0].lane) } else { LockBits::default() };
        let quiet = self.compare(acts, locks);
        for act in acts {
            self.remember(*act, Record::new(now, act.side, (lockset, locks), act.class, quiet));
        }
    }
}

/// Drops the open pairs of a lane that the next clock orders. Returns their number.
fn learn(open: &mut [Open], sections: &mut Sections, lane: LaneId, clock: &SharedClock) -> u64 {
    match open.get_mut(lane) {
        Some(open) if !open.pairs.is_empty() => {
            open.drop_if(sections, |pair, _| pair.is_ordered_by(clock.get(pair.slot)))
        }
        _ => 0,
    }
}

impl<R: Relation, S: Specification> Engine<R, S> {
    fn grow_until(&mut self, tables: &Tables, cancel: &Cancel) -> Result<(), PredictError> {
        self.lanes.grow(tables);
        self.prefetch.grow(tables.tasks.len());
        let locations = &mut self.cells[0];
        locations.resize(tables.locations.len(), Cell::NEW);
        let found = |location: u32| locations[location as usize].overlaps = true;
        self.overlaps.grow(tables, cancel, found)?;
        self.locks.grow(tables.locks.len());
        self.lanes.check()
    }
}

impl<R: Relation, S: Specification> Analysis for Engine<R, S> {
    fn grow(&mut self, tables: &Tables) -> Result<(), PredictError> {
        self.grow_until(tables, &Cancel::new())
    }

    #[inline(always)]
    fn step(&mut self, tables: &Tables, step: StreamEvent) -> Result<(), PredictError> {
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
        if S::HIDES && self.is_hidden(step) {
            return Ok(());
        }
        match step.op.kind() {
            kind if kind.is_access() => self.access(tables, lane, step)?,
            EventKind::Acquire => {
                self.locks.check(step)?;
                // An acquire lies outside its own section, and after the releases that a lock
                // orders before it.
                if !R::SECTIONS {
                    self.acquire(lane, step);
                }
                self.own_actions(tables, lane, step)?;
                if R::SECTIONS {
                    self.acquire(lane, step);
                }
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

    fn block_until(
        &mut self,
        tables: &Tables,
        block: &Block,
        cancel: &Cancel,
    ) -> Result<(), PredictError> {
        match self.grow_until(tables, cancel) {
            Err(PredictError::Stopped) => return Ok(()),
            grown => grown?,
        }
        let rows = block.columns.len();
        for from in (0..rows).step_by(AHEAD) {
            let chunk = from..rows.min(from + AHEAD);
            let Engine { prefetch, cells, by_locks, pool, sections, table, .. } = self;
            let indexed = if R::SECTIONS { Some((&*by_locks, &*pool, &*sections)) } else { None };
            prefetch.fetch((block, chunk.clone()), &cells[0], table, indexed);
            for row in chunk {
                if cancel.reason().is_some() {
                    return Ok(());
                }
                self.step(tables, StreamEvent::of(block, row))?;
            }
        }
        Ok(())
    }

    fn stamp(&self) -> Option<Stamp> {
        self.last.map(|(_, stamp)| stamp)
    }

    fn knows(&self, stamp: Stamp) -> bool {
        self.last.is_some_and(|(lane, _)| self.lanes.get(lane).clock.get(stamp.slot) >= stamp.count)
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
            + self.by_locks.memory_bytes()
            + self.lanes.memory_bytes()
            + self.sections.memory_bytes()
    }
}
