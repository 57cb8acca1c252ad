//! Reads-from, coherence and from-reads.

use super::messages::Layout;
use super::orders::Orders;
use super::writes::{NONE, Writes};
use super::{FromTrace, FromTraceError, Kept};
use crate::partial::{OpenLocation, Relation};
use anyorder_trace::{Columns, EventId, Location, Trace};

/// Adds the orders of all accesses, and returns the locations whose coherence order is open.
///
/// Of coherence, only the orders of neighbours are added, and of from-reads only the order of a
/// read and the next write: the others follow by transitivity.
pub(super) fn fill(
    trace: &Trace,
    options: &FromTrace,
    layout: &Layout,
    orders: &mut Orders<'_>,
    kept: &mut Kept,
) -> Result<Vec<OpenLocation>, FromTraceError> {
    let writes = Writes::new(trace, options)?;
    let mut open = OpenLocations::new(&writes, layout);
    let mut last = vec![NONE; if layout.observed { trace.tables().locations.len() } else { 0 }];
    let mut refers = trace.columns().refers.iter().peekable();
    for event in trace.events() {
        let (row, kind) = (event.id.0, event.kind());
        let referred = refers.next_if(|(at, _)| *at == row).map(|(_, from)| from);
        if !kind.is_access() {
            continue;
        }
        let at = event.operand as usize;
        if kind.reads() {
            kept.reads += 1;
            let source = match referred {
                Some(Columns::INITIAL) => NONE,
                Some(from) => write_of(trace, from, event.id, event.operand)?,
                None if layout.observed => last[at],
                None => return Err(FromTraceError::NoSource { event: event.id }),
            };
            if source != NONE {
                orders.add(source, row, Relation::ReadsFrom);
            }
            if writes.open[at] {
                open.read(at, row, source);
            } else {
                let next =
                    if source == NONE { writes.first[at] } else { writes.next[source as usize] };
                // By coherence, an event that reads and writes comes before the write that follows
                // its own.
                if next != NONE && next != row {
                    orders.add(row, next, Relation::FromReads);
                }
            }
        }
        if kind.writes() {
            kept.writes += 1;
            if layout.observed {
                last[at] = row;
            }
            if writes.open[at] {
                open.write(at, row);
            } else if writes.next[event.id.index()] != NONE {
                orders.add(row, writes.next[event.id.index()], Relation::Coherence);
            }
        }
    }
    kept.open_locations = open.locations.len() as u64;
    kept.overlapping = overlapping(&trace.tables().locations);
    Ok(open.locations)
}

/// Returns the row of the write that a read refers to.
fn write_of(trace: &Trace, from: u64, read: EventId, location: u32) -> Result<u32, FromTraceError> {
    let bad = FromTraceError::NoWrite { event: read };
    let row = u32::try_from(from).ok().filter(|row| (*row as usize) < trace.len()).ok_or(bad)?;
    let write = trace.event(EventId(row));
    let good = write.kind().writes() && write.operand == location && write.id != read;
    if good { Ok(row) } else { Err(bad) }
}

/// Returns the number of address ranges that overlap another one of their generation.
fn overlapping(locations: &[Location]) -> u64 {
    let mut ranges: Vec<(u32, u64, u128)> = locations
        .iter()
        .filter_map(|location| match *location {
            Location::Range { address, size, generation } => {
                Some((generation, address, u128::from(address) + u128::from(size)))
            }
            _ => None,
        })
        .collect();
    ranges.sort_unstable();
    let mut count = 0;
    // The range with the greatest end so far, and whether it was counted.
    let mut furthest: Option<(u32, u128, bool)> = None;
    for (generation, address, end) in ranges {
        match &mut furthest {
            Some((same, reach, counted)) if *same == generation && u128::from(address) < *reach => {
                count += 1 + u64::from(!*counted);
                *counted = true;
                if end > *reach {
                    *reach = end;
                }
            }
            _ => furthest = Some((generation, end, false)),
        }
    }
    count
}

/// The locations whose coherence order is open, in the order of their ids.
struct OpenLocations<'a> {
    layout: &'a Layout,
    locations: Vec<OpenLocation>,
    /// By location: its position.
    position: Vec<u32>,
}

impl<'a> OpenLocations<'a> {
    fn new(writes: &Writes, layout: &'a Layout) -> OpenLocations<'a> {
        let mut locations = Vec::new();
        let mut position = Vec::new();
        for (at, _) in writes.open.iter().enumerate().filter(|(_, open)| **open) {
            position.resize(at + 1, NONE);
            position[at] = locations.len() as u32;
            locations.push(OpenLocation { writes: Vec::new(), reads: Vec::new() });
        }
        OpenLocations { layout, locations, position }
    }

    fn write(&mut self, at: usize, row: u32) {
        let slot = self.layout.slot_of[row as usize];
        self.locations[self.position[at] as usize].writes.push(slot);
    }

    fn read(&mut self, at: usize, row: u32, source: u32) {
        let slot_of = &self.layout.slot_of;
        let from = (source != NONE).then(|| slot_of[source as usize]);
        self.locations[self.position[at] as usize].reads.push((slot_of[row as usize], from));
    }
}
