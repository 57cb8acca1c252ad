//! The runs of one location, and which of them a new run is compared with.
//!
//! **Idea.** Two atomic accesses do not conflict. So the runs of plain accesses and those of atomic
//! ones are kept apart, and a run of atomic accesses is compared with the plain ones only: many
//! threads that release at one atomic, each unordered with the others, cost each of them nothing.
//! On each side, handlers are skipped if all their runs come before a run that comes before the new
//! one ([`Front`]).

use crate::races::crowd::{Crowd, InCrowd, OfProfile, PROFILES_MAX, Scope, Stop, add_to};
use crate::races::detector::{Races, Run, RunId};
use crate::races::like_runs::Like;
use crate::races::places::Places;
use crate::races::profile::{ProfileId, Profiles};
use crate::races::run_set::{RunSet, is_before};
use crate::relation::pass::View;
use crate::relation::sabotage::Sabotage;
use anyorder_order::ChainId;
use anyorder_trace::{EventId, HandlerId};

/// A new run, which is at its first access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewRun<'r> {
    pub(crate) id: RunId,
    pub(crate) run: &'r Run,
    pub(crate) handler: HandlerId,
    /// Whether it belongs to a posted task.
    pub(crate) posted: bool,
    /// The most pairs of like runs that are kept one by one, for each list of them.
    pub(crate) kept_max: usize,
    /// What reports know of it. `None` where all pairs are kept.
    pub(crate) profile: Option<ProfileId>,
    /// Whether its races are only counted, all of them.
    pub(crate) is_counted: bool,
    /// Whether coverage is between tasks.
    pub(crate) by_task: bool,
}

impl NewRun<'_> {
    /// Returns the number of chains, or of runs that reports tell apart, from which on most races
    /// are only counted.
    fn crowd_min(&self) -> usize {
        CROWD_MIN.min(self.kept_max)
    }
}

/// The fewest chains or runs of a crowd, unless fewer pairs are kept.
const CROWD_MIN: usize = 32;

/// The runs of one location.
#[derive(Clone, Debug)]
pub(crate) struct AtLocation {
    plain: Side,
    /// `None` while no access is atomic.
    atomic: Option<Box<Side>>,
    /// When the last task with a run here began.
    begun: EventId,
}

impl Default for AtLocation {
    fn default() -> AtLocation {
        AtLocation { plain: Side::default(), atomic: None, begun: EventId(0) }
    }
}

/// The runs of one location that are all plain or all atomic.
#[derive(Clone, Debug, Default)]
pub(crate) struct Side {
    pub(crate) groups: Vec<OnHandler>,
    /// Their handlers.
    handlers: Vec<HandlerId>,
    places: Places<HandlerId>,
    writes: Front,
    reads: Front,
    /// The chains of all groups.
    pub(crate) chains_count: usize,
    /// The runs that grow no more and that reports tell apart.
    unlike: usize,
    /// `None` while there are few of both, or if some run has no profile.
    crowd: Option<Box<Crowd>>,
    /// Whether runs have no profiles, or too many.
    no_crowd: bool,
}

/// The groups of a side that have runs which do not happen before a new run.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenGroups {
    /// The group of the handler of the new run.
    own: Option<u32>,
    writes: Vec<u32>,
    reads: Vec<u32>,
    /// Whether others may have, too.
    more: (bool, bool),
}

/// What it takes to compare new runs with earlier ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    /// How often a group was compared with a new run.
    pub(crate) visited: u64,
    /// The groups to visit now.
    groups: Vec<u32>,
}

/// What is open on each side, plain and atomic, that was visited.
pub(crate) type Found = [Option<OpenGroups>; 2];

impl AtLocation {
    /// Takes notice of the begin of a task with a run. Returns whether it is the last one.
    pub(crate) fn is_latest(&mut self, begins: EventId) -> bool {
        let is_latest = self.begun <= begins;
        self.begun = self.begun.max(begins);
        is_latest
    }

    /// Returns whether a look at few runs shows that a run of reads by a handler comes after all
    /// writes here that conflict with it.
    pub(crate) fn is_behind_writes(
        &self,
        races: &Races,
        view: &View<'_, '_>,
        (run, handler): (&Run, HandlerId),
    ) -> bool {
        let is_behind = |side: &Side| side.is_behind_writes(races, view, (run, handler));
        let skips = run.class.atomic || view.engine.sabotage == Sabotage::QuietBesideAtomics;
        let atomic = self.atomic.as_deref().filter(|_| !skips);
        is_behind(&self.plain) && atomic.is_none_or(is_behind)
    }

    /// Records the races of a new run with the runs here. Returns what is open on the sides that
    /// were visited.
    pub(crate) fn find(
        &mut self,
        races: &mut Races,
        (view, profiles): (&View<'_, '_>, Option<&Profiles<'_>>),
        new: NewRun<'_>,
        work: &mut Work,
    ) -> Found {
        let sides = [Some(&self.plain), self.atomic.as_deref()];
        // Only what is counted for a crowd has to stop somewhere.
        let has_crowd = sides.into_iter().flatten().any(|side| side.has_crowd(new));
        let last = if has_crowd { self.last_like(races, new) } else { None };
        let mut stop = Stop::from(last);
        let mut find = |side: &mut Side| side.find(races, (view, profiles), new, &mut stop, work);
        let plain = find(&mut self.plain);
        let atomic = self.atomic.as_mut().filter(|_| !new.run.class.atomic);
        [Some(plain), atomic.map(|side| find(side))]
    }

    /// Returns the last run of the strand itself that conflicts with all that a new one conflicts
    /// with, where coverage is between accesses.
    fn last_like(&self, races: &Races, new: NewRun<'_>) -> Option<RunId> {
        new.profile.filter(|_| !new.by_task && !new.is_counted)?;
        let last = |side: &Side, with_writes: bool| {
            let group = &side.groups[side.group_of(new.handler)? as usize];
            let set = |set: &RunSet, wanted: bool| {
                let lists = set.chain(new.run.chain).filter(|_| wanted)?.lists();
                lists.iter().filter_map(|list| list.runs().last().copied()).max()
            };
            let reads = set(&group.reads, !new.run.class.writes);
            set(&group.writes, with_writes).max(reads)
        };
        let own = match (new.run.class.atomic, &self.atomic) {
            (true, Some(atomic)) => last(atomic, new.run.class.writes),
            (true, None) => None,
            (false, _) => last(&self.plain, true),
        };
        own.filter(|id| races.run(*id).strand == new.run.strand)
    }

    /// Takes a new run after its races were found. Returns its group.
    pub(crate) fn add(
        &mut self,
        races: &Races,
        view: &View<'_, '_>,
        new: NewRun<'_>,
        [plain, atomic]: Found,
    ) -> u32 {
        if new.run.class.atomic {
            if let Some(open) = plain {
                self.plain.pass(new, open);
            }
            self.atomic.get_or_insert_default().add(races, view, new, None)
        } else {
            if let (Some(side), Some(open)) = (&mut self.atomic, atomic) {
                side.pass(new, open);
            }
            self.plain.add(races, view, new, plain)
        }
    }

    /// Adds a run that grows no more to its chain. Returns its profile, if its races may be only
    /// counted.
    pub(crate) fn end(
        &mut self,
        (id, run, handler): (RunId, &Run, HandlerId),
        (like, profile): (Like, Option<ProfileId>),
    ) -> Option<ProfileId> {
        let side = match (run.class.atomic, &mut self.atomic) {
            (true, Some(side)) => side,
            _ => &mut self.plain,
        };
        let group = side.groups.get_mut(run.group as usize)?;
        let set = if run.class.writes { &mut group.writes } else { &mut group.reads };
        let place = set.place(run.chain)?;
        let profile = set.of_chain[place].1.add(id, run, (like, profile));
        set.unlike += usize::from(like.is_none());
        side.unlike += usize::from(like.is_none());
        let Some(profile) = profile else {
            side.no_crowd = true;
            side.crowd = None;
            return None;
        };
        if let Some(crowd) = &mut side.crowd {
            let list = if run.class.writes { &mut crowd.writes } else { &mut crowd.reads };
            list.push(id);
            let lists = [(&mut crowd.all, handler.0), (&mut group.of_profile, run.task.0)];
            for (list, by) in lists {
                add_to(list, (profile, run.class), (id, by), u64::from(run.count));
            }
            if crowd.all.len() > PROFILES_MAX {
                side.no_crowd = true;
                side.crowd = None;
            }
        }
        Some(profile)
    }
}

impl Side {
    /// Returns the group of a handler.
    pub(crate) fn group_of(&self, handler: HandlerId) -> Option<u32> {
        self.places.of(&self.handlers, handler, |handler| *handler).map(|place| place as u32)
    }

    /// Returns the groups of a scope.
    pub(crate) fn groups_of(&self, scope: Scope) -> impl Iterator<Item = &OnHandler> {
        (0..).zip(&self.groups).filter(move |(at, _)| scope.has(*at)).map(|(_, group)| group)
    }

    /// Returns whether a look at few runs shows that a run comes after all writes.
    fn is_behind_writes(
        &self,
        races: &Races,
        view: &View<'_, '_>,
        (run, handler): (&Run, HandlerId),
    ) -> bool {
        let own = self.group_of(handler).map(|at| &self.groups[at as usize]);
        let own_before = own
            .is_none_or(|own| own.posted.is_some() && own.writes.is_known_before(races, view, run));
        let others_before = self.writes.to_visit(races, view, run).is_some_and(<[u32]>::is_empty);
        let fault = view.engine.sabotage;
        (own_before || fault == Sabotage::QuietBesideOwn)
            && (others_before || fault == Sabotage::QuietBesideOthers)
    }

    /// Records the races of a new run with the runs here. Returns the groups with writes, and those
    /// with reads, that do not all happen before it. A read needs no other reads.
    fn find(
        &mut self,
        races: &mut Races,
        (view, profiles): (&View<'_, '_>, Option<&Profiles<'_>>),
        new: NewRun<'_>,
        stop: &mut Stop,
        work: &mut Work,
    ) -> OpenGroups {
        let run = new.run;
        let own = self.group_of(new.handler);
        if self.has_crowd(new) && new.profile.is_some() && !self.no_crowd {
            self.gather(races);
        }
        let mut crowd = if new.profile.is_some() { self.crowd.take() } else { None };
        let writes = self.writes.to_visit(races, view, run);
        let reads = match run.class.writes {
            true => self.reads.to_visit(races, view, run),
            false => Some(&[][..]),
        };
        let longest = match (writes, reads) {
            (Some(writes), Some(reads)) => writes.len().max(reads.len()),
            _ => self.groups.len(),
        };
        let are_many = crowd.is_some() && longest > new.crowd_min() + 1;
        work.groups.clear();
        match (writes, reads) {
            // To list a crowd would take as long as to visit it.
            _ if are_many => work.groups.extend(own),
            (Some(writes), Some(reads)) => {
                merge([writes, reads, own.as_slice()], &mut work.groups);
            }
            _ => work.groups.extend(0..self.groups.len() as u32),
        }
        let mut in_crowd = InCrowd::new();
        let mut open = OpenGroups { own, ..OpenGroups::default() };
        let from = races.pairs.len();
        if let Some(crowd) = &mut crowd
            && are_many
        {
            work.visited += 1;
            crowd.find(self, Scope::Others(own), races, (view, new), &mut in_crowd);
            open.more = (!in_crowd.before.0, !in_crowd.before.1);
        }
        work.visited += work.groups.len() as u64;
        for &at in &work.groups {
            let is_own = Some(at) == own;
            let group = &self.groups[at as usize];
            let scope = Scope::One(at, is_own);
            let is_alike = || profiles.is_some_and(|of| group.is_alike(of, new));
            let may_count = !is_own || new.is_counted || is_alike();
            let (writes, reads) = match &mut crowd {
                Some(crowd) if may_count && !group.is_quick(races, view, new) => {
                    in_crowd.before = (true, true);
                    crowd.find(self, scope, races, (view, new), &mut in_crowd);
                    in_crowd.before
                }
                _ => {
                    let transitive = group.posted.is_some();
                    let writes = group.writes.find(races, view, transitive, new);
                    let needs_reads = run.class.writes;
                    let reads = !needs_reads || group.reads.find(races, view, transitive, new);
                    (writes, reads)
                }
            };
            if !writes {
                open.writes.push(at);
            }
            if !reads {
                open.reads.push(at);
            }
        }
        if let Some(crowd) = &crowd {
            // The order in which groups of races are first found is that of reports.
            let handler = |run: &Run| view.engine.strands.get(run.strand).handler;
            races.sort_from(from, |run| self.group_of(handler(run)));
            crowd.keep_uncovered(self, races, (view, new), in_crowd, stop);
        }
        self.crowd = crowd.or(self.crowd.take());
        open
    }

    /// Returns whether so many chains or runs are here that most races of a new run are counted.
    fn has_crowd(&self, new: NewRun<'_>) -> bool {
        self.crowd.is_some() || self.chains_count.max(self.unlike) > new.crowd_min()
    }

    /// Collects what is known about all runs, if it is not known yet.
    fn gather(&mut self, races: &Races) {
        if self.crowd.is_some() {
            return;
        }
        let mut crowd = Box::<Crowd>::default();
        for group in &mut self.groups {
            for set in [&group.writes, &group.reads] {
                for list in set.of_chain.iter().flat_map(|(_, runs)| runs.lists()) {
                    for id in list.runs() {
                        let run = races.run(*id);
                        let runs =
                            if run.class.writes { &mut crowd.writes } else { &mut crowd.reads };
                        runs.push(*id);
                        let Some(profile) = run.profile else { continue };
                        let (of, count) = ((profile, run.class), u64::from(run.count));
                        add_to(&mut crowd.all, of, (*id, group.handler.0), count);
                        add_to(&mut group.of_profile, of, (*id, run.task.0), count);
                    }
                }
            }
        }
        crowd.writes.sort_unstable();
        crowd.reads.sort_unstable();
        self.no_crowd = crowd.all.len() > PROFILES_MAX;
        self.crowd = (!self.no_crowd).then_some(crowd);
    }

    /// Adds a run to this side. `found` is the result of its comparison with the runs here, if
    /// there was one.
    fn add(
        &mut self,
        races: &Races,
        view: &View<'_, '_>,
        new: NewRun<'_>,
        found: Option<OpenGroups>,
    ) -> u32 {
        let own = match &found {
            Some(open) => open.own,
            None => self.group_of(new.handler),
        };
        let at = own.unwrap_or_else(|| {
            self.groups.push(OnHandler::new(new));
            self.handlers.push(new.handler);
            self.places.push(&self.handlers, |handler| *handler);
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
        self.chains_count += usize::from(group.add(new, before));
        match found {
            Some(open) if writes => {
                if open.more.0 || !self.writes.advance(new.id, open.writes) {
                    self.writes.open(at);
                }
                if !open.more.1 {
                    self.reads.advance(new.id, open.reads);
                }
            }
            None if writes => self.writes.open(at),
            found => {
                self.reads.open(at);
                if let Some(open) = found.filter(|open| !open.more.0) {
                    self.writes.shrink(new.id, open.writes);
                }
            }
        }
        at
    }

    /// Records that a run of the other side was compared with the runs here.
    fn pass(&mut self, new: NewRun<'_>, open: OpenGroups) {
        if !new.run.class.writes {
            if !open.more.0 {
                self.writes.shrink(new.id, open.writes);
            }
            return;
        }
        if let Some(at) = open.own {
            let group = &mut self.groups[at as usize];
            for (set, open) in [(&mut group.writes, &open.writes), (&mut group.reads, &open.reads)]
            {
                let is_before = open.binary_search(&at).is_err() && !set.of_chain.is_empty();
                if is_before && group.posted == Some(new.posted) {
                    set.behind(new.id);
                }
            }
        }
        let (writes, reads) = (&mut self.writes, &mut self.reads);
        for (front, open, more) in
            [(writes, open.writes, open.more.0), (reads, open.reads, open.more.1)]
        {
            match (more, new.run.class.atomic) {
                (true, _) => {}
                (false, true) => front.shrink(new.id, open),
                (false, false) => drop(front.advance(new.id, open)),
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
pub(crate) struct OnHandler {
    handler: HandlerId,
    writes: RunSet,
    reads: RunSet,
    /// Whether all runs belong to posted tasks; `None` if some do.
    posted: Option<bool>,
    /// Those that grow no more, by profile, if the side has a crowd.
    pub(crate) of_profile: Vec<OfProfile>,
}

impl OnHandler {
    fn new(new: NewRun<'_>) -> OnHandler {
        let (writes, reads) = (RunSet::default(), RunSet::default());
        let (handler, posted) = (new.handler, Some(new.posted));
        OnHandler { handler, writes, reads, posted, of_profile: Vec::new() }
    }

    /// Returns the writes, and the reads if they are wanted.
    pub(crate) fn sets(&self, with_reads: bool) -> impl Iterator<Item = &RunSet> {
        [Some(&self.writes), with_reads.then_some(&self.reads)].into_iter().flatten()
    }

    /// Returns the chains, maybe twice each.
    pub(crate) fn all_chains(&self) -> impl Iterator<Item = ChainId> {
        let reads = self.reads.chains().filter(|(chain, _)| self.writes.chain(*chain).is_none());
        self.writes.chains().chain(reads).map(|(chain, _)| chain)
    }

    /// Returns the number of chains, or more.
    pub(crate) fn chains_count(&self) -> usize {
        self.writes.of_chain.len() + self.reads.of_chain.len()
    }

    /// Returns whether the races of a new run of this handler with its runs are alike, profile by
    /// profile.
    fn is_alike(&self, profiles: &Profiles<'_>, new: NewRun<'_>) -> bool {
        let conflicting = self.of_profile.iter().filter(|of| new.run.class.conflicts(of.class));
        new.profile.is_some_and(|own| {
            conflicting.into_iter().all(|of| profiles.are_alike_on_one_handler(of.profile, own))
        })
    }

    /// Returns whether it takes few steps to find the races of a new run one by one.
    fn is_quick(&self, races: &Races, view: &View<'_, '_>, new: NewRun<'_>) -> bool {
        let is_quick = |set: &RunSet| {
            let last = set.last_of_all.filter(|_| self.posted.is_some());
            set.of_chain.len().max(set.unlike) <= new.crowd_min() && new.kept_max >= CROWD_MIN
                || last.is_some_and(|last| is_before(view, races.run(last), new.run))
        };
        self.sets(new.run.class.writes).all(is_quick)
    }

    /// Adds a run. `own` says whether all writes and all reads in this list happen before it.
    /// Returns whether its chain is new.
    fn add(&mut self, new: NewRun<'_>, own: (bool, bool)) -> bool {
        if self.posted != Some(new.posted) {
            self.posted = None;
        }
        let (id, run) = (new.id, new.run);
        if run.class.writes {
            let is_new = self.writes.begin(id, run.chain, own.0);
            if own.1 && !self.reads.of_chain.is_empty() {
                self.reads.behind(id);
            }
            is_new
        } else {
            self.reads.begin(id, run.chain, own.1)
        }
    }
}

/// Adds the numbers in some lists to `merged`, ascending, each once. Each list ascends.
fn merge(mut rest: [&[u32]; 3], merged: &mut Vec<u32>) {
    while let Some(least) = rest.iter().filter_map(|list| list.first()).min().copied() {
        for list in &mut rest {
            if list.first() == Some(&least) {
                *list = &list[1..];
            }
        }
        merged.push(least);
    }
}
