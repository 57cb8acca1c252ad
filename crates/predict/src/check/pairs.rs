//! All pairs of actions of different lanes that do not commute and are reported.

use crate::confirm::Reorders;
use anyorder_stream::{Class, ClassTable, Point, Specification, StreamEvent};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, EventKind, Location, LocationId, TaskId, TaskKind, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// The most overlapping pairs of locations for each allowed pair of events.
const OVERLAPS_PER_PAIR: usize = 50;

/// The events between two questions whether the job is stopped.
const POLL_EVENTS: u32 = 1 << 10;

/// The events on one object, grouped by class and lane; each group is ascending.
type Actions = BTreeMap<(u8, u64), Vec<EventId>>;

/// Returns all pairs, sorted by their events; `None` if there are more than `max`, or once the job
/// is stopped.
///
/// Time: linear in the events, in the pairs up to `max`, and for each object in the pairs of lanes
/// with classes that are reported.
pub(crate) fn all_pairs<S: Specification>(
    trace: &Trace,
    mut spec: S,
    reorders: Reorders,
    (max, cancel): (usize, &Cancel),
) -> Option<BTreeSet<(EventId, EventId)>> {
    let tables = spec.classes();
    let memory_table = tables.first().cloned().unwrap_or_default();
    let Objects { memory, own } = actions(trace, &mut spec, reorders, cancel)?;
    let mut pairs = BTreeSet::new();
    let limits = (max, cancel);
    for actions in memory.values() {
        add(&mut pairs, &memory_table, (actions, actions), limits)?;
    }
    for ((table, _), actions) in &own {
        add(&mut pairs, tables.get(usize::from(*table))?, (actions, actions), limits)?;
    }
    for (a, b) in overlapping(trace, &memory, max.saturating_mul(OVERLAPS_PER_PAIR))? {
        add(&mut pairs, &memory_table, (&memory[&a.0], &memory[&b.0]), limits)?;
    }
    if cancel.reason().is_some() {
        return None;
    }
    pairs.retain(|(a, b)| !commute(trace, &mut spec, *a, *b));
    Some(pairs)
}

/// Returns whether two events commute although they touch points that conflict.
pub(crate) fn commute<S: Specification>(
    trace: &Trace,
    spec: &mut S,
    a: EventId,
    b: EventId,
) -> bool {
    let [a, b] = [a, b].map(|id| trace.event(id));
    spec.commute(trace.tables(), (a.op, a.operand), (b.op, b.operand))
}

/// The actions on each memory location, and on each cell of specified objects by its table and
/// number.
#[derive(Default)]
struct Objects {
    memory: BTreeMap<u32, Actions>,
    own: BTreeMap<(u16, u32), Actions>,
}

fn actions<S: Specification>(
    trace: &Trace,
    spec: &mut S,
    reorders: Reorders,
    cancel: &Cancel,
) -> Option<Objects> {
    let mut objects = Objects::default();
    let mut points: Vec<Point> = Vec::new();
    for event in trace.events() {
        if event.id.0.is_multiple_of(POLL_EVENTS) && cancel.reason().is_some() {
            return None;
        }
        let kind = event.kind();
        // Like the engine, treat events inside an invocation as part of it.
        let internal = kind.is_access() || matches!(kind, EventKind::Acquire | EventKind::Release);
        if S::HIDES && internal && spec.hides(event.task.0, kind, event.operand) {
            continue;
        }
        let lane = lane(trace, event.task, reorders);
        let insert = |actions: &mut Actions, class: Class| {
            let events = actions.entry((class.0, lane)).or_default();
            if events.last() != Some(&event.id) {
                events.push(event.id);
            }
        };
        if kind.is_access() {
            let actions = objects.memory.entry(event.operand).or_default();
            insert(actions, Class::of_access(event.op));
        }
        if S::ACCESSES || !kind.is_access() {
            let step = StreamEvent::of_event(trace, event.id);
            points.clear();
            match kind.is_access() {
                true => spec.access_points(trace.tables(), step, &mut points),
                false => spec.points(trace.tables(), step, &mut points),
            }
            for point in &points {
                let actions = objects.own.entry((point.table, point.cell)).or_default();
                insert(actions, point.class);
            }
        }
    }
    Some(objects)
}

/// Returns the number of the sequence that contains a task's events. Every reordering keeps the
/// order of a sequence.
fn lane(trace: &Trace, task: TaskId, reorders: Reorders) -> u64 {
    let own = 1 << 32 | u64::from(task.0);
    match (trace.tables().tasks[task.index()].kind, reorders.tasks()) {
        (TaskKind::Burst, _) | (TaskKind::Posted, true) => own,
        _ => u64::from(trace.span(task).handler.0),
    }
}

fn add(
    pairs: &mut BTreeSet<(EventId, EventId)>,
    table: &ClassTable,
    (one, other): (&Actions, &Actions),
    (max, cancel): (usize, &Cancel),
) -> Option<()> {
    for ((class, lane), events) in one {
        if cancel.reason().is_some() {
            return None;
        }
        for ((other_class, other_lane), others) in other {
            if lane == other_lane || !table.is_reported(Class(*class), Class(*other_class)) {
                continue;
            }
            for a in events {
                for b in others {
                    pairs.insert((*a.min(b), *a.max(b)));
                    if pairs.len() > max {
                        return None;
                    }
                }
            }
        }
    }
    Some(())
}

/// Returns the pairs of different locations that overlap; `None` if there are more than `max`.
fn overlapping(
    trace: &Trace,
    memory: &BTreeMap<u32, Actions>,
    max: usize,
) -> Option<Vec<(LocationId, LocationId)>> {
    let mut ranges: Vec<(u32, u64, u64, LocationId)> = Vec::new();
    for id in memory.keys() {
        if let Some(Location::Range { address, size, generation }) =
            trace.tables().locations.get(*id as usize)
        {
            let end = address.saturating_add(u64::from((*size).max(1)));
            ranges.push((*generation, *address, end, LocationId(*id)));
        }
    }
    ranges.sort_unstable();
    let mut pairs = Vec::new();
    // Ranges that may overlap later ones. Ranges that have ended are dropped.
    let mut open: Vec<(u32, u64, LocationId)> = Vec::new();
    for (generation, begin, end, id) in ranges {
        open.retain(|(g, e, _)| *g == generation && *e > begin);
        pairs.extend(open.iter().map(|(_, _, other)| (*other, id)));
        if pairs.len() > max {
            return None;
        }
        open.push((generation, end, id));
    }
    Some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_stream::{Conditions, MemoryOnly};
    use anyorder_trace::{EventKind, Mailbox, TraceBuilder};

    fn numbers(pairs: Option<BTreeSet<(EventId, EventId)>>) -> Vec<(u32, u32)> {
        pairs.expect("few enough").into_iter().map(|(a, b)| (a.0, b.0)).collect()
    }

    #[test]
    fn pairs_do_not_commute_and_are_of_two_lanes() {
        let mut b = TraceBuilder::new();
        let handlers = ["S", "T"].map(|name| b.handler(name, Mailbox::None).unwrap());
        let [s, t] = handlers.map(|handler| b.initial(handler));
        b.write(s, "x").unwrap();
        b.write(s, "x").unwrap();
        b.read(t, "x").unwrap();
        b.read(t, "y").unwrap();
        b.read(s, "y").unwrap();
        b.on_condition(s, EventKind::Wait, "c").unwrap();
        b.on_condition(t, EventKind::Signal, "c").unwrap();
        let trace = b.finish();
        let memory = all_pairs(&trace, MemoryOnly, Reorders::Threads, (2, &Cancel::new()));
        assert_eq!(numbers(memory), [(0, 2), (1, 2)]);
        let all = |max| all_pairs(&trace, Conditions, Reorders::Threads, (max, &Cancel::new()));
        assert_eq!(numbers(all(3)), [(0, 2), (1, 2), (5, 6)]);
        assert_eq!(all(2), None);
    }

    #[test]
    fn ranges_overlap_within_a_generation() {
        let mut b = TraceBuilder::new();
        let handlers = ["S", "T"].map(|name| b.handler(name, Mailbox::None).unwrap());
        let [s, t] = handlers.map(|handler| b.initial(handler));
        let mut range = |address, size, generation| {
            let location = Location::Range { address, size, generation };
            b.interner.location(location).unwrap()
        };
        let whole = range(100, 16, 0);
        let parts = [range(104, 4, 0), range(116, 4, 0), range(104, 4, 1), range(96, 5, 0)];
        for part in parts {
            b.push(s, EventKind::Write.into(), part.0);
        }
        b.push(t, EventKind::Free.into(), whole.0);
        let trace = b.finish();
        let pairs = all_pairs(&trace, MemoryOnly, Reorders::Threads, (100, &Cancel::new()));
        assert_eq!(numbers(pairs), [(0, 4), (3, 4)]);
    }

    #[test]
    fn memory_that_was_allocated_anew_is_other_memory() {
        let mut b = TraceBuilder::new();
        let handlers = ["S", "T"].map(|name| b.handler(name, Mailbox::None).unwrap());
        let [s, t] = handlers.map(|handler| b.initial(handler));
        for (task, size, generation) in [(s, 16, 0), (t, 4, 1)] {
            let location = Location::Range { address: 100, size, generation };
            let location = b.interner.location(location).unwrap();
            b.push(task, EventKind::Free.into(), location.0);
        }
        let pairs = all_pairs(&b.finish(), MemoryOnly, Reorders::Threads, (100, &Cancel::new()));
        assert_eq!(numbers(pairs), []);
    }

    #[test]
    fn tasks_of_one_handler_are_lanes_where_they_may_change_places() {
        let mut b = TraceBuilder::new();
        let ui = b.handler("ui", Mailbox::Bag).unwrap();
        let main = b.initial(ui);
        let tasks = ["a", "b"].map(|name| b.task(name, ui).unwrap());
        for task in tasks {
            b.post(main, task).unwrap();
        }
        for task in tasks {
            b.get(task).unwrap();
            b.write(task, "x").unwrap();
            b.end(task).unwrap();
        }
        let trace = b.finish();
        let all =
            |reorders| numbers(all_pairs(&trace, MemoryOnly, reorders, (100, &Cancel::new())));
        assert_eq!(all(Reorders::Threads), []);
        assert_eq!(all(Reorders::Tasks), [(3, 6)]);
    }
}
