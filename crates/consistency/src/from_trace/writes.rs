//! The coherence order: the order of the writes of each location.

use super::{FromTrace, FromTraceError};
use anyorder_trace::{EventId, LocationId, Trace, TraceOrder};

/// No such event.
pub(super) const NONE: u32 = u32::MAX;

/// The writes of each location in coherence order, as far as known.
pub(super) struct Writes {
    /// By location: the first write.
    pub(super) first: Vec<u32>,
    /// By event: the next write after a write.
    pub(super) next: Vec<u32>,
    /// By location: whether its coherence order is open.
    pub(super) open: Vec<bool>,
}

impl Writes {
    pub(super) fn new(trace: &Trace, options: &FromTrace) -> Result<Writes, FromTraceError> {
        let tables = trace.tables();
        let locations = tables.locations.len();
        let mut writes = Writes {
            first: vec![NONE; locations],
            next: vec![NONE; trace.len()],
            open: vec![false; locations],
        };
        let mut known = vec![false; locations];
        for order in &tables.coherence {
            writes.take(trace, order.location, &order.writes, &mut known)?;
        }
        let observed = tables.meta.order == TraceOrder::Observed;
        let mut last = vec![NONE; locations];
        for event in trace.events() {
            if !event.kind().writes() {
                continue;
            }
            let at = event.operand as usize;
            let before = std::mem::replace(&mut last[at], event.id.0);
            if known[at] {
                continue;
            }
            if before == NONE {
                writes.first[at] = event.id.0;
            } else if observed {
                writes.next[before as usize] = event.id.0;
            } else if options.infer_coherence {
                writes.open[at] = true;
            } else {
                return Err(FromTraceError::NoCoherence { location: LocationId(event.operand) });
            }
        }
        // A coherence order must name all writes. Earlier code checked that it names only writes,
        // and none twice.
        writes.check_complete(trace, &known)?;
        Ok(writes)
    }

    /// Copies the coherence order of a location from the trace.
    fn take(
        &mut self,
        trace: &Trace,
        location: LocationId,
        order: &[u64],
        known: &mut [bool],
    ) -> Result<(), FromTraceError> {
        let bad = FromTraceError::BadCoherence { location };
        let Some(known) = known.get_mut(location.index()) else { return Err(bad) };
        if std::mem::replace(known, true) {
            return Err(bad);
        }
        let mut before = NONE;
        for row in order {
            let row = u32::try_from(*row).ok().filter(|row| (*row as usize) < trace.len());
            let event = trace.event(EventId(row.ok_or(bad)?));
            // A write with a successor, or the last one so far, was named before.
            let named = self.next[event.id.index()] != NONE || before == event.id.0;
            if !event.kind().writes() || event.operand != location.0 || named {
                return Err(bad);
            }
            if before == NONE {
                self.first[location.index()] = event.id.0;
            } else {
                self.next[before as usize] = event.id.0;
            }
            before = event.id.0;
        }
        Ok(())
    }

    fn check_complete(&self, trace: &Trace, known: &[bool]) -> Result<(), FromTraceError> {
        if trace.tables().coherence.is_empty() {
            return Ok(());
        }
        let mut missing = vec![0_i64; known.len()];
        for event in trace.events().filter(|event| event.kind().writes()) {
            missing[event.operand as usize] += 1;
        }
        for order in &trace.tables().coherence {
            missing[order.location.index()] -= order.writes.len() as i64;
            if missing[order.location.index()] != 0 {
                return Err(FromTraceError::BadCoherence { location: order.location });
            }
        }
        Ok(())
    }
}
