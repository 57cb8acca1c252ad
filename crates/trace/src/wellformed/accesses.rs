//! Reads and their writes, allocation and freeing of memory, invocations and their returns.

use super::report::{Report, label, location_name};
use crate::columns::Columns;
use crate::event::{Event, EventKind};
use crate::ids::{EventId, InvocationId, LocationId, TaskId};
use crate::tables::Location;
use crate::trace::Trace;
use rustc_hash::{FxHashMap, FxHashSet};

/// The allocated memory, and the invocations without a return.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    allocated: FxHashSet<Allocation>,
    invoked: FxHashMap<(TaskId, u32), u32>,
}

/// The identity of allocated memory: its address, for any freed size, or its location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Allocation {
    Address(u64),
    Location(u32),
}

impl Accesses {
    pub(super) fn event(&mut self, event: &Event, report: &mut Report<'_>) {
        let trace = report.trace;
        match event.kind() {
            EventKind::Read | EventKind::Rmw => {
                if let Some(from) = trace.columns().refers.get(event.id.0) {
                    read_from(event, from, report);
                }
            }
            EventKind::Alloc => {
                self.allocated.insert(allocation(trace, event));
            }
            EventKind::Free => {
                let known = self.allocated.remove(&allocation(trace, event));
                if !known && report.observed && !report.is_rest {
                    report.warning(event.id, || {
                        format!("frees {}, which is not allocated", location_name(trace, event))
                    });
                }
            }
            EventKind::Invoke => {
                *self.invoked.entry((event.task, event.operand)).or_insert(0) += 1;
            }
            EventKind::Return => self.returns(event, report),
            _ => {}
        }
    }

    fn returns(&mut self, event: &Event, report: &mut Report<'_>) {
        let trace = report.trace;
        let open = self.invoked.get_mut(&(event.task, event.operand)).filter(|open| **open > 0);
        match open {
            Some(open) => *open -= 1,
            None => report.error(event.id, || {
                let tables = trace.tables();
                let invocation = tables.invocations.get(InvocationId(event.operand).index());
                let method = invocation.map_or("?", |invocation| tables.name(invocation.method));
                format!("returns from `{method}`, which its task did not invoke")
            }),
        }
    }
}

fn allocation(trace: &Trace, event: &Event) -> Allocation {
    match trace.tables().locations.get(event.operand as usize) {
        Some(Location::Range { address, .. }) => Allocation::Address(*address),
        _ => Allocation::Location(event.operand),
    }
}

/// The event that a read refers to must be a write of its location.
fn read_from(event: &Event, from: u64, report: &mut Report<'_>) {
    if from == Columns::INITIAL {
        return;
    }
    let trace = report.trace;
    let from = u32::try_from(from).ok().map(EventId).filter(|from| from.index() < trace.len());
    let Some(from) = from else {
        report.error(event.id, || "reads from an event that is not in the trace".to_owned());
        return;
    };
    let write = trace.event(from);
    let wrong = if from == event.id {
        "itself"
    } else if !write.kind().writes() {
        "no write"
    } else if !same_memory(trace, event.operand, write.operand) {
        "a write of another location"
    } else if report.observed && from > event.id {
        "a later write"
    } else {
        return;
    };
    report.error(event.id, || {
        let location = location_name(trace, event);
        format!("reads {location} from event {}, which is {wrong}", label(trace, from))
    });
}

/// Returns whether two locations are the same, or ranges that overlap in one generation.
fn same_memory(trace: &Trace, a: u32, b: u32) -> bool {
    if a == b {
        return true;
    }
    let location = |id: u32| trace.tables().locations.get(LocationId(id).index()).copied();
    let (
        Some(Location::Range { address: a, size: a_size, generation: a_generation }),
        Some(Location::Range { address: b, size: b_size, generation: b_generation }),
    ) = (location(a), location(b))
    else {
        return false;
    };
    a_generation == b_generation
        && u128::from(a) < u128::from(b) + u128::from(b_size)
        && u128::from(b) < u128::from(a) + u128::from(a_size)
}
