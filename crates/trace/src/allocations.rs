//! Where memory was allocated: what a report calls an object whose address changes from run to run.

use crate::event::{Event, EventKind, OperandKind};
use crate::ids::{EventId, LocationId, SiteId};
use crate::tables::{Location, Tables};
use crate::trace::Trace;
use std::collections::BTreeMap;

/// The allocations of a trace up to some event. Freed memory stays until it is allocated again, as a use after the free is of it.
#[derive(Clone, Debug, Default)]
pub struct Allocations {
    /// Size and place, by first address; no two overlap.
    by_address: BTreeMap<u64, (u64, SiteId)>,
}

impl Allocations {
    /// Takes the next event.
    pub fn step(&mut self, tables: &Tables, kind: EventKind, operand: u32, site: SiteId) {
        if kind != EventKind::Alloc {
            return;
        }
        let Some(Location::Range { address, size, .. }) = tables.locations.get(operand as usize)
        else {
            return;
        };
        let (address, size) = (*address, u64::from(*size));
        // Several may lie in the new one, and one may reach into it from before.
        while let Some((start, (length, _))) =
            self.by_address.range(..address.saturating_add(size)).next_back()
        {
            let (start, length) = (*start, *length);
            if start.saturating_add(length) <= address && start != address {
                break;
            }
            self.by_address.remove(&start);
        }
        self.by_address.insert(address, (size, site));
    }

    /// Returns where the memory was allocated that an event acts on: an address range, or a lock or condition that is named by
    /// its address. `None` where it is not known.
    #[must_use]
    pub fn of(&self, tables: &Tables, kind: EventKind, operand: u32) -> Option<SiteId> {
        let named = |text: &str| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
        let index = operand as usize;
        let address = match kind.operand() {
            OperandKind::Location => match tables.locations.get(LocationId(operand).index())? {
                Location::Range { address, .. } => Some(*address),
                _ => None,
            },
            OperandKind::Lock => named(tables.name(*tables.locks.get(index)?)),
            OperandKind::Condition => named(tables.name(*tables.conditions.get(index)?)),
            _ => None,
        }?;
        let (start, (size, site)) = self.by_address.range(..=address).next_back()?;
        let inside = address - start < (*size).max(1);
        (inside && *site != SiteId::UNKNOWN).then_some(*site)
    }

    /// Returns where the memory was allocated that some events act on, by event. Linear in the trace.
    #[must_use]
    pub fn at(trace: &Trace, mut events: Vec<EventId>) -> BTreeMap<EventId, SiteId> {
        events.sort_unstable();
        events.dedup();
        let (mut known, mut found) = (Allocations::default(), BTreeMap::new());
        let mut wanted = events.into_iter().peekable();
        for event in trace.events() {
            let Event { id, op, operand, site, .. } = event;
            known.step(trace.tables(), op.kind(), operand, site);
            if wanted.next_if_eq(&id).is_some()
                && let Some(site) = known.of(trace.tables(), op.kind(), operand)
            {
                found.insert(id, site);
            }
            if wanted.peek().is_none() {
                break;
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::std::StdReader;

    #[test]
    fn accesses_and_locks_are_of_the_last_allocation_of_their_address() {
        let text = "T|alloc(0x100+16)|a.c:1\nT|w(0x108+8)|a.c:2\nT|acq(0x10f)|a.c:3\nT|r(0x110+1)|a.c:4\n\
            T|free(0x100)|a.c:5\nT|r(0x100+1)|a.c:6\nT|alloc(0x108+64)|a.c:7\nT|w(0x110+4)|a.c:8\n\
            T|w(0x100+4)|a.c:9\nT|w(x)|a.c:10\nT|acq(m)|a.c:11\n";
        let trace = Trace::read(&mut StdReader::new(text.as_bytes())).unwrap();
        let all = (0..trace.len() as u32).map(EventId).collect();
        let told: Vec<String> = Allocations::at(&trace, all)
            .into_iter()
            .map(|(event, site)| format!("{} {}", trace.label(event), trace.tables().site_text(site)))
            .collect();
        let expected =
            ["1 a.c:1", "2 a.c:1", "3 a.c:1", "5 a.c:1", "6 a.c:1", "7 a.c:7", "8 a.c:7"];
        assert_eq!(told, expected);
    }
}
