//! The runs of one location, and which of them a new run is compared with.
//!
//! **Idea.** Two atomic accesses do not conflict. So the runs of plain accesses and those of atomic
//! ones are kept apart, and a run of atomic accesses is compared with the plain ones only: many
//! threads that release at one atomic, each unordered with the others, cost each of them nothing.
//! On each side, handlers are skipped if all their runs come before a run that comes before the new
//! one ([`Front`]).

use crate::races::detector::{Races, Run, RunId};
use crate::races::like_runs::ChainRuns;
use crate::relation::pass::View;
use anyorder_order::ChainId;

/// A new run, which is at its first access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewRun<'r> {
    pub(crate) id: RunId,
    pub(crate) run: &'r Run,
    /// Whether it belongs to a posted task.
    pub(crate) posted: bool,
    /// The most pairs of like runs that are kept one by one, for each list of them.
    pub(crate) kept_max: usize,
}

/// A number for each side of a location: plain, atomic.
pub(crate) type OfSides<T> = [T; 2];

/// The runs of one location.
#[derive(Clone, Debug, Default)]
pub(crate) struct AtLocation {
    plain: Side,
    /// `None` while no access is atomic.
    atomic: Option<Box<Side>>,
}

/// The runs of one location that are all plain or all atomic.
#[derive(Clone, Debug, Default)]
struct Side {
    groups: Vec<OnHandler>,
    writes: Front,
    reads: Front,
}

/// The groups of a side that have runs which do not happen before a new run.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenGroups {
    writes: Vec<u32>,
    reads: Vec<u32>,
}

impl AtLocation {
    /// Returns whether a run may be compared with runs of atomic accesses, or is one.
    pub(crate) fn has_atomics(&self) -> bool {
        self.atomic.is_some()
    }

    /// Records the races of a new run with the runs here. `own` are the groups of its handler.
    /// Returns what is open on the sides that were visited.
    pub(crate) fn find(
        &self,
        races: &mut Races,
        view: &View<'_, '_>,
        new: NewRun<'_>,
        own: OfSides<Option<u32>>,
        visited: &mut u64,
    ) -> OfSides<Option<OpenGroups>> {
        let plain = self.plain.find(races, view, new, own[0], visited);
        let atomic = self.atomic.as_ref().filter(|_| !new.run.class.atomic);
        [Some(plain), atomic.map(|side| side.find(races, view, new, own[1], visited))]
    }

    /// Takes a new run after its races were found. Returns the number of its group.
    pub(crate) fn add(
        &mut self,
        races: &Races,
        view: &View<'_, '_>,
        new: NewRun<'_>,
        own: OfSides<Option<u32>>,
        found: OfSides<Option<OpenGroups>>,
    ) -> u32 {
        let [plain, atomic] = found;
        if new.run.class.atomic {
            let side = self.atomic.get_or_insert_default();
            let at = side.add(races, view, new, own[1], None);
            if let Some(open) = plain {
                self.plain.pass(new, own[0], open);
            }
            at
        } else {
            if let (Some(side), Some(open)) = (&mut self.atomic, atomic) {
                side.pass(new, own[1], open);
            }
            self.plain.add(races, view, new, own[0], plain)
        }
    }

    /// Adds a run that grows no more to its chain.
    pub(crate) fn end(&mut self, run: &Run, group: u32, add: impl FnOnce(&mut ChainRuns)) {
        let side = match (run.class.atomic, &mut self.atomic) {
            (true, Some(side)) => side,
            _ => &mut self.plain,
        };
        let Some(group) = side.groups.get_mut(group as usize) else { return };
        let runs = if run.class.writes { &mut group.writes } else { &mut group.reads };
        if let Some((_, runs)) = runs.of_chain.iter_mut().find(|(chain, _)| *chain == run.chain) {
            add(runs);
        }
    }
}

impl Side {
    /// Records the races of a new run with the runs here. Returns the groups with writes, and those
    /// with reads, that do not all happen before it. A read needs no other reads.
    fn find(
        &self,
        races: &mut Races,
        view: &View<'_, '_>,
        new: NewRun<'_>,
        own: Option<u32>,
        visited: &mut u64,
    ) -> OpenGroups {
        let run = new.run;
        let count = self.groups.len() as u32;
        let writes = self.writes.to_visit(races, view, run);
        let reads = match run.class.writes {
            true => self.reads.to_visit(races, view, run),
            false => Some(&[][..]),
        };
        let mut open = OpenGroups::default();
        let mut visit = |at: u32| {
            *visited += 1;
            let group = &self.groups[at as usize];
            let transitive = group.posted.is_some();
            if !group.writes.find(races, view, transitive, new) {
                open.writes.push(at);
            }
            if run.class.writes && !group.reads.find(races, view, transitive, new) {
                open.reads.push(at);
            }
        };
        match (writes, reads) {
            (Some(writes), Some(reads)) => merge(&[writes, reads, own.as_slice()], &mut visit),
            _ => (0..count).for_each(visit),
        }
        open
    }

    /// Takes a run of this side. Without `found` it was not compared with the runs here.
    fn add(
        &mut self,
        races: &Races,
        view: &View<'_, '_>,
        new: NewRun<'_>,
        own: Option<u32>,
        found: Option<OpenGroups>,
    ) -> u32 {
        let at = own.unwrap_or_else(|| {
            let (writes, reads) = (RunSet::default(), RunSet::default());
            self.groups.push(OnHandler { writes, reads, posted: Some(new.posted) });
            self.groups.len() as u32 - 1
        });
        let group = &mut self.groups[at as usize];
        let writes = new.run.class.writes;
        let is_known =
            |set: &RunSet| group.posted.is_some() && set.is_known_before(races, view, new.run);
        let is_before = |open: &[u32]| open.binary_search(&at).is_err();
        let before = match &found {
            Some(open) if writes => (is_before(&open.writes), is_before(&open.reads)),
            Some(open) => (is_before(&open.writes), is_known(&group.reads)),
            None => (is_known(&group.writes), is_known(&group.reads)),
        };
        group.add(new, before);
        match found {
            Some(open) if writes => {
                if !self.writes.advance(new.id, open.writes) {
                    self.writes.open(at);
                }
                self.reads.advance(new.id, open.reads);
            }
            None if writes => self.writes.open(at),
            found => {
                self.reads.open(at);
                if let Some(open) = found {
                    self.writes.shrink(new.id, open.writes);
                }
            }
        }
        at
    }

    /// Records that a run of the other side was compared with the runs here.
    fn pass(&mut self, new: NewRun<'_>, own: Option<u32>, open: OpenGroups) {
        if !new.run.class.writes {
            return self.writes.shrink(new.id, open.writes);
        }
        if let Some(at) = own {
            let group = &mut self.groups[at as usize];
            for (set, open) in [(&mut group.writes, &open.writes), (&mut group.reads, &open.reads)]
            {
                let is_before = open.binary_search(&at).is_err() && !set.of_chain.is_empty();
                if is_before && group.posted == Some(new.posted) {
                    set.behind(new.id);
                }
            }
        }
        for (front, open) in [(&mut self.writes, open.writes), (&mut self.reads, open.reads)] {
            if new.run.class.atomic {
                front.shrink(new.id, open);
            } else {
                front.advance(new.id, open);
            }
        }
    }
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

    /// Lets the front be a run before which all runs come, except in some groups. A front with few
    /// open groups is worth more than the latest one. Returns whether the run is the front.
    fn advance(&mut self, run: RunId, open: Vec<u32>) -> bool {
        let advances = self.last.is_none() || open.len() <= self.open.len() + 1;
        if advances {
            (self.last, self.open) = (Some(run), open);
        }
        advances
    }

    /// Lets the front be such a run if far fewer groups are open then. Runs that conflict with one
    /// another are usually in order, and others are not: a run is seldom behind one of those.
    fn shrink(&mut self, run: RunId, open: Vec<u32>) {
        if 2 * open.len() < self.open.len() {
            (self.last, self.open) = (Some(run), open);
        }
    }

    fn open(&mut self, group: u32) {
        if let Err(at) = self.open.binary_search(&group) {
            self.open.insert(at, group);
        }
    }
}

/// The runs of one side of a location on one handler.
#[derive(Clone, Debug)]
struct OnHandler {
    writes: RunSet,
    reads: RunSet,
    /// Whether all runs belong to posted tasks; `None` if some do.
    posted: Option<bool>,
}

impl OnHandler {
    /// Adds a run. `own` says whether all writes and all reads in this list happen before it.
    fn add(&mut self, new: NewRun<'_>, own: (bool, bool)) {
        if self.posted != Some(new.posted) {
            self.posted = None;
        }
        let (id, run) = (new.id, new.run);
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

impl RunSet {
    /// Records the races of a new run with the runs in this list. Returns whether all of them,
    /// conflicting or not, happen before it.
    fn find(
        &self,
        races: &mut Races,
        view: &View<'_, '_>,
        transitive: bool,
        new: NewRun<'_>,
    ) -> bool {
        let NewRun { id, run, kept_max, .. } = new;
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
