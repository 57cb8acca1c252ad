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
//! counted (`like_runs.rs`). A read that nothing writes after, and that comes after all writes so
//! far, races with nothing, and makes no run.
//!
//! **Cost.** O(1) for an access that extends a run; else O(chains of its handler at the location +
//! handlers since the front + races of runs that are kept). Where many chains or tasks race at one
//! location, most of their races are counted together (`crowd.rs`), in the entries of a clock for
//! each run.

use crate::races::at_location::{AtLocation, NewRun, Work};
use crate::races::category::Origins;
use crate::races::coverage::CoverageLevel;
use crate::races::groups::{GroupBy, is_grouped_by_sites};
use crate::races::profile::{ProfileId, Profiles};
use crate::relation::conflicts::{AccessClass, Conflicts};
use crate::relation::pass::{View, Visitor};
use crate::relation::sabotage::Sabotage;
use crate::relation::strands::{Strand, StrandId};
use anyorder_order::ChainId;
use anyorder_trace::{EventId, LocationId, SiteId, TaskId, TaskKind, Trace};

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
    /// Its number among the handlers at the location.
    pub(crate) group: u32,
    /// Whether its task began after those of all earlier runs of the location.
    pub(crate) is_latest: bool,
    /// What reports know of it, once it grows no more. `None` where its races are kept one by one.
    pub(crate) profile: Option<ProfileId>,
}

/// Races of a run with earlier ones that are alike, in which nothing is uncovered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    /// One of the earlier runs, or one like them.
    pub(crate) earlier: RunId,
    pub(crate) later: RunId,
    /// The accesses of the earlier runs.
    pub(crate) accesses: u64,
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
    /// The other races, which are in the groups of some pairs.
    pub(crate) counted: Vec<Counted>,
    /// Conflicting pairs of runs, in the same order, that only the rule *ended* orders. Coverage
    /// counts their conflicts.
    pub(crate) ended: Vec<(RunId, RunId)>,
    /// From so many pairs on, no pair is kept; `None` if there is no such number.
    listed_max: Option<usize>,
    /// The races that are not kept for that reason.
    pub(crate) unlisted: Vec<Unlisted>,
    /// Chains that were asked for their runs.
    pub(crate) asked: u64,
}

/// Races of a run with earlier ones of which no pair is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unlisted {
    pub(crate) later: RunId,
    /// The earlier runs.
    pub(crate) runs: u64,
    /// The accesses of the earlier runs.
    pub(crate) accesses: u64,
}

impl Races {
    /// Returns a run.
    #[inline]
    pub(crate) fn run(&self, id: RunId) -> &Run {
        &self.runs[id.0 as usize]
    }

    /// Returns whether no more pairs are kept.
    #[inline]
    pub(crate) fn is_list_full(&self) -> bool {
        self.listed_max.is_some_and(|max| self.pairs.len() >= max)
    }

    /// Counts races of a run with earlier runs that have some accesses, without keeping a pair.
    pub(crate) fn count(&mut self, id: RunId, (runs, accesses): (u64, u64)) {
        if runs == 0 {
            return;
        }
        match self.unlisted.last_mut().filter(|last| last.later == id) {
            Some(last) => {
                last.runs += runs;
                last.accesses += accesses;
            }
            None => self.unlisted.push(Unlisted { later: id, runs, accesses }),
        }
    }

    /// Adds two conflicting runs that no edges order.
    pub(crate) fn add(
        &mut self,
        view: &View<'_, '_>,
        (other, more): (RunId, u64),
        (id, run): (RunId, &Run),
    ) {
        let earlier = self.run(other);
        let accesses = u64::from(earlier.count);
        if view.is_ended((earlier.first, earlier.strand), (run.first, run.strand)) {
            self.ended.push((other, id));
        } else if self.is_list_full() {
            self.count(id, (1, accesses));
        } else {
            self.pairs.push((other, id));
            self.more.push(more);
        }
    }

    /// Sorts the pairs from a position on by their earlier runs, and keeps the order of those with
    /// one key.
    pub(crate) fn sort_from(&mut self, from: usize, key: impl Fn(&Run) -> Option<u32>) {
        let mut sorted: Vec<_> =
            self.pairs[from..].iter().copied().zip(self.more[from..].iter().copied()).collect();
        sorted.sort_by_key(|((earlier, _), _)| key(self.run(*earlier)));
        for (at, (pair, more)) in (from..).zip(sorted) {
            (self.pairs[at], self.more[at]) = (pair, more);
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
        let counted = self.counted.iter().map(|counted| self.counted_in(counted));
        let pairs = (0..self.pairs.len()).map(|at| self.pairs_in(at));
        let count = |later: RunId| u64::from(self.run(later).count);
        let unlisted = self.unlisted.iter().map(|races| races.accesses * count(races.later));
        pairs.chain(counted).chain(unlisted).fold(0, u64::saturating_add)
    }

    /// Returns the number of racing pairs of accesses that were only counted.
    pub(crate) fn counted_in(&self, counted: &Counted) -> u64 {
        counted.accesses * u64::from(self.run(counted.later).count)
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
    /// The position in `at` of each location that can race, and `u32::MAX` for the others.
    places: Vec<u32>,
    at: Vec<AtLocation>,
    /// By such position, whether the location's races are grouped by source position.
    by_sites: Vec<bool>,
    last_run: Vec<Option<RunId>>,
    pub(crate) races: Races,
    pub(crate) work: Work,
    /// The most pairs of like runs that are kept one by one, for each list of them.
    kept_max: usize,
    by: GroupBy,
    /// The profiles of runs, if some races may be only counted.
    profiles: Option<Profiles<'t>>,
    /// Whether coverage is between tasks.
    by_task: bool,
}

impl<'t> Detector<'t> {
    pub(crate) fn new(trace: &'t Trace, conflicts: &'t Conflicts) -> Detector<'t> {
        Detector::of(trace, conflicts, |_| true)
    }

    /// Makes a detector that looks at the locations that may race.
    pub(crate) fn of(
        trace: &'t Trace,
        conflicts: &'t Conflicts,
        may_race: impl Fn(LocationId) -> bool,
    ) -> Detector<'t> {
        let locations = trace.tables().locations.len();
        let mut places = vec![u32::MAX; locations];
        let id = |at: usize| LocationId(at as u32);
        let shared = (0..locations).filter(|at| conflicts.is_shared(id(*at)) && may_race(id(*at)));
        let mut by_sites = Vec::new();
        for location in shared {
            places[location] = by_sites.len() as u32;
            by_sites.push(is_grouped_by_sites(trace, id(location)));
        }
        Detector {
            trace,
            conflicts,
            places,
            at: vec![AtLocation::default(); by_sites.len()],
            by_sites,
            last_run: vec![None; locations],
            races: Races::default(),
            work: Work::default(),
            kept_max: usize::MAX,
            by: GroupBy::Field,
            profiles: None,
            by_task: false,
        }
    }

    /// Makes a detector that keeps so many pairs of like runs one by one and counts the others.
    /// Like runs are in one group in reports.
    pub(crate) fn keeping(self, kept_max: usize, by: GroupBy) -> Detector<'t> {
        Detector { kept_max, by, ..self }
    }

    /// Lets the detector count most races of many chains at one location, if coverage between
    /// accesses or between whole tasks is wanted.
    pub(crate) fn counting(self, origins: &'t Origins, level: CoverageLevel) -> Detector<'t> {
        let counts = self.kept_max < usize::MAX && level != CoverageLevel::Single;
        let profiles = if counts { Profiles::new(self.trace, origins) } else { None };
        Detector { profiles, by_task: level == CoverageLevel::Task, ..self }
    }

    /// Lets the detector keep the first pairs of runs, so many or somewhat more, and count those
    /// after them.
    pub(crate) fn listing(mut self, listed_max: usize) -> Detector<'t> {
        self.races.listed_max = Some(listed_max);
        self
    }

    /// Returns the position of a location that can race.
    fn place(&self, location: LocationId) -> usize {
        self.places[location.index()] as usize
    }

    /// Adds a run to those of its chain: it grows no more.
    fn end(&mut self, view: &View<'_, '_>, id: RunId) {
        let run = *self.races.run(id);
        let tables = self.trace.tables();
        // Posted tasks differ in their causes, even on one chain.
        let is_like = tables.tasks[run.task.index()].kind == TaskKind::Initial
            && view.engine.over.is_empty()
            && self.races.listed_max.is_none();
        let site = self.site(run.location, run.last);
        let like = is_like.then_some((run.task, site));
        let profile = self.profile(view, &run, site);
        let handler = view.engine.strands.get(run.strand).handler;
        let place = self.place(run.location);
        let profile = self.at[place].end((id, &run, handler), (like, profile));
        self.races.runs[id.0 as usize].profile = profile;
    }

    /// Returns the profile of a run, at a source position if that matters.
    fn profile(&mut self, view: &View<'_, '_>, run: &Run, site: SiteId) -> Option<ProfileId> {
        if !view.engine.over.is_empty() {
            return None;
        }
        match self.races.listed_max {
            Some(_) => Some(ProfileId::of_class(run.class)),
            None => Some(self.profiles.as_mut()?.of(run, site)),
        }
    }

    /// Returns the source position of an event, if reports tell races of its location apart by it.
    fn site(&self, location: LocationId, event: EventId) -> SiteId {
        let by_sites = self.by == GroupBy::Sites || self.by_sites[self.place(location)];
        if by_sites { self.trace.columns().sites[event.index()] } else { SiteId(0) }
    }

    /// Ends the last run of the cluster of a location.
    fn end_last(&mut self, view: &View<'_, '_>, location: LocationId) {
        let last = self.last_run[self.conflicts.cluster(location).index()].take();
        if let Some(last) = last {
            self.end(view, last);
        }
    }

    /// Returns whether a new run is one of reads that no write is unordered with, now or later.
    fn is_quiet(&mut self, view: &View<'_, '_>, run: &Run) -> bool {
        let fault = view.engine.sabotage;
        let is_read_on = self.conflicts.is_only_read_after(run.location, run.first)
            || fault == Sabotage::QuietBeforeWrites;
        let is_alone =
            self.conflicts.overlaps(run.location).is_empty() || fault == Sabotage::QuietOverlapping;
        if run.class.writes || !is_read_on || !is_alone {
            return false;
        }
        self.end_last(view, run.location);
        let handler = view.engine.strands.get(run.strand).handler;
        let place = self.place(run.location);
        self.at[place].is_behind_writes(&self.races, view, (run, handler))
    }

    fn start(&mut self, view: &View<'_, '_>, mut run: Run) {
        self.end_last(view, run.location);
        let place = self.place(run.location);
        let id = RunId(self.races.runs.len() as u32);
        if self.by_task && self.profiles.is_some() {
            let begins = view.engine.node_first(view.engine.node_of(run.task, run.strand));
            run.is_latest = self.at[place].is_latest(begins);
        }
        self.races.runs.push(run);
        let Strand { handler, posted, .. } = *view.engine.strands.get(run.strand);
        let profile = self.profile(view, &run, self.site(run.location, run.first));
        let by_task = self.by_task;
        let (listed_max, is_counted) = (self.races.listed_max, self.races.is_list_full());
        let kept_max = listed_max.filter(|_| is_counted).unwrap_or(self.kept_max);
        let profile = profile.filter(|_| listed_max.is_none() || is_counted);
        let new = NewRun { id, run: &run, handler, posted, kept_max, profile, is_counted, by_task };
        let Detector { places, at, races, work, profiles, .. } = self;
        let profiles = profiles.as_ref();
        let found = at[place].find(races, (view, profiles), new, work);
        for &location in self.conflicts.overlaps(run.location) {
            let place = places[location.index()] as usize;
            at[place].find(races, (view, profiles), new, work);
        }
        let group = at[place].add(races, view, new, found);
        races.runs[id.0 as usize].group = group;
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
        if self.places[location.index()] == u32::MAX {
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
            group: u32::MAX,
            is_latest: false,
            profile: None,
        };
        if !self.is_quiet(view, &run) {
            self.start(view, run);
        }
    }

    fn memory_bytes(&self) -> usize {
        let Races { runs, pairs, more, ended, counted, unlisted, .. } = &self.races;
        let pairs = pairs.capacity() + ended.capacity() + more.capacity();
        runs.capacity() * size_of::<Run>()
            + pairs * size_of::<(RunId, RunId)>()
            + counted.capacity() * size_of::<Counted>()
            + unlisted.capacity() * size_of::<Unlisted>()
    }
}
