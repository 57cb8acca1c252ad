//! Locations that many chains access: most of their races are counted and not found one by one.
//!
//! **Problem.** `n` threads, or tasks of a bag, that all access one variable have `n²` races. They
//! are one finding.
//!
//! **Idea.** Of the runs of one [profile](crate::races::profile), a new run races with all but
//! those before it, and these are on the chains that its clock knows. So their accesses are the
//! difference of two sums. After some pairs of two profiles that are kept one by one, the others
//! are only counted, except those that can be uncovered.
//!
//! **Which races can be uncovered.** Take a race of `x` and a later `r`, and a run `w` between them
//! in the trace that conflicts with both. Each of the two pairs races or is in order, so `w` lies
//! between them in the closure that defines coverage: the race is covered. So no race before the
//! last plain write matters, nor one before an access of the strand itself that conflicts with all
//! that the new run conflicts with. Coverage between tasks is about tasks, in the order in which
//! they begin: there, `w` counts if its task is not that of `x` or `r`, and began after those of
//! all earlier runs and before that of `r`.
//!
//! **Cost.** For a new run: the entries of its clock, at most the chains at the location; the
//! profiles, at most [`PROFILES_MAX`]; and the races kept.

use crate::races::at_location::{NewRun, Side};
use crate::races::detector::{Counted, Races, Run, RunId};
use crate::races::like_runs::LikeRuns;
use crate::races::profile::ProfileId;
use crate::races::run_set::is_before;
use crate::relation::conflicts::AccessClass;
use crate::relation::pass::View;
use anyorder_order::ChainId;
use anyorder_trace::{EventId, TaskId};
use rustc_hash::FxHashMap;

/// The most profiles of a location; where there are more, races are found one by one.
pub(crate) const PROFILES_MAX: usize = 32;

/// The runs of one profile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfProfile {
    pub(crate) profile: ProfileId,
    pub(crate) class: AccessClass,
    runs: u64,
    pub(crate) accesses: u64,
    /// One of the runs, with its handler; with its task where all are of one handler.
    last: (RunId, u32),
    /// A run of another handler or task.
    other: Option<RunId>,
}

/// Adds accesses of a run to those of its profile. `by` is its handler, or its task.
pub(crate) fn add_to(
    list: &mut Vec<OfProfile>,
    (profile, class): (ProfileId, AccessClass),
    (run, by): (RunId, u32),
    accesses: u64,
) {
    match list.iter_mut().find(|of| of.profile == profile) {
        Some(of) => {
            of.runs += 1;
            of.accesses += accesses;
            if of.last.1 != by {
                of.other = Some(of.last.0);
            }
            of.last = (run, by);
        }
        None => {
            let last = (run, by);
            list.push(OfProfile { profile, class, runs: 1, accesses, last, other: None });
        }
    }
}

/// What is known about the runs of a side that many chains access.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crowd {
    /// All runs, by profile.
    pub(crate) all: Vec<OfProfile>,
    /// All runs that grow no more, in the order of the trace.
    pub(crate) writes: Vec<RunId>,
    pub(crate) reads: Vec<RunId>,
    /// How many pairs of two profiles were kept one by one, of one handler or not.
    kept: FxHashMap<(ProfileId, ProfileId, bool), usize>,
}

/// Groups of a side whose runs are counted together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scope {
    /// All but that of the handler of the new run, if that has one.
    Others(Option<u32>),
    /// One of them, and whether it is that of the handler of the new run.
    One(u32, bool),
}

/// The races of a new run with the runs of a scope and one profile that are only counted.
#[derive(Clone, Copy, Debug)]
struct ToCount {
    scope: Scope,
    of: OfProfile,
    accesses: u64,
}

/// The races of a new run with a crowd.
#[derive(Debug)]
pub(crate) struct InCrowd {
    counted: Vec<ToCount>,
    /// Whether all writes, and all reads that were looked at, happen before the new run.
    pub(crate) before: (bool, bool),
}

impl InCrowd {
    pub(crate) fn new() -> InCrowd {
        InCrowd { counted: Vec::new(), before: (true, true) }
    }
}

impl Scope {
    pub(crate) fn has(self, group: u32) -> bool {
        match self {
            Scope::Others(own) => own != Some(group),
            Scope::One(one, _) => one == group,
        }
    }

    fn is_own(self) -> bool {
        matches!(self, Scope::One(_, true))
    }
}

impl Crowd {
    /// Adds the races of a new run with the runs of a scope. Those of two profiles of which enough
    /// are kept are put aside, to be counted.
    pub(crate) fn find(
        &mut self,
        side: &Side,
        scope: Scope,
        races: &mut Races,
        (view, new): (&View<'_, '_>, NewRun<'_>),
        found: &mut InCrowd,
    ) {
        let (counts, asked) = counts(self, side, scope, (races, view), new);
        races.asked += asked;
        let Some(own) = new.profile else { return };
        let mut wanted: Vec<ProfileId> = Vec::new();
        for of in counts {
            let before = if of.class.writes { &mut found.before.0 } else { &mut found.before.1 };
            *before = false;
            if new.is_counted {
                races.count(new.id, (of.runs, of.accesses));
                continue;
            }
            let kept = self.kept.entry((of.profile, own, scope.is_own())).or_default();
            if *kept >= new.kept_max.max(1) {
                found.counted.push(ToCount { scope, of, accesses: of.accesses });
            } else {
                wanted.push(of.profile);
            }
        }
        if wanted.is_empty() {
            return;
        }
        let is_wanted = |list: &LikeRuns| list.profile().is_some_and(|of| wanted.contains(&of));
        for group in side.groups_of(scope) {
            for set in group.sets(new.run.class.writes) {
                for (chain, runs) in set.chains().filter(|(chain, _)| *chain != new.run.chain) {
                    let question = (view.bound(new.run.strand, chain), new.run.class);
                    for (other, more) in runs.racing(races, question, new.kept_max, is_wanted) {
                        if let Some(profile) = races.run(other).profile {
                            *self.kept.entry((profile, own, scope.is_own())).or_default() += 1;
                        }
                        races.add(view, (other, more), (new.id, new.run));
                    }
                }
            }
        }
    }

    /// Keeps those of the races to be counted that can be uncovered, and counts the others. `stop`
    /// says how far back the runs can be; runs here may bring it forward.
    pub(crate) fn keep_uncovered(
        &self,
        side: &Side,
        races: &mut Races,
        (view, new): (&View<'_, '_>, NewRun<'_>),
        mut found: InCrowd,
        stop: &mut Stop,
    ) {
        let keep = |races: &mut Races, id: RunId, counted: &mut [ToCount]| {
            let run = *races.run(id);
            let group = side.group_of(view.engine.strands.get(run.strand).handler);
            let is_counted = |counted: &&mut ToCount| {
                group.is_some_and(|group| counted.scope.has(group))
                    && Some(counted.of.profile) == run.profile
            };
            if let Some(counted) = counted.iter_mut().find(is_counted)
                && !is_before(view, &run, new.run)
            {
                counted.accesses -= u64::from(run.count);
                races.add(view, (id, 0), (new.id, new.run));
            }
        };
        let lists = match (found.counted.is_empty(), new.run.class.writes) {
            (true, _) => [&[][..], &[]],
            (false, true) => [&self.writes[..], &self.reads],
            (false, false) => [&self.writes[..], &[]],
        };
        for list in lists {
            for id in list.iter().rev() {
                match stop.verdict(view, (*id, races.run(*id))) {
                    Verdict::Keep => keep(races, *id, &mut found.counted),
                    Verdict::Skip => {}
                    Verdict::End => break,
                }
                stop.advance(view, new, (*id, races.run(*id)));
            }
        }
        for ToCount { scope, of, accesses } in found.counted {
            let own = if scope.is_own() { new.run.task.0 } else { new.handler.0 };
            let is_other = matches!(scope, Scope::One(_, false)) || of.last.1 != own;
            let earlier = if is_other { Some(of.last.0) } else { of.other };
            if let Some(earlier) = earlier.filter(|_| accesses > 0) {
                races.counted.push(Counted { earlier, later: new.id, accesses });
            }
        }
    }
}

/// How far back the runs can be whose races with a new run can be uncovered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    /// Those from this one on can.
    after: Option<RunId>,
    /// So can those of a task, which begins here. That task lies between all others and the new
    /// run.
    task: Option<(TaskId, EventId)>,
}

/// Whether the race of a run can be uncovered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Keep,
    Skip,
    /// Neither that of this run nor that of an earlier one.
    End,
}

impl Stop {
    /// Returns the runs from one on.
    pub(crate) fn from(after: Option<RunId>) -> Stop {
        Stop { after, task: None }
    }

    fn verdict(&self, view: &View<'_, '_>, (id, run): (RunId, &Run)) -> Verdict {
        if self.after.is_none_or(|after| id >= after) {
            return Verdict::Keep;
        }
        match self.task {
            Some((_, first)) if run.last < first => Verdict::End,
            Some((task, _)) if view.engine.node_of(run.task, run.strand) == task => Verdict::Keep,
            Some(_) => Verdict::Skip,
            None => Verdict::End,
        }
    }

    /// Takes a run that may lie between all earlier ones and the new one.
    fn advance(&mut self, view: &View<'_, '_>, new: NewRun<'_>, (id, run): (RunId, &Run)) {
        if self.after.is_some() || run.class.atomic || !run.class.writes {
            return;
        }
        if !new.by_task {
            self.after = Some(id);
            return;
        }
        let engine = view.engine;
        let [task, own] = [run, new.run].map(|run| engine.node_of(run.task, run.strand));
        let first = engine.node_first(task);
        if task != own && run.is_latest && first < engine.node_first(own) {
            (self.after, self.task) = (Some(id), Some((task, first)));
        }
    }
}

/// Returns the profiles of a scope that race with a new run, each with the number of its racing
/// runs and accesses; and how many chains were asked.
fn counts(
    crowd: &Crowd,
    side: &Side,
    scope: Scope,
    (races, view): (&Races, &View<'_, '_>),
    new: NewRun<'_>,
) -> (Vec<OfProfile>, u64) {
    let run = new.run;
    let (all, without) = match scope {
        Scope::Others(own) => {
            (&crowd.all, own.map_or(&[][..], |own| &side.groups[own as usize].of_profile))
        }
        Scope::One(group, _) => (&side.groups[group as usize].of_profile, &[][..]),
    };
    let conflicting = all.iter().filter(|of| run.class.conflicts(of.class));
    let (mut counts, mut asked): (Vec<OfProfile>, _) = (conflicting.copied().collect(), 0);
    let mut known = |profile: ProfileId, (runs, accesses): (u64, u64)| {
        if let Some(of) = counts.iter_mut().find(|of| of.profile == profile) {
            of.runs -= runs;
            of.accesses -= accesses;
        }
    };
    without.iter().for_each(|of| known(of.profile, (of.runs, of.accesses)));
    let mut know = |group: u32, chain: ChainId, bound: u32| {
        asked += 1;
        for set in side.groups[group as usize].sets(run.class.writes) {
            for list in set.chain(chain).map_or(&[][..], |runs| runs.lists()) {
                if let Some(profile) = list.profile() {
                    known(profile, list.below(races, bound));
                }
            }
        }
    };
    for_known(side, scope, (view, run, new.posted), &mut know);
    counts.retain(|of| of.accesses > 0);
    (counts, asked)
}

/// Calls `know` with the chains of a scope that have runs before a new run, each with the number of
/// its group and the event number below which all are; and maybe with others.
fn for_known(
    side: &Side,
    scope: Scope,
    (view, run, posted): (&View<'_, '_>, &Run, bool),
    know: &mut impl FnMut(u32, ChainId, u32),
) {
    let engine = view.engine;
    let own = engine.strands.get(run.strand).handler;
    let own_group = side.group_of(own).filter(|group| scope.has(*group));
    // A clock with more entries than there are chains here takes longer than those.
    let mut left = match scope {
        Scope::Others(_) => side.chains_count,
        Scope::One(group, _) => side.groups[group as usize].chains_count(),
    };
    let mut known: Vec<(u32, ChainId, u32)> = Vec::new();
    let clock = view.at[run.strand.index()];
    let mut few = view.clocks.store.for_each_while(clock, |chain, bound| {
        let info = engine.chains.info(chain);
        let by_order = posted && info.posted && info.handler == own;
        if let Some(group) = side.group_of(info.handler)
            && !by_order
            && chain != run.chain
            && scope.has(group)
        {
            known.push((group, chain, bound));
        }
        left = left.saturating_sub(1);
        left > 0
    });
    if let (Some(group), true) = (own_group, posted) {
        let chains = engine.chains.posted_of(own);
        let orders = &engine.orders.clocks.store;
        few &= orders.for_each_while(engine.orders.of(run.strand), |local, bound| {
            let chain = chains.get(local.index()).copied().filter(|chain| *chain != run.chain);
            known.extend(chain.map(|chain| (group, chain, bound)));
            left = left.saturating_sub(1);
            left > 0
        });
    }
    if few {
        known.into_iter().for_each(|(group, chain, bound)| know(group, chain, bound));
        if let Some(group) = own_group {
            know(group, run.chain, u32::MAX);
        }
        return;
    }
    for (at, group) in (0..).zip(&side.groups).filter(|(at, _)| scope.has(*at)) {
        for chain in group.all_chains() {
            know(at, chain, view.bound(run.strand, chain));
        }
    }
}
