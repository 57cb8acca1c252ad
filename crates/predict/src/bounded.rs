//! EDC of memory accesses with a fixed amount of shadow state for each location.
//!
//! **Source.** Section 3.5 of the thesis on OVPredict (Algorithm 3).
//!
//! **Idea.** Beside its last accesses a location has four *mutex-access words* `<thread, mutex, acquire count, write>` of 8
//! bytes. An access under a lock that finds a conflicting word of that lock learns the release clock that the lock keeps for
//! the word's acquire count; a lock keeps its last `depth` ones.
//!
//! **Guarantee.** The order computed is a part of EDC, and is EDC while [`Counts::sections_lost`](crate::Counts::sections_lost) is 0. A lost
//! section may leave a pair unordered that EDC orders. A lost access (counted there too) may hide a race.
//!
//! **Deviations.** (1) Line 8 stores the acquire count. (2) A word of the same thread and lock is replaced by a newer one that does as much; as
//! printed, reads would fill the words for good. (3) Where no word is free the oldest in turn goes; as printed, the new
//! one would. (4) Sections of readers of a lock exclude only writers. (5) Racy pairs only: candidates need sections.
//!
//! **Cost.** For each access and lock held: four words, and a join for those that conflict.

use crate::analysis::{Analysis, Stamp, Step};
use crate::class::{Class, ClassTable};
use crate::error::PredictError;
use crate::hard::{Hard, HardEvent};
use crate::lanes::{LaneId, Lanes};
use crate::options::Options;
use crate::overlaps::Overlaps;
use crate::report::{Object, Report, Side, Violation, ViolationKind};
use crate::shadow::{LockBits, Record, epoch};
use crate::word::{LockHistory, Word};
use anyorder_trace::{EventKind, LocationId, Tables};

const WORDS: usize = 4;
const ACCESSES: usize = 4;

/// The shadow state of one location.
#[derive(Clone, Debug)]
struct Cell {
    accesses: [Record; ACCESSES],
    words: [Word; WORDS],
    /// The place of the last access.
    newest: u8,
    /// Whose turn it is to go.
    word_turn: u8,
    access_turn: u8,
    overlaps: bool,
}

const NEW: Cell = Cell {
    accesses: [Record::NONE; ACCESSES],
    words: [Word::NONE; WORDS],
    newest: 0,
    word_turn: 0,
    access_turn: 0,
    overlaps: false,
};

/// A lock that a lane holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    lock: u32,
    /// The lock's acquire count when it was taken.
    count: u64,
    shared: bool,
    depth: u32,
}

/// EDC of memory accesses, with bounded tracking of critical sections.
#[derive(Clone, Debug)]
pub struct BoundedAnalysis {
    options: Options,
    depth: usize,
    table: ClassTable,
    lanes: Lanes,
    hard: Hard,
    overlaps: Overlaps,
    locks: Vec<LockHistory>,
    held: Vec<Vec<Held>>,
    cells: Vec<Cell>,
    report: Report,
    last: Option<(LaneId, Stamp)>,
}

impl BoundedAnalysis {
    /// Makes an analysis in which each lock keeps its last `depth` release clocks (at least one).
    #[must_use]
    pub fn new(options: Options, depth: usize) -> BoundedAnalysis {
        BoundedAnalysis {
            options,
            depth: depth.max(1),
            table: ClassTable::memory(),
            lanes: Lanes::default(),
            hard: Hard::default(),
            overlaps: Overlaps::default(),
            locks: Vec::new(),
            held: Vec::new(),
            cells: Vec::new(),
            report: Report::default(),
            last: None,
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

    fn access(&mut self, lane: LaneId, step: Step) -> Result<(), PredictError> {
        let index = step.operand as usize;
        if index >= self.cells.len() {
            let (event, index) = (step.event, step.operand);
            return Err(PredictError::Unknown { event, what: "location", index });
        }
        self.report.counts.accesses += 1;
        let minds = self.hard.minds_access(step.op);
        if minds {
            let what = (step.op, step.operand);
            self.hard.before_access(&mut self.lanes, lane, what, &mut |_, _| {});
        }
        self.act(lane, index, step);
        if minds {
            self.hard.after_access(&mut self.lanes, lane, (step.op, step.operand));
        }
        Ok(())
    }

    fn act(&mut self, lane: LaneId, index: usize, step: Step) {
        let class = Class::of_access(step.op);
        let of_lane = self.lanes.get(lane);
        let now = epoch(of_lane.slot, of_lane.now);
        let cell = &self.cells[index];
        let newest = &cell.accesses[usize::from(cell.newest)];
        let same = newest.epoch == now && newest.class() == class && newest.is_quiet();
        if same && !cell.overlaps {
            return;
        }
        self.learn(lane, index, class);
        for at in 0..self.overlaps.of(index as u32).len() {
            let other = self.overlaps.of(index as u32)[at] as usize;
            self.learn(lane, other, class);
        }
        for place in 0..self.held[lane].len() {
            self.put_word(lane, index, (self.held[lane][place], class));
        }
        let side = Side { event: step.event, site: step.site };
        let mut quiet = self.races(lane, (index, index), class, side);
        for at in 0..self.overlaps.of(index as u32).len() {
            let other = self.overlaps.of(index as u32)[at] as usize;
            quiet &= self.races(lane, (index, other), class, side);
        }
        self.report.counts.racy_seconds += u64::from(!quiet);
        self.put_access(
            lane,
            index,
            Record::new(now, side, (0, LockBits::default()), class, quiet),
        );
    }

    /// Learns the release clocks of conflicting words. [thesis, Algorithm 3, l. 18-19]
    fn learn(&mut self, lane: LaneId, index: usize, class: Class) {
        if self.held[lane].is_empty() {
            return;
        }
        let slot = self.lanes.get(lane).slot;
        for word in self.cells[index].words.iter().filter(|word| word.is_some()) {
            let Some(held) = self.held[lane].iter().find(|held| word.is_of(held.lock)) else {
                continue;
            };
            if word.slot() == slot || !(word.writes() || class.writes()) {
                continue;
            }
            match self.locks[held.lock as usize].find(word) {
                Some(section) if section.shared && held.shared => {}
                // Whoever knows the release knows all that it gave away.
                Some(section)
                    if section.clock.get(word.slot())
                        <= self.lanes.get(lane).clock.get(word.slot()) => {}
                Some(section) => self.lanes.join(lane, &section.clock),
                None => self.report.counts.sections_lost += 1,
            }
        }
    }

    /// Stores the word of one lock held. [thesis, Algorithm 3, l. 16-17, 20]
    fn put_word(&mut self, lane: LaneId, index: usize, (held, class): (Held, Class)) {
        let slot = self.lanes.get(lane).slot;
        let Some(new) = Word::new(slot, held.lock, held.count, class.writes()) else {
            self.report.counts.sections_lost += 1;
            return;
        };
        let cell = &mut self.cells[index];
        let history = &self.locks[held.lock as usize];
        let mut placed = false;
        for at in 0..WORDS {
            let old = cell.words[at];
            if old == new || (old.is_some() && old == new.as_write()) {
                // There already, or a write of the same section, which does as much.
                cell.words[at] = if placed { Word::NONE } else { old };
                placed = true;
                continue;
            }
            let of_lock = old.is_some() && old.is_of(held.lock) && (new.writes() || !old.writes());
            // A reader's section does not do for others what a writer's did.
            let enough = !held.shared || history.find(&old).is_some_and(|ended| ended.shared);
            let same_section = old.as_write() == new.as_write();
            let own = of_lock && old.slot() == slot && (enough || same_section);
            // The sections of others that wrote or are overwritten are known by now, if a release clock was found.
            let known = || history.find(&old).is_some();
            if !old.is_some() || own || (of_lock && new.writes() && !held.shared && known()) {
                cell.words[at] = if placed { Word::NONE } else { new };
                placed = true;
            }
        }
        if !placed {
            cell.words[usize::from(cell.word_turn)] = new;
            cell.word_turn = (cell.word_turn + 1) % WORDS as u8;
            self.report.counts.sections_lost += 1;
        }
    }

    /// Reports the races with the accesses of location `other`; returns whether there is none.
    fn races(
        &mut self,
        lane: LaneId,
        (index, other): (usize, usize),
        class: Class,
        second: Side,
    ) -> bool {
        let of_lane = self.lanes.get(lane);
        let mut quiet = true;
        for record in self.cells[other].accesses.iter().filter(|record| record.is_some()) {
            if record.slot() != of_lane.slot
                && record.count() > of_lane.clock.get(record.slot())
                && self.table.is_reported(class, record.class())
            {
                quiet = false;
                let object = Object::Location(LocationId(index as u32));
                let first = record.side();
                let violation = Violation { kind: ViolationKind::Racy, object, first, second };
                self.report.add(self.options.violations_max, violation);
            }
        }
        quiet
    }

    fn put_access(&mut self, lane: LaneId, index: usize, new: Record) {
        let of_lane = self.lanes.get(lane);
        let cell = &mut self.cells[index];
        let mut at = None;
        for (place, old) in cell.accesses.iter_mut().enumerate() {
            let ordered =
                old.slot() == of_lane.slot || old.count() <= of_lane.clock.get(old.slot());
            if !old.is_some() || (ordered && self.table.covers(new.class(), old.class())) {
                *old = Record::NONE;
                at = at.or(Some(place));
            }
        }
        let place = at.unwrap_or_else(|| {
            self.report.counts.sections_lost += 1;
            cell.access_turn = (cell.access_turn + 1) % ACCESSES as u8;
            usize::from(cell.access_turn)
        });
        cell.accesses[place] = new;
        cell.newest = place as u8;
    }

    fn acquire(&mut self, lane: LaneId, lock: u32, shared: bool) {
        self.report.counts.acquires += 1;
        if let Some(held) = self.held[lane].iter_mut().find(|held| held.lock == lock) {
            held.depth = held.depth.saturating_add(1);
            return;
        }
        let count = self.locks[lock as usize].acquire();
        self.held[lane].push(Held { lock, count, shared, depth: 1 });
        // Accesses of one epoch are under the same locks.
        self.lanes.advance(lane);
    }

    fn release(&mut self, lane: LaneId, lock: u32) {
        let Some(at) = self.held[lane].iter().position(|held| held.lock == lock) else {
            self.report.counts.stray_releases += 1;
            return;
        };
        self.held[lane][at].depth -= 1;
        if self.held[lane][at].depth > 0 {
            return;
        }
        let held = self.held[lane].remove(at);
        let clock = &self.lanes.get(lane).clock;
        self.locks[lock as usize].release(self.depth, (held.count, held.shared), clock);
        self.lanes.advance(lane);
    }
}

impl Analysis for BoundedAnalysis {
    fn grow(&mut self, tables: &Tables) -> Result<(), PredictError> {
        self.lanes.grow(tables);
        let cells = &mut self.cells;
        cells.resize(tables.locations.len(), NEW);
        self.overlaps.grow(tables, |location| cells[location as usize].overlaps = true)?;
        self.locks.resize_with(tables.locks.len(), LockHistory::default);
        self.lanes.check()
    }

    fn step(&mut self, tables: &Tables, step: Step) -> Result<(), PredictError> {
        self.report.counts.events += 1;
        let lane = self.lanes.enter(tables, (step.event, step.task), &mut |_, _| {})?;
        if self.held.len() < self.lanes.len() {
            self.held.resize_with(self.lanes.len(), Vec::new);
        }
        let of_lane = self.lanes.get(lane);
        self.last = Some((lane, Stamp { slot: of_lane.slot, count: of_lane.now }));
        let Step { event, op, task, operand, refers, .. } = step;
        match op.kind() {
            kind if kind.is_access() => self.access(lane, step)?,
            EventKind::Acquire | EventKind::Release if operand as usize >= self.locks.len() => {
                return Err(PredictError::Unknown { event, what: "lock", index: operand });
            }
            EventKind::Acquire => self.acquire(lane, operand, op.mode().is_shared()),
            EventKind::Release => self.release(lane, operand),
            _ => {
                let event = HardEvent { event, task, op, operand, refers };
                self.hard.apply(&mut self.lanes, lane, event, &mut |_, _| {});
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Report {
        let mut report = std::mem::take(&mut self.report);
        report.counts.signals_lost = self.hard.signals_lost;
        report
    }

    fn memory_bytes(&self) -> usize {
        self.cells.capacity() * size_of::<Cell>()
            + self.lanes.memory_bytes()
            + self.locks.iter().map(LockHistory::memory_bytes).sum::<usize>()
    }
}
