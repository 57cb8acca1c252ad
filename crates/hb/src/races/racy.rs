//! Which locations race at all.
//!
//! **Problem.** To count all racing pairs, the detector keeps each run of accesses to a location.
//! Most locations do not race, and then nothing of that is needed.
//!
//! **Source.** Flanagan, Freund, "FastTrack: Efficient and Precise Dynamic Race Detection", PLDI
//! 2009.
//!
//! **Idea.** As long as a location does not race, its writes are in order, each with what comes
//! between. So the last write stands for all before it, and the last read of each chain since then
//! for all reads. The first access that races with an earlier one then races with one of these.
//! This needs a transitive order, which tasks of one handler do not have: locations of posted
//! tasks, with atomic accesses, or that overlap others are left to the detector, and so is one with
//! reads of more than [`READS_MAX`] chains.
//!
//! **Cost.** O(1) for an access, or the chains that have read since the last write.

use crate::relation::conflicts::{AccessClass, Conflicts};
use crate::relation::pass::{View, Visitor};
use crate::relation::sabotage::Sabotage;
use crate::relation::strands::StrandId;
use anyorder_order::ChainId;
use anyorder_trace::{EventId, LocationId, Trace};

/// The most chains whose reads of one location are kept.
const READS_MAX: usize = 64;

/// The last access of a chain.
type Last = (ChainId, EventId);

/// What is kept of one location.
#[derive(Clone, Debug, Default)]
struct Accesses {
    /// Whether it may race, and nothing more is kept. Also if its accesses do not conflict.
    is_done: bool,
    write: Option<Last>,
    /// Reads since the last write, of different chains.
    reads: Vec<Last>,
}

/// A visitor that finds the locations that race, and those that it leaves to others.
pub(crate) struct Racy<'t> {
    trace: &'t Trace,
    conflicts: &'t Conflicts,
    at: Vec<Accesses>,
}

impl<'t> Racy<'t> {
    pub(crate) fn new(trace: &'t Trace, conflicts: &'t Conflicts) -> Racy<'t> {
        let locations = (0..trace.tables().locations.len() as u32).map(LocationId);
        let of = |location| {
            let is_alone = conflicts.overlaps(location).is_empty();
            let is_done = !conflicts.is_shared(location) || !is_alone;
            Accesses { is_done, ..Accesses::default() }
        };
        Racy { trace, conflicts, at: locations.map(of).collect() }
    }

    /// Returns, by location, whether its accesses may race.
    pub(crate) fn locations(self) -> Vec<bool> {
        let of = |(location, accesses): (u32, Accesses)| {
            accesses.is_done && self.conflicts.is_shared(LocationId(location))
        };
        (0..).zip(self.at).map(of).collect()
    }
}

impl Accesses {
    /// Takes an access of a chain. Returns whether it races with one that is kept, or whether there
    /// are too many to tell.
    fn races(
        &mut self,
        view: &View<'_, '_>,
        (strand, class): (StrandId, AccessClass),
        (chain, event): Last,
    ) -> bool {
        let is_before = |(other, at): Last| other == chain || view.bound(strand, other) > at.0;
        if self.write.is_some_and(|write| !is_before(write)) {
            return true;
        }
        let fault = view.engine.sabotage;
        if class.writes {
            let skips = fault == Sabotage::RacyWithoutReads;
            if !skips && !self.reads.iter().all(|read| is_before(*read)) {
                return true;
            }
            self.write = Some((chain, event));
            self.reads.clear();
            return false;
        }
        if let Some(own) = self.reads.iter_mut().find(|(other, _)| *other == chain) {
            own.1 = event;
            return false;
        }
        // One read stands for another before it.
        let is_alone = self.reads.len() == 1 && is_before(self.reads[0]);
        if is_alone || fault == Sabotage::RacyOneRead {
            self.reads.clear();
        }
        self.reads.push((chain, event));
        self.reads.len() > READS_MAX
    }
}

impl Visitor for Racy<'_> {
    #[inline]
    fn event(&mut self, view: &View<'_, '_>, event: EventId, strand: StrandId) {
        let columns = self.trace.columns();
        let op = columns.ops[event.index()];
        if !op.kind().is_access() {
            return;
        }
        let accesses = &mut self.at[columns.operands[event.index()] as usize];
        if accesses.is_done {
            return;
        }
        let class = AccessClass::of(op);
        let is_left = class.atomic || view.engine.strands.get(strand).posted;
        let last = (view.engine.chains.of(strand), event);
        if is_left || accesses.races(view, (strand, class), last) {
            *accesses = Accesses { is_done: true, ..Accesses::default() };
        }
    }

    fn memory_bytes(&self) -> usize {
        self.at.capacity() * size_of::<Accesses>()
    }
}
