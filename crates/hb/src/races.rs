//! All races of a trace, counted exactly.
//!
//! **Problem.** All pairs of conflicting accesses that happens-before leaves unordered (`docs/happens-before.md`,
//! section 4).
//!
//! **Idea.** Accesses of one strand to one location, of one class, with no synchronisation of the strand
//! and no other access to the location in between, have the same races: they form a *run*. For each
//! new run, on each chain that has accessed the location, the unordered runs are the last ones, those
//! behind the bound that the clock gives; so the work is proportional to the chains that share the location,
//! and to the races found.
//!
//! **Cost.** O(1) for an access that extends a run; else O(chains at the location + races of runs).

use crate::conflicts::{AccessClass, Conflicts};
use crate::engine::{View, Visitor};
use crate::strands::StrandId;
use anyorder_order::ChainId;
use anyorder_trace::{EventId, LocationId, TaskId, Trace};

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

/// The races of a trace, as pairs of runs: each access of the one races with each of the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Races {
    pub(crate) runs: Vec<Run>,
    /// Pairs of runs, the earlier one first, in the order in which the later ones begin.
    pub(crate) pairs: Vec<(RunId, RunId)>,
}

impl Races {
    /// Returns a run.
    #[inline]
    pub(crate) fn run(&self, id: RunId) -> &Run {
        &self.runs[id.0 as usize]
    }

    /// Returns the number of racing pairs of accesses in a pair of runs.
    pub(crate) fn pairs_in(&self, pair: (RunId, RunId)) -> u64 {
        u64::from(self.run(pair.0).count) * u64::from(self.run(pair.1).count)
    }

    /// Returns the number of racing pairs of accesses.
    pub(crate) fn total(&self) -> u64 {
        self.pairs.iter().map(|pair| self.pairs_in(*pair)).sum()
    }

    /// Returns the accesses of a run, in trace order. Linear in the events between its first and its last.
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

/// The runs of one location on one chain, by whether they write.
#[derive(Clone, Debug)]
struct OnChain {
    chain: ChainId,
    reads: Vec<RunId>,
    writes: Vec<RunId>,
}

/// Finds races as a pass goes by.
pub(crate) struct Detector<'t> {
    trace: &'t Trace,
    conflicts: &'t Conflicts,
    at: Vec<Vec<OnChain>>,
    last_run: Vec<Option<RunId>>,
    pub(crate) races: Races,
}

impl<'t> Detector<'t> {
    pub(crate) fn new(trace: &'t Trace, conflicts: &'t Conflicts) -> Detector<'t> {
        let locations = trace.tables().locations.len();
        Detector {
            trace,
            conflicts,
            at: vec![Vec::new(); locations],
            last_run: vec![None; locations],
            races: Races::default(),
        }
    }

    /// Returns whether an access of `strand`, in `task`, to `location` belongs to a run that is the last at its location.
    fn extends(
        run: &Run,
        view: &View<'_, '_>,
        (strand, task): (StrandId, TaskId),
        location: LocationId,
    ) -> bool {
        run.location == location
            && run.strand == strand
            && run.task == task
            && run.segment == view.segments[run.strand.index()]
    }

    fn start(&mut self, view: &View<'_, '_>, run: Run) {
        let id = RunId(self.races.runs.len() as u32);
        self.races.runs.push(run);
        self.find(view, id, &run, run.location);
        for other in self.conflicts.overlaps(run.location) {
            self.find(view, id, &run, *other);
        }
        let chains = &mut self.at[run.location.index()];
        let at = chains.iter().position(|on| on.chain == run.chain).unwrap_or_else(|| {
            chains.push(OnChain { chain: run.chain, reads: Vec::new(), writes: Vec::new() });
            chains.len() - 1
        });
        let on = &mut chains[at];
        if run.class.writes { on.writes.push(id) } else { on.reads.push(id) }
        self.last_run[self.conflicts.cluster(run.location).index()] = Some(id);
    }

    fn find(&mut self, view: &View<'_, '_>, id: RunId, run: &Run, location: LocationId) {
        for on in &self.at[location.index()] {
            if on.chain == run.chain {
                continue;
            }
            let bound = view.bound(run.strand, on.chain);
            let reads: &[RunId] = if run.class.writes { &on.reads } else { &[] };
            for earlier in [&on.writes, reads] {
                for &other in earlier.iter().rev() {
                    let other_run = &self.races.runs[other.0 as usize];
                    if other_run.last.0 < bound {
                        break;
                    }
                    if run.class.conflicts(other_run.class) {
                        self.races.pairs.push((other, id));
                    }
                }
            }
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
        if let Some(last) = self.last_run[cluster.index()] {
            let run = &self.races.runs[last.0 as usize];
            if run.class == class && Self::extends(run, view, (strand, task), location) {
                let run = &mut self.races.runs[last.0 as usize];
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
            segment: view.segments[strand.index()],
            first: event,
            last: event,
            count: 1,
            class,
        };
        self.start(view, run);
    }
}
