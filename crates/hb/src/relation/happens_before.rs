//! Happens-before as a relation that can be queried.

use crate::relation::engine::{Engine, Mode};
use crate::relation::locks::Locks;
use crate::relation::over::Known;
use crate::relation::pass::{View, Visitor};
use crate::relation::rules::RuleSet;
use crate::relation::sections::Points;
use crate::relation::strands::StrandId;
use anyorder_order::{ChainId, ClockRef, ClockStore};
use anyorder_system::{Cancel, StopReason, Stopped};
use anyorder_trace::{EventId, TaskId, Trace};

/// Happens-before over a trace, with all clocks kept for queries about any two events.
///
/// Memory: a clock for each synchronising event. Clocks share unchanged parts. Queries take time
/// logarithmic in the synchronising events of one task.
#[derive(Debug)]
pub struct HappensBefore<'t> {
    engine: Engine<'t>,
    store: ClockStore,
    /// For each strand, the events at which its clock changed, ascending, with the new clocks.
    changes: Vec<Vec<(EventId, ClockRef)>>,
}

impl<'t> HappensBefore<'t> {
    /// Computes the relation.
    ///
    /// # Errors
    ///
    /// Fails if it was cancelled, or if the clocks need more than 32 GiB.
    pub fn new(
        trace: &'t Trace,
        rules: RuleSet,
        cancel: &Cancel,
    ) -> Result<HappensBefore<'t>, Stopped> {
        HappensBefore::with_locks(trace, rules, Locks::HandOver, &Points::default(), cancel)
    }

    /// Computes the relation with another order of locks. [`Locks::Sections`] gives event-driven
    /// EDC, for which `points` adds actions to the memory accesses.
    ///
    /// # Errors
    ///
    /// Fails if it was cancelled, or if the clocks need more than 32 GiB.
    pub fn with_locks(
        trace: &'t Trace,
        rules: RuleSet,
        locks: Locks,
        points: &Points,
        cancel: &Cancel,
    ) -> Result<HappensBefore<'t>, Stopped> {
        let mode = Mode { locks, ..Mode::EXACT };
        HappensBefore::recorded(Engine::with_points(trace, rules, mode, points, cancel)?, cancel)
    }

    /// Records the clocks of a relation that was computed in an exact mode.
    pub(crate) fn recorded(
        mut engine: Engine<'t>,
        cancel: &Cancel,
    ) -> Result<HappensBefore<'t>, Stopped> {
        let mut recorder = Recorder {
            store: ClockStore::new(),
            changes: vec![Vec::new(); engine.strands.len()],
            segments: vec![0; engine.strands.len()],
            full: false,
        };
        engine.visit(&mut recorder, cancel, &mut |_| ())?;
        if recorder.full {
            return Err(Stopped(StopReason::MemoryLimit));
        }
        Ok(HappensBefore { engine, store: recorder.store, changes: recorder.changes })
    }

    /// Returns whether `x` happens before `y`.
    ///
    /// # Panics
    ///
    /// Panics if an event is not in the trace.
    #[must_use]
    pub fn happens_before(&self, x: EventId, y: EventId) -> bool {
        if x >= y {
            return false;
        }
        let (a, b) = (self.engine.strand_of(x), self.engine.strand_of(y));
        if a == b {
            return true;
        }
        let (from, to) = (self.engine.strands.get(a), self.engine.strands.get(b));
        let is_before = match from.posted && to.posted && from.handler == to.handler {
            true => self.engine.task_before(a, b),
            false => self.reaches(x, y),
        };
        if is_before || self.engine.over.is_empty() {
            return is_before;
        }
        let known = Known {
            at: &|event| self.reaches(event, y),
            first: &|strand, event| self.reaches(event, self.engine.strands.get(strand).first),
            bound: &|chain| self.bound(chain, y),
        };
        self.engine.ended((x, a), (y, b), known).is_some()
    }

    /// Returns the number below which all events of a chain are before an event, by edges.
    fn bound(&self, chain: ChainId, y: EventId) -> u32 {
        let b = self.engine.strand_of(y);
        if chain == self.engine.chains.of(b) {
            return y.0;
        }
        let changes = &self.changes[b.index()];
        let at = changes.partition_point(|(event, _)| *event <= y);
        at.checked_sub(1).map_or(0, |at| self.store.get(changes[at].1, chain))
    }

    /// Returns whether edges lead from an event to a later one.
    fn reaches(&self, x: EventId, y: EventId) -> bool {
        let (a, b) = (self.engine.strand_of(x), self.engine.strand_of(y));
        let chain = self.engine.chains.of(a);
        if x >= y || chain == self.engine.chains.of(b) {
            return x < y;
        }
        self.bound(chain, y) > x.0
    }

    /// Returns whether task `a` ends before task `b` of the same handler begins, by the rules.
    ///
    /// # Panics
    ///
    /// Panics if a task is not in the trace.
    #[must_use]
    pub fn task_order(&self, a: TaskId, b: TaskId) -> bool {
        let strands = &self.engine.strands;
        let (Some(x), Some(y)) = (strands.of_task(a).next(), strands.of_task(b).next()) else {
            return false;
        };
        let (from, to) = (strands.get(x), strands.get(y));
        a != b
            && from.posted
            && to.posted
            && from.handler == to.handler
            && self.engine.task_before(x, y)
    }

    /// Returns the number of chains: the width of the clocks.
    #[must_use]
    pub fn chains_count(&self) -> usize {
        self.engine.chains.len()
    }

    /// Returns the number of passes that the fixpoint of the rules took.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.engine.rounds
    }
}

/// Keeps the clock of each strand whenever it changes.
struct Recorder {
    store: ClockStore,
    changes: Vec<Vec<(EventId, ClockRef)>>,
    segments: Vec<u32>,
    full: bool,
}

impl Visitor for Recorder {
    fn event(&mut self, view: &View<'_, '_>, event: EventId, strand: StrandId) {
        let segment = view.segments[strand.index()];
        if self.full || self.segments[strand.index()] == segment {
            return;
        }
        self.segments[strand.index()] = segment;
        let changes = &mut self.changes[strand.index()];
        let previous = changes.last().map_or(ClockRef::EMPTY, |(_, clock)| *clock);
        match self.store.push(&view.clocks.flat(view.at[strand.index()]), previous) {
            Ok(clock) if changes.is_empty() || clock != previous => changes.push((event, clock)),
            Ok(_) => {}
            Err(_) => self.full = true,
        }
    }
}
