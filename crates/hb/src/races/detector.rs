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

use crate::races::groups::GroupBy;
use crate::races::like_runs::ChainRuns;
use crate::relation::conflicts::{AccessClass, Conflicts};
use crate::relation::pass::{View, Visitor};
use crate::relation::strands::StrandId;
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
    fn add(&mut self, view: &View<'_, '_>, (other, more): (RunId, u64), (id, run): (RunId, &Run)) {
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

/// Runs of one location on one handler, all of them reads or all of them writes.
///
/// They are usually in order. Then a query about the last run is enough, because everything that it
/// precedes comes after its predecessors, too. That holds as long as either all runs of the handler
/// belong to posted tasks, or none does.
#[derive(Clone, Debug, Default)]
struct RunSet {
    of_chain: Vec<(ChainId, ChainRuns)>,
    /// A run of the handler that comes after all runs recorded before it.
    last_of_all: Option<RunId>,
    /// The runs recorded after `last_of_all`.
    since: Vec<RunId>,
}

/// The most runs after `last_of_all` that are compared one by one.
const SINCE_MAX: usize = 16;

/// The runs of one location on one handler.
#[derive(Clone, Debug)]
struct OnHandler {
    writes: RunSet,
    reads: RunSet,
    /// Whether all runs belong to posted tasks; `None` if some do.
    posted: Option<bool>,
}

impl RunSet {
    /// Records the races of a new run with the runs in this list. Returns whether all of them,
    /// conflicting or not, happen before it.
    fn find(
        &self,
        races: &mut Races,
        view: &View<'_, '_>,
        (transitive, kept_max): (bool, usize),
        (id, run): (RunId, &Run),
    ) -> bool {
        let last = self.last_of_all.filter(|_| transitive);
        let mut all = true;
        if last.is_some_and(|last| is_before(view, races.run(last), run)) {
            for &other in &self.since {
                all &= note(races, view, other, (id, run));
            }
            return all;
        }
        for (chain, runs) in self.of_chain.iter().filter(|(chain, _)| *chain != run.chain) {
            let bound = view.bound(run.strand, *chain);
            if !runs.are_below(races, bound) {
                all = false;
                for racing in runs.racing(races, (bound, run.class), kept_max) {
                    races.add(view, racing, (id, run));
                }
            }
        }
        all
    }

    /// Takes a new run; `in_order` means that all runs in this list happen before it. It joins the
    /// runs of its chain once it grows no more.
    fn begin(&mut self, id: RunId, chain: ChainId, in_order: bool) {
        if in_order {
            self.behind(id);
        } else if self.last_of_all.is_some() && self.since.len() < SINCE_MAX {
            self.since.push(id);
        } else {
            self.last_of_all = None;
            self.since.clear();
        }
        if !self.of_chain.iter().any(|(c, _)| *c == chain) {
            self.of_chain.push((chain, ChainRuns::default()));
        }
    }

    /// Records that all runs in this list happen before a run of the handler.
    fn behind(&mut self, id: RunId) {
        self.last_of_all = Some(id);
        self.since.clear();
    }

    /// Returns whether all runs in this list are known to happen before a run, without a query for
    /// each chain.
    fn is_known_before(&self, races: &Races, view: &View<'_, '_>, run: &Run) -> bool {
        match self.last_of_all {
            Some(last) => {
                is_before(view, races.run(last), run)
                    && self.since.iter().all(|other| is_before(view, races.run(*other), run))
            }
            None => self.of_chain.is_empty(),
        }
    }
}

/// Returns whether a run happens before another run, which is at its first access.
fn is_before(view: &View<'_, '_>, earlier: &Run, run: &Run) -> bool {
    earlier.chain == run.chain || earlier.last.0 < view.bound(run.strand, earlier.chain)
}

/// Records two runs that race. Returns whether the earlier one happens before the later one.
fn note(races: &mut Races, view: &View<'_, '_>, other: RunId, (id, run): (RunId, &Run)) -> bool {
    let before = is_before(view, races.run(other), run);
    if !before && run.class.conflicts(races.run(other).class) {
        races.add(view, (other, 0), (id, run));
    }
    before
}

/// The runs of one location.
#[derive(Clone, Debug, Default)]
struct AtLocation {
    groups: Vec<OnHandler>,
    writes: Front,
    reads: Front,
}

/// What is known about all runs of one location of one kind.
///
/// Invariant: in groups that are not `open`, each run comes before `last`; without it, they have no
/// run. So a run behind `last` need not look at them, unless it belongs to a posted task of the
/// same handler: between two of those, happens-before is not transitive.
#[derive(Clone, Debug, Default)]
struct Front {
    last: Option<RunId>,
    /// Positions of groups, ascending.
    open: Vec<u32>,
}

impl Front {
    /// Returns the groups that may have a run that is not before `run`; `None` for all of them.
    fn to_visit(&self, races: &Races, view: &View<'_, '_>, run: &Run) -> Option<&[u32]> {
        let Some(last) = self.last else { return Some(&self.open) };
        let last = races.run(last);
        let clock = view.at[run.strand.index()];
        let behind = last.chain == run.chain || view.clocks.get(clock, last.chain) > last.last.0;
        behind.then_some(&self.open)
    }

    /// Records a run before which all runs come, except in some groups.
    fn replace(&mut self, run: RunId, open: Vec<u32>) {
        (self.last, self.open) = (Some(run), open);
    }

    fn open(&mut self, group: u32) {
        if let Err(at) = self.open.binary_search(&group) {
            self.open.insert(at, group);
        }
    }
}

impl AtLocation {
    /// Records the races of a new run with the runs here. Returns the groups with writes, and those
    /// with reads, that do not all happen before it. A read needs no other reads.
    fn find(
        &self,
        races: &mut Races,
        view: &View<'_, '_>,
        (own, kept_max): (Option<u32>, usize),
        (id, run): (RunId, &Run),
        visited: &mut u64,
    ) -> (Vec<u32>, Vec<u32>) {
        let count = self.groups.len() as u32;
        let writes = self.writes.to_visit(races, view, run);
        let reads = match run.class.writes {
            true => self.reads.to_visit(races, view, run),
            false => Some(&[][..]),
        };
        let (mut open_writes, mut open_reads) = (Vec::new(), Vec::new());
        let mut visit = |at: u32| {
            *visited += 1;
            let group = &self.groups[at as usize];
            let how = (group.posted.is_some(), kept_max);
            if !group.writes.find(races, view, how, (id, run)) {
                open_writes.push(at);
            }
            if run.class.writes && !group.reads.find(races, view, how, (id, run)) {
                open_reads.push(at);
            }
        };
        match (writes, reads) {
            (Some(writes), Some(reads)) => merge(&[writes, reads, own.as_slice()], &mut visit),
            _ => (0..count).for_each(visit),
        }
        (open_writes, open_reads)
    }
}

/// Calls `visit` with each number in some lists once, ascending. Each list ascends.
fn merge(lists: &[&[u32]; 3], mut visit: impl FnMut(u32)) {
    let mut rest = *lists;
    while let Some(least) = rest.iter().filter_map(|list| list.first()).min().copied() {
        for list in &mut rest {
            if list.first() == Some(&least) {
                *list = &list[1..];
            }
        }
        visit(least);
    }
}

/// A visitor that finds races during a pass.
pub(crate) struct Detector<'t> {
    trace: &'t Trace,
    conflicts: &'t Conflicts,
    at: Vec<AtLocation>,
    groups: FxHashMap<(LocationId, HandlerId), u32>,
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
        let Some(group) = self.groups.get(&(run.location, handler)) else { return };
        let group = &mut self.at[run.location.index()].groups[*group as usize];
        let runs = if run.class.writes { &mut group.writes } else { &mut group.reads };
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
        if let Some((_, runs)) = runs.of_chain.iter_mut().find(|(chain, _)| *chain == run.chain) {
            runs.add(id, run, is_like.then_some((run.task, site)));
        }
    }

    fn start(&mut self, view: &View<'_, '_>, run: Run) {
        if let Some(last) = self.last_run[self.conflicts.cluster(run.location).index()] {
            self.end(view, last);
        }
        let id = RunId(self.races.runs.len() as u32);
        self.races.runs.push(run);
        let strand = view.engine.strands.get(run.strand);
        let (handler, posted) = (strand.handler, strand.posted);
        let (races, kept_max) = (&mut self.races, self.kept_max);
        let own = self.groups.get(&(run.location, handler)).copied();
        let here = &self.at[run.location.index()];
        let (writes, reads) =
            here.find(races, view, (own, kept_max), (id, &run), &mut self.visited);
        for &location in self.conflicts.overlaps(run.location) {
            let own = self.groups.get(&(location, handler)).copied();
            let at = &self.at[location.index()];
            at.find(races, view, (own, kept_max), (id, &run), &mut self.visited);
        }
        let here = &mut self.at[run.location.index()];
        let at = own.unwrap_or_else(|| {
            let (writes, reads) = (RunSet::default(), RunSet::default());
            here.groups.push(OnHandler { writes, reads, posted: Some(posted) });
            self.groups.insert((run.location, handler), here.groups.len() as u32 - 1);
            here.groups.len() as u32 - 1
        });
        let group = &mut here.groups[at as usize];
        let are_before = |open: &[u32]| open.binary_search(&at).is_err();
        let reads_before = match run.class.writes {
            true => are_before(&reads),
            false => group.posted.is_some() && group.reads.is_known_before(races, view, &run),
        };
        group.add((id, &run), posted, (are_before(&writes), reads_before));
        here.note((id, &run), at, writes, reads);
        self.last_run[self.conflicts.cluster(run.location).index()] = Some(id);
    }
}

impl AtLocation {
    /// Updates the fronts after a new run in a group.
    fn note(&mut self, (id, run): (RunId, &Run), at: u32, writes: Vec<u32>, reads: Vec<u32>) {
        if !run.class.writes {
            return self.reads.open(at);
        }
        for (front, open, own) in
            [(&mut self.writes, writes, Some(at)), (&mut self.reads, reads, None)]
        {
            // A front with few open groups is worth more than the latest one.
            if open.len() <= front.open.len() + 1 || front.last.is_none() {
                front.replace(id, open);
            } else if let Some(own) = own {
                front.open(own);
            }
        }
    }
}

impl OnHandler {
    /// Adds a run. `own` says whether all writes and all reads in this list happen before it.
    fn add(&mut self, (id, run): (RunId, &Run), posted: bool, own: (bool, bool)) {
        if self.posted != Some(posted) {
            self.posted = None;
        }
        if run.class.writes {
            self.writes.begin(id, run.chain, own.0);
            if own.1 && !self.reads.of_chain.is_empty() {
                self.reads.behind(id);
            }
        } else {
            self.reads.begin(id, run.chain, own.1);
        }
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
