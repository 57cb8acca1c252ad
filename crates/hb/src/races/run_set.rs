//! The runs of one location on one handler that are all reads or all writes.

use crate::races::at_location::NewRun;
use crate::races::detector::{Races, Run, RunId};
use crate::races::like_runs::ChainRuns;
use crate::races::places::Places;
use crate::relation::pass::View;
use anyorder_order::ChainId;

/// Runs of one location on one handler, all of them reads or all of them writes.
///
/// They are usually in order. Then a query about the last run is enough, because everything that it
/// precedes comes after its predecessors, too. That holds as long as either all runs of the handler
/// belong to posted tasks, or none does.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunSet {
    pub(crate) of_chain: Vec<(ChainId, ChainRuns)>,
    places: Places<ChainId>,
    /// The runs that grow no more and that reports tell apart.
    pub(crate) unlike: usize,
    /// A run of the handler that comes after all runs recorded before it.
    pub(crate) last_of_all: Option<RunId>,
    /// The runs recorded after `last_of_all`.
    since: Vec<RunId>,
}

/// The most runs after `last_of_all` that are compared one by one.
const SINCE_MAX: usize = 16;

impl RunSet {
    /// Returns the chains with their runs that grow no more.
    pub(crate) fn chains(&self) -> impl Iterator<Item = (ChainId, &ChainRuns)> {
        self.of_chain.iter().map(|(chain, runs)| (*chain, runs))
    }

    pub(crate) fn place(&self, chain: ChainId) -> Option<usize> {
        self.places.of(&self.of_chain, chain, |(chain, _)| *chain)
    }

    /// Returns the runs of a chain that grow no more.
    pub(crate) fn chain(&self, chain: ChainId) -> Option<&ChainRuns> {
        Some(&self.of_chain[self.place(chain)?].1)
    }

    /// Records the races of a new run with the runs in this list. Returns whether all of them,
    /// conflicting or not, happen before it.
    pub(crate) fn find(
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
        races.asked += self.of_chain.len() as u64;
        let has_ended = !view.engine.over.is_empty();
        for (chain, runs) in self.of_chain.iter().filter(|(chain, _)| *chain != run.chain) {
            let bound = view.bound(run.strand, *chain);
            if !runs.are_below(races, bound) {
                all = false;
                if races.is_list_full() && !has_ended {
                    let count = runs.count_racing(races, (bound, run.class));
                    races.count(id, count);
                    continue;
                }
                for racing in runs.racing(races, (bound, run.class), kept_max, |_| true) {
                    races.add(view, racing, (id, run));
                }
            }
        }
        all
    }

    /// Takes a new run; `in_order` means that all runs in this list happen before it. It joins the
    /// runs of its chain once it grows no more. Returns whether the chain is new.
    pub(crate) fn begin(&mut self, id: RunId, chain: ChainId, in_order: bool) -> bool {
        if in_order {
            self.behind(id);
        } else if self.last_of_all.is_some() && self.since.len() < SINCE_MAX {
            self.since.push(id);
        } else {
            self.last_of_all = None;
            self.since.clear();
        }
        let is_new = self.place(chain).is_none();
        if is_new {
            self.of_chain.push((chain, ChainRuns::default()));
            self.places.push(&self.of_chain, |(chain, _)| *chain);
        }
        is_new
    }

    /// Records that all runs in this list happen before a run of the handler.
    pub(crate) fn behind(&mut self, id: RunId) {
        self.last_of_all = Some(id);
        self.since.clear();
    }

    /// Returns whether all runs in this list are known to happen before a run, without a query for
    /// each chain.
    pub(crate) fn is_known_before(&self, races: &Races, view: &View<'_, '_>, run: &Run) -> bool {
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
pub(crate) fn is_before(view: &View<'_, '_>, earlier: &Run, run: &Run) -> bool {
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
