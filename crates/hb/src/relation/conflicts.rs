//! Conflicts between locations, and locations that can race at all.

use crate::relation::strands::StrandId;
use anyorder_common::union_find::UnionFind;
use anyorder_system::{Cancel, StopReason, Stopped};
use anyorder_trace::{EventId, Location, LocationId, Mode, Op, Trace};

/// The attributes of an access that matter for conflicts: whether it writes, and whether it is
/// atomic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct AccessClass {
    pub(crate) writes: bool,
    pub(crate) atomic: bool,
}

impl AccessClass {
    #[inline]
    pub(crate) fn of(op: Op) -> AccessClass {
        AccessClass { writes: op.kind().writes(), atomic: op.mode() != Mode::PLAIN }
    }

    /// Returns whether two accesses to overlapping locations conflict.
    #[inline]
    pub(crate) const fn conflicts(self, other: AccessClass) -> bool {
        (self.writes || other.writes) && !(self.atomic && other.atomic)
    }
}

/// The locations of a trace by what they overlap.
pub(crate) struct Conflicts {
    /// For each location, the smallest location that overlaps connect it to.
    cluster: Vec<LocationId>,
    /// For each location, the other locations that it overlaps.
    overlaps: Vec<Vec<LocationId>>,
    /// For each cluster (by its smallest location), whether two strands access it and one writes.
    shared: Vec<bool>,
    /// For each cluster, its last write.
    last_write: Vec<EventId>,
}

impl Conflicts {
    /// Finds the overlaps, and the locations that more than one strand accesses. Time: linear in
    /// the events, and n log n in the ranges plus the number of overlapping pairs.
    ///
    /// # Errors
    ///
    /// Fails if it was cancelled, or if the overlaps need more than `memory_bytes_max`.
    pub(crate) fn new(
        trace: &Trace,
        strand_of: impl Fn(EventId) -> StrandId,
        cancel: &Cancel,
        memory_bytes_max: Option<u64>,
    ) -> Result<Conflicts, Stopped> {
        let locations = trace.tables().locations.len();
        let mut conflicts = Conflicts {
            cluster: Vec::new(),
            overlaps: vec![Vec::new(); locations],
            shared: vec![false; locations],
            last_write: vec![EventId::NONE; locations],
        };
        conflicts.find_overlaps(trace, cancel, memory_bytes_max)?;
        let mut first_strand = vec![StrandId::NONE; locations];
        let mut several = vec![false; locations];
        let columns = trace.columns();
        for row in 0..trace.len() {
            let op = columns.ops[row];
            if !op.kind().is_access() {
                continue;
            }
            let cluster = conflicts.cluster[columns.operands[row] as usize].index();
            if op.kind().writes() {
                conflicts.last_write[cluster] = EventId(row as u32);
            }
            if several[cluster] {
                continue;
            }
            let strand = strand_of(EventId(row as u32));
            if first_strand[cluster] == StrandId::NONE {
                first_strand[cluster] = strand;
            } else if first_strand[cluster] != strand {
                several[cluster] = true;
            }
        }
        let accessed = several.into_iter().zip(&conflicts.last_write);
        conflicts.shared = accessed.map(|(several, last)| several && !last.is_none()).collect();
        Ok(conflicts)
    }

    fn find_overlaps(
        &mut self,
        trace: &Trace,
        cancel: &Cancel,
        memory_bytes_max: Option<u64>,
    ) -> Result<(), Stopped> {
        /// The bytes of one overlap: an entry on either side, in lists that may be half full.
        const OVERLAP_BYTES: u64 = 4 * size_of::<LocationId>() as u64;
        let mut bytes = 0;
        let mut ranges: Vec<(u32, u64, u64, LocationId)> = Vec::new();
        for (i, location) in trace.tables().locations.iter().enumerate() {
            if let Location::Range { address, size, generation } = *location {
                let end = address.saturating_add(u64::from(size.max(1)));
                ranges.push((generation, address, end, LocationId(i as u32)));
            }
        }
        ranges.sort_unstable();
        let mut open: Vec<(u32, u64, LocationId)> = Vec::new();
        let mut clusters = UnionFind::new(self.overlaps.len());
        for (generation, start, end, location) in ranges {
            open.retain(|(g, e, _)| *g == generation && *e > start);
            bytes += open.len() as u64 * OVERLAP_BYTES;
            if memory_bytes_max.is_some_and(|max| bytes > max) {
                return Err(Stopped(StopReason::MemoryLimit));
            }
            cancel.check()?;
            for (_, _, other) in &open {
                self.overlaps[location.index()].push(*other);
                self.overlaps[other.index()].push(location);
                clusters.join(other.0, location.0);
            }
            open.push((generation, end, location));
        }
        self.cluster = clusters.into_least().into_iter().map(LocationId).collect();
        Ok(())
    }

    /// Returns the cluster of a location. Accesses of different clusters never conflict.
    #[inline]
    pub(crate) fn cluster(&self, location: LocationId) -> LocationId {
        self.cluster[location.index()]
    }

    /// Returns whether accesses to a location can race.
    #[inline]
    pub(crate) fn is_shared(&self, location: LocationId) -> bool {
        self.shared[self.cluster[location.index()].index()]
    }

    /// Returns whether no access of the cluster of a location writes after an event.
    #[inline]
    pub(crate) fn is_only_read_after(&self, location: LocationId, event: EventId) -> bool {
        let last = self.last_write[self.cluster[location.index()].index()];
        last.is_none() || last <= event
    }

    /// Returns the other locations that a location overlaps.
    #[inline]
    pub(crate) fn overlaps(&self, location: LocationId) -> &[LocationId] {
        &self.overlaps[location.index()]
    }
}
