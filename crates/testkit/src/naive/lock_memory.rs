//! Section 7: locks in memory.

use super::Naive;
use anyorder_trace::{
    Event, EventId, EventKind, Location, LockId, Trace, address_of, memory_of_lock,
};
use std::collections::BTreeMap;

/// Whether memory is freed, and the lock in it.
pub type LockInMemory = (bool, LockId);

/// Returns, by lock and whether its memory is freed or written, the pairs of events that are not in
/// order.
#[must_use]
pub fn lock_memory(
    trace: &Trace,
    naive: &Naive<'_, '_>,
) -> BTreeMap<LockInMemory, Vec<(EventId, EventId)>> {
    let mut found: BTreeMap<LockInMemory, Vec<(EventId, EventId)>> = BTreeMap::new();
    for lock in (0..trace.tables().locks.len() as u32).map(LockId) {
        let Some(memory) = memory_of_lock(trace.tables(), lock) else { continue };
        let alloc = |before: EventId| {
            let around = |e: &Event| e.kind() == EventKind::Alloc && overlaps(trace, e, memory);
            trace.events().rfind(|e| around(e) && e.id < before)
        };
        let is_use = |e: &Event| {
            matches!(e.kind(), EventKind::Acquire | EventKind::Release) && e.operand == lock.0
        };
        for end in trace.events().filter(|e| overlaps(trace, e, memory)) {
            let frees = end.kind() == EventKind::Free;
            let writes = matches!(end.kind(), EventKind::Write | EventKind::Rmw);
            let plain = writes && !end.mode().is_atomic();
            let life = alloc(end.id);
            let other =
                life.is_some_and(|life| generation(trace, &life) != generation(trace, &end));
            let handler = trace.handler_of(end.id);
            let own = trace
                .events()
                .filter(|e| is_use(e) && e.id < end.id && trace.handler_of(e.id) == handler);
            let held = own.fold(0_u32, |held, e| match e.kind() {
                EventKind::Acquire => held + 1,
                _ => held.saturating_sub(1),
            });
            if !(frees || plain && held == 0) || other {
                continue;
            }
            for user in trace.events().filter(is_use) {
                let same_life = alloc(user.id).map(|e| e.id) == life.map(|e| e.id);
                let (a, b) = (user.id.min(end.id), user.id.max(end.id));
                if same_life && !naive.happens_before(a, b) {
                    found.entry((frees, lock)).or_default().push((a, b));
                }
            }
        }
    }
    found
}

fn range(trace: &Trace, event: &Event) -> Option<(u64, u64, u32)> {
    match trace.tables().locations.get(event.location()?.index())? {
        Location::Range { address, size, generation } => {
            Some((*address, u64::from((*size).max(1)), *generation))
        }
        Location::Named(name) => Some((address_of(trace.tables().name(*name))?, 1, 0)),
        _ => None,
    }
}

fn generation(trace: &Trace, event: &Event) -> Option<u32> {
    range(trace, event).map(|(.., generation)| generation)
}

fn overlaps(trace: &Trace, event: &Event, (at, size): (u64, u64)) -> bool {
    range(trace, event).is_some_and(|(start, bytes, _)| start < at + size && at < start + bytes)
}
