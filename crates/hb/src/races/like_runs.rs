//! Runs of one chain at a location, in lists of runs that no report tells apart.
//!
//! **Problem.** A flag that one thread polls while another one writes it makes a run of each
//! access, and every two runs race. Likewise two threads that access a variable under a lock of
//! their own.
//!
//! **Idea.** The runs of a chain that race with a new run are its last ones, from a bound on. If
//! they have one task, class and, where it matters, source position, they only differ in their
//! events. The latest of them is the only one whose race can be uncovered, and the accesses of the
//! others are a difference of two sums. So after some pairs that are kept one by one, a new run
//! keeps one pair for each list, with the number of accesses that the pair stands for.
//!
//! **Cost.** For a new run and a list: `O(log n)`, and the pairs kept.

use crate::races::detector::{Races, Run, RunId};
use crate::races::profile::ProfileId;
use crate::relation::conflicts::AccessClass;
use anyorder_trace::{SiteId, TaskId};
use std::cell::Cell;

/// A pair of a new run: the earlier run, and the accesses of further earlier runs like it.
pub(crate) type RacingRun = (RunId, u64);

/// The runs of one chain, without the last run at the location, which may still grow.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChainRuns {
    lists: Vec<LikeRuns>,
}

/// What reports know of a run besides its events; `None` where runs differ in it.
pub(crate) type Like = Option<(TaskId, SiteId)>;

/// The most lists of a chain, besides one for each class that has all other runs.
const LISTS_MAX: usize = 32;

/// Runs of one class and, if known, of one task and source position, and of one profile.
#[derive(Clone, Debug)]
pub(crate) struct LikeRuns {
    like: (AccessClass, Like, Option<ProfileId>),
    runs: Vec<RunId>,
    /// For each run, the number of accesses of all runs before it.
    before: Vec<u64>,
    accesses: u64,
    /// The number of pairs that were kept one by one.
    kept: Cell<usize>,
}

impl LikeRuns {
    /// Returns the profile of the runs, if they have one in common.
    pub(crate) fn profile(&self) -> Option<ProfileId> {
        self.like.2
    }

    /// Returns the runs, in the order of the trace.
    pub(crate) fn runs(&self) -> &[RunId] {
        &self.runs
    }

    /// Returns the number of runs that end below a bound, and that of their accesses.
    pub(crate) fn below(&self, races: &Races, bound: u32) -> (u64, u64) {
        let is_below = |run: &RunId| races.run(*run).last.0 < bound;
        let below = match self.runs.last() {
            Some(last) if is_below(last) => self.runs.len(),
            _ => self.runs.partition_point(is_below),
        };
        (below as u64, self.before.get(below).copied().unwrap_or(self.accesses))
    }
}

impl ChainRuns {
    /// Returns the lists.
    pub(crate) fn lists(&self) -> &[LikeRuns] {
        &self.lists
    }

    /// Adds a run that grows no more, with what reports know of it. Returns its profile, unless the
    /// chain has too many lists.
    pub(crate) fn add(
        &mut self,
        id: RunId,
        run: &Run,
        (like, profile): (Like, Option<ProfileId>),
    ) -> Option<ProfileId> {
        let place = |like, profile| {
            self.lists.iter().position(|list| list.like == (run.class, like, profile))
        };
        let is_full = self.lists.len() >= LISTS_MAX;
        let known = place(like, profile).or_else(|| place(None, None).filter(|_| is_full));
        let at = known.unwrap_or_else(|| {
            let like = (run.class, like.filter(|_| !is_full), profile.filter(|_| !is_full));
            let (runs, before) = Default::default();
            self.lists.push(LikeRuns { like, runs, before, accesses: 0, kept: Cell::new(0) });
            self.lists.len() - 1
        });
        let list = &mut self.lists[at];
        list.runs.push(id);
        list.before.push(list.accesses);
        list.accesses += u64::from(run.count);
        list.like.2
    }

    /// Returns whether all runs end below a bound.
    pub(crate) fn are_below(&self, races: &Races, bound: u32) -> bool {
        let last = |list: &LikeRuns| list.runs.last().copied();
        self.lists.iter().filter_map(last).all(|last| races.run(last).last.0 < bound)
    }

    /// Returns the number of runs that end at a bound or later and conflict with a class, and that
    /// of their accesses.
    pub(crate) fn count_racing(
        &self,
        races: &Races,
        (bound, class): (u32, AccessClass),
    ) -> (u64, u64) {
        let conflicting = self.lists.iter().filter(|list| class.conflicts(list.like.0));
        conflicting.fold((0, 0), |(runs, accesses), list| {
            let below = list.below(races, bound);
            (runs + list.runs.len() as u64 - below.0, accesses + list.accesses - below.1)
        })
    }

    /// Returns the runs that end at a bound or later, conflict with a class and are in lists that
    /// are `wanted`, the latest first. Of each list, keeps `kept_max` pairs one by one over all
    /// calls.
    pub(crate) fn racing(
        &self,
        races: &Races,
        (bound, class): (u32, AccessClass),
        kept_max: usize,
        wanted: impl Fn(&LikeRuns) -> bool,
    ) -> Vec<RacingRun> {
        let mut racing = Vec::new();
        let conflicts = |list: &&LikeRuns| class.conflicts(list.like.0) && wanted(list);
        for list in self.lists.iter().filter(conflicts) {
            let from = list.runs.partition_point(|run| races.run(*run).last.0 < bound);
            let Some((last, others)) = list.runs[from..].split_last() else { continue };
            let kept = list.kept.get().saturating_add(others.len() + 1);
            if kept <= kept_max || list.like.1.is_none() {
                list.kept.set(kept);
                racing.extend(list.runs[from..].iter().map(|run| (*run, 0)));
            } else {
                let more = list.before[list.runs.len() - 1] - list.before[from];
                racing.push((*last, more));
            }
        }
        racing.sort_unstable_by_key(|(run, _)| std::cmp::Reverse(*run));
        racing
    }
}
