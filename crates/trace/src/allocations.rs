//! Allocation sites: reports name an object by them, because its address changes between runs.

use crate::event::{Event, EventKind, OperandKind};
use crate::ids::{EventId, LocationId, NameId, SiteId, TaskId};
use crate::tables::{Location, Tables};
use crate::trace::Trace;
use std::collections::BTreeMap;

/// An allocation site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allocated {
    /// The position.
    pub site: SiteId,
    /// Whether the allocation is in a library and has no position. `site` is then the next position
    /// of its thread.
    pub before: bool,
}

impl Allocated {
    /// Returns the position with its function: `main.c:30 in main`, `just before main.c:31 in
    /// main`.
    #[must_use]
    pub fn text(&self, tables: &Tables) -> String {
        let place = tables.site_in_function(self.site);
        if self.before { format!("just before {place}") } else { place }
    }

    /// Returns the position for use after `allocated`, without its function: `at main.c:30`.
    #[must_use]
    pub fn phrase(&self, tables: &Tables) -> String {
        let at = if self.before { "just before" } else { "at" };
        format!("{at} {}", tables.site_text(self.site))
    }
}

/// The allocations of a trace up to some event. Freed memory stays until it is allocated again,
/// since a use after the free belongs to it.
#[derive(Clone, Debug, Default)]
pub struct Allocations {
    /// Size and place, by first address; no two overlap.
    by_address: BTreeMap<u64, (u64, Option<Allocated>)>,
    /// Allocations in libraries, by task. The next position of the task becomes their site.
    open: BTreeMap<TaskId, Vec<u64>>,
}

impl Allocations {
    /// Takes the next event.
    pub fn step(
        &mut self,
        tables: &Tables,
        kind: EventKind,
        task: TaskId,
        operand: u32,
        site: SiteId,
    ) {
        if !self.open.is_empty() && kind != EventKind::Alloc && is_position(tables, site) {
            for address in self.open.remove(&task).unwrap_or_default() {
                if let Some((_, place @ None)) = self.by_address.get_mut(&address) {
                    *place = Some(Allocated { site, before: true });
                }
            }
        }
        if kind != EventKind::Alloc {
            return;
        }
        let Some(Location::Range { address, size, .. }) = tables.locations.get(operand as usize)
        else {
            return;
        };
        let (address, size) = (*address, u64::from(*size));
        // Several old allocations may lie in the new one, and one may extend into it from before.
        while let Some((start, (length, _))) =
            self.by_address.range(..address.saturating_add(size)).next_back()
        {
            let (start, length) = (*start, *length);
            if start.saturating_add(length) <= address && start != address {
                break;
            }
            self.by_address.remove(&start);
        }
        let known = is_position(tables, site).then_some(Allocated { site, before: false });
        if known.is_none() {
            self.open.entry(task).or_default().push(address);
        }
        self.by_address.insert(address, (size, known));
    }

    /// Returns the allocation site of the memory that an event acts on: an address range, or a lock
    /// or condition named by its address. `None` where it is unknown.
    #[must_use]
    pub fn of(&self, tables: &Tables, kind: EventKind, operand: u32) -> Option<Allocated> {
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
        let (start, (size, place)) = self.by_address.range(..=address).next_back()?;
        let inside = address - start < (*size).max(1);
        place.filter(|_| inside)
    }

    /// Returns, by event, the allocation site of the memory that each of the given events acts on.
    /// Linear in the trace.
    #[must_use]
    pub fn at(trace: &Trace, mut events: Vec<EventId>) -> BTreeMap<EventId, Allocated> {
        events.sort_unstable();
        events.dedup();
        let (mut known, mut found) = (Allocations::default(), BTreeMap::new());
        let mut wanted = events.into_iter().peekable();
        for event in trace.events() {
            let Event { id, op, task, operand, site } = event;
            known.step(trace.tables(), op.kind(), task, operand, site);
            if wanted.next_if_eq(&id).is_some()
                && let Some(place) = known.of(trace.tables(), op.kind(), operand)
            {
                found.insert(id, place);
            }
            if wanted.peek().is_none() {
                break;
            }
        }
        found
    }
}

/// Returns whether a site gives a source position: a line, or the input's own label. A file without
/// a line is a library.
fn is_position(tables: &Tables, site: SiteId) -> bool {
    let known = tables.sites.get(site.index()).copied().unwrap_or_default();
    known.line != 0 || (known.file == NameId::EMPTY && known.label != NameId::EMPTY)
}
