//! All races of a trace, counted exactly.
//!
//! **Problem.** All pairs of conflicting accesses that happens-before leaves unordered
//! (`docs/happens-before.md`, section 4).
//!
//! **Idea.** Take accesses of one class by one strand to one location, with no synchronisation of
//! the strand and no other access to the location in between. They have the same races and form a
//! *run*. For each new run, the detector visits each chain that has accessed the location. The
//! unordered runs of the chain are its last ones, after the bound that the clock gives. Chains of
//! other handlers are skipped if a later run, which comes before the new one, comes after all of
//! theirs ([`Front`]). So the work is proportional to the handlers that accessed the location since
//! such a run, and to the races found. Where many runs of two threads race, most pairs are only
//! counted (`like_runs.rs`).
//!
//! **Cost.** O(1) for an access that extends a run; else O(chains of its handler at the location +
//! handlers since the front + races of runs that are kept). In the worst case, all runs race: each
//! visits all handlers at the location. Then a pair is kept for each run and thread; for runs of
//! tasks, which differ in their causes, the list of pairs is quadratic in the runs.

use crate::races::at_location::{AtLocation, NewRun};
use crate::races::groups::GroupBy;
use crate::relation::conflicts::{AccessClass, Conflicts};
use crate::relation::pass::{View, Visitor};
use crate::relation::strands::{Strand, StrandId};
use anyorder_order::ChainId;
use anyorder_trace::{EventId, HandlerId, Location, LocationId, SiteId, TaskId, TaskKind, Trace};
use rustc_hash::FxHashMap;

/// A run: its position in [`Races::runs`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct RunId(pub(crate) u32);

/// A run of accesses that have the same races.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) location: LocationId,
    pub(crate) strand: StrandId,
    pub(crate) chain: ChainId,
    pub(crate) task: TaskId,
    segment: u32,
    pub(crate) first: EventId,
    pub(crate) last: EventId,
    pub(crate) count: u32,
    pub(crate) class: AccessClass,
}

/// The races of a trace, as pairs of runs: each access of one run races with each access of the
/// other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Races {
    pub(crate) runs: Vec<Run>,
    /// Pairs of runs, the earlier one first, in the order in which the later ones begin.
    pub(crate) pairs: Vec<(RunId, RunId)>,
    /// For each pair, how many accesses of runs like its earlier run, before that, race with each
    /// access of its later run.
    more: Vec<u64>,
    /// Conflicting pairs of runs, in the same order, that only the rule *ended* orders. Coverage
    /// counts their conflicts.
    pub(crate) ended: Vec<(RunId, RunId)>,
}

impl Races {
    /// Returns a run.
    #[inline]
    pub(crate) fn run(&self, id: RunId) -> &Run {
        &self.runs[id.0 as usize]
    }

    /// Adds two conflicting runs that no edges order.
    pub(crate) fn add(
        &mut self,
        view: &View<'_, '_>,
        (other, more): (RunId, u64),
        (id, run): (RunId, &Run),
    ) {
        let earlier = self.run(other);
        if view.is_ended((earlier.first, earlier.strand), (run.first, run.strand)) {
            self.ended.push((other, id));
        } else {
            self.pairs.push((other, id));
            self.more.push(more);
        }
    }

    /// Returns the number of racing pairs of accesses that a pair of runs stands for, by its
    /// position.
    pub(crate) fn pairs_in(&self, at: usize) -> u64 {
        let (earlier, later) = self.pairs[at];
        (u64::from(self.run(earlier).count) + self.more[at]) * u64::from(self.run(later).count)
    }

    /// Returns the number of racing pairs of accesses.
    pub(crate) fn total(&self) -> u64 {
        (0..self.pairs.len()).map(|at| self.pairs_in(at)).fold(0, u64::saturating_add)
    }

    /// Returns the accesses of a run, in trace order. Linear in the events between its first and
    /// its last.
    pub(crate) fn accesses(&self, trace: &Trace, id: RunId) -> Vec<EventId> {
        let run = *self.run(id);
        let columns = trace.columns();
        (run.first.0..=run.last.0)
            .map(EventId)
            .filter(|event| {
                let row = event.index();
                columns.tasks[row] == run.task
                    && columns.operands[row] == run.location.0
                    && columns.ops[row].kind().is_access()
            })
            .collect()
    }
}

/// A visitor that finds races during a pass.
pub(crate) struct Detector<'t> {
    trace: &'t Trace,
    conflicts: &'t Conflicts,
    at: Vec<AtLocation>,
    /// The group of a location, a handler, and whether its runs are atomic.
    groups: FxHashMap<(LocationId, HandlerId, bool), u32>,
    last_run: Vec<Option<RunId>>,
    pub(crate) races: Races,
    /// How often a group was compared with a new run.
    pub(crate) visited: u64,
    /// The most pairs of like runs that are kept one by one, for each list of them.
    kept_max: usize,
    by: GroupBy,
}

impl<'t> Detector<'t> {
    pub(crate) fn new(trace: &'t Trace, conflicts: &'t Conflicts) -> Detector<'t> {
        let locations = trace.tables().locations.len();
        Detector {
            trace,
            conflicts,
            at: vec![AtLocation::default(); locations],
            groups: FxHashMap::default(),
            last_run: vec![None; locations],
            races: Races::default(),
            visited: 0,
            kept_max: usize::MAX,
            by: GroupBy::Field,
        }
    }

    /// Makes a detector that keeps so many pairs of like runs one by one and counts the others.
    /// Like runs are in one group in reports.
    pub(crate) fn keeping(self, kept_max: usize, by: GroupBy) -> Detector<'t> {
        Detector { kept_max, by, ..self }
    }

    /// Adds a run to those of its chain: it grows no more.
    fn end(&mut self, view: &View<'_, '_>, id: RunId) {
        let run = self.races.run(id);
        let handler = view.engine.strands.get(run.strand).handler;
        let key = (run.location, handler, run.class.atomic);
        let Some(group) = self.groups.get(&key) else { return };
        let tables = self.trace.tables();
        // Posted tasks differ in their causes, even on one chain.
        let is_like =
            tables.tasks[run.task.index()].kind == TaskKind::Initial && view.engine.over.is_empty();
        let has_site = self.by == GroupBy::Sites
            || matches!(tables.locations[run.location.index()], Location::Range { .. });
        let site = match has_site {
            true => self.trace.columns().sites[run.last.index()],
            false => SiteId(0),
        };
        let like = is_like.then_some((run.task, site));
        self.at[run.location.index()].end(run, *group, |runs| runs.add(id, run, like));
    }

    fn start(&mut self, view: &View<'_, '_>, run: Run) {
        if let Some(last) = self.last_run[self.conflicts.cluster(run.location).index()] {
            self.end(view, last);
        }
        let id = RunId(self.races.runs.len() as u32);
        self.races.runs.push(run);
        let Strand { handler, posted, .. } = *view.engine.strands.get(run.strand);
        let new = NewRun { id, run: &run, posted, kept_max: self.kept_max };
        let Detector { at, groups, races, visited, .. } = self;
        let mut find = |location: LocationId| {
            let here = &at[location.index()];
            let of_side = |atomic| groups.get(&(location, handler, atomic)).copied();
            let own = [of_side(false), if here.has_atomics() { of_side(true) } else { None }];
            (own, here.find(races, view, new, own, visited))
        };
        let (own, found) = find(run.location);
        for &location in self.conflicts.overlaps(run.location) {
            find(location);
        }
        let group = at[run.location.index()].add(races, view, new, own, found);
        if own[usize::from(run.class.atomic)].is_none() {
            groups.insert((run.location, handler, run.class.atomic), group);
        }
        self.last_run[self.conflicts.cluster(run.location).index()] = Some(id);
    }
}

impl Visitor for Detector<'_> {
    fn event(&mut self, view: &View<'_, '_>, event: EventId, strand: StrandId) {
        let columns = self.trace.columns();
        let row = event.index();
        let op = columns.ops[row];
        if !op.kind().is_access() {
            return;
        }
        let location = LocationId(columns.operands[row]);
        if !self.conflicts.is_shared(location) {
            return;
        }
        let task = columns.tasks[row];
        let class = AccessClass::of(op);
        let cluster = self.conflicts.cluster(location);
        let segment = view.segments[strand.index()];
        if let Some(last) = self.last_run[cluster.index()] {
            let run = &mut self.races.runs[last.0 as usize];
            if run.class == class
                && run.location == location
                && run.strand == strand
                && run.task == task
                && run.segment == segment
            {
                run.last = event;
                run.count += 1;
                return;
            }
        }
        let run = Run {
            location,
            strand,
            chain: view.engine.chains.of(strand),
            task,
            segment,
            first: event,
            last: event,
            count: 1,
            class,
        };
        self.start(view, run);
    }

    fn memory_bytes(&self) -> usize {
        let Races { runs, pairs, more, ended } = &self.races;
        let pairs = pairs.capacity() + ended.capacity() + more.capacity();
        runs.capacity() * size_of::<Run>() + pairs * size_of::<(RunId, RunId)>()
    }
}
