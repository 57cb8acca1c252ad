//! Conflict determinism: do the invocations of each event conflict in the reference order only?
//!
//! **Problem.** The conflict-invocation graph of an event has an edge from one invocation to
//! another if the reference order puts it first, or if an access of it precedes a conflicting
//! access of the other. It has a cycle iff some conflict goes from a later to an earlier invocation
//! of the reference order, because that order is total. **Source.** Bouajjani et al., ESOP 2017,
//! definition 5. **Method.** Per event and cell, remember the write and the access of the latest
//! invocation in the reference order. An access closes a violation, and is its *pivot*, iff the
//! invocation of a remembered conflicting access is later than its own. That access is the *root*.
//! **Guarantee.** Every pivot is found once, with one root. **Naive version.** All pairs:
//! `testkit::robust`. **Cost.** Linear in the accesses; for ranges, in the cells they cover.

use super::cells::Cells;
use super::forest::{Forest, STRIDE};
use super::serial::event_of;
use anyorder_system::{Control, Stopped};
use anyorder_trace::{EventId, Trace};

/// A conflict against the reference order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Violation {
    /// The access that closes the violation, by the earlier invocation of the reference order.
    pub pivot: EventId,
    /// The conflicting access before it, by a later invocation: of those with such accesses the
    /// latest, with its first one.
    pub root: EventId,
}

/// An access, and the position of its invocation in the reference order.
#[derive(Clone, Copy)]
struct Latest {
    position: u32,
    access: EventId,
}

impl Latest {
    const NOTHING: Latest = Latest { position: 0, access: EventId::NONE };

    /// Returns the one of the later invocation, of equal ones the first.
    fn or(self, other: Latest) -> Latest {
        let key = |one: Latest| (std::cmp::Reverse(one.position), one.access);
        if key(other) < key(self) { other } else { self }
    }

    /// Keeps the access of the later invocation, of equal ones the first.
    #[inline]
    fn add(&mut self, other: Latest) {
        if self.access.is_none() || other.position > self.position {
            *self = other;
        }
    }
}

/// What an event did to a cell.
#[derive(Clone, Copy)]
struct Cell {
    /// The event that the rest is about.
    event: u32,
    write: Latest,
    access: Latest,
}

/// Finds all violations, in trace order of their pivots within each event; events in their order.
///
/// # Errors
///
/// Fails if it was stopped, or if the tables need more memory than the limit.
pub(super) fn find(
    trace: &Trace,
    forest: &Forest,
    cells: &Cells,
    positions: &[u32],
    control: &Control<'_>,
) -> Result<Vec<Violation>, Stopped> {
    let (rows, starts) = accesses_by_event(trace, forest, control)?;
    control.check_memory(rows.len() as u64 * 4, (cells.len() * size_of::<Cell>()) as u64)?;
    let nothing = Cell { event: u32::MAX, write: Latest::NOTHING, access: Latest::NOTHING };
    let mut states = vec![nothing; cells.len()];
    let mut violations = Vec::new();
    let (mut steps, mut done) = (0_usize, 0_usize);
    for event in 0..forest.events_count() as u32 {
        for row in &rows[starts[event as usize]..starts[event as usize + 1]] {
            done += 1;
            if done % STRIDE == 0 {
                control.step(done as u64, Some(rows.len() as u64))?;
                let bytes = violations.len() * size_of::<Violation>() + rows.len() * 4;
                control.check_memory(0, bytes as u64)?;
            }
            let access = EventId(*row);
            let writes = trace.columns().ops[access.index()].kind().writes();
            let task = trace.columns().tasks[access.index()];
            let position = positions[forest.invocation_of(task, access) as usize];
            let here = Latest { position, access };
            let mut root: Option<Latest> = None;
            for cell in cells.of(trace.columns().operands[access.index()]) {
                steps += 1;
                if steps.is_multiple_of(STRIDE) {
                    control.check()?;
                }
                let state = &mut states[cell];
                if state.event != event {
                    *state = Cell { event, ..nothing };
                }
                let against = if writes { state.access } else { state.write };
                if against.position > position {
                    root = Some(root.map_or(against, |root| root.or(against)));
                }
                state.access.add(here);
                if writes {
                    state.write.add(here);
                }
            }
            violations.extend(root.map(|root| Violation { pivot: access, root: root.access }));
        }
    }
    Ok(violations)
}

/// Sorts the accesses of events with several invocations by event; each event's stay in trace
/// order. Returns them, and where those of each event begin.
fn accesses_by_event(
    trace: &Trace,
    forest: &Forest,
    control: &Control<'_>,
) -> Result<(Vec<u32>, Vec<usize>), Stopped> {
    let events = forest.events_count();
    let several: Vec<bool> =
        (0..events as u32).map(|event| forest.of_event(event).len() > 1).collect();
    let event_of = |row: usize| {
        let access = trace.columns().ops[row].kind().is_access();
        access.then(|| event_of(trace, forest, row)).filter(|event| several[*event as usize])
    };
    control.check_memory(0, events as u64 * 16)?;
    let mut starts = vec![0_usize; events + 1];
    for row in 0..trace.len() {
        if row % STRIDE == 0 {
            control.check()?;
        }
        if let Some(event) = event_of(row) {
            starts[event as usize + 1] += 1;
        }
    }
    for event in 0..events {
        starts[event + 1] += starts[event];
    }
    control.check_memory(0, starts[events] as u64 * 4)?;
    let mut rows = vec![0_u32; starts[events]];
    let mut next = starts.clone();
    for row in 0..trace.len() {
        if row % STRIDE == 0 {
            control.check()?;
        }
        if let Some(event) = event_of(row) {
            rows[next[event as usize]] = row as u32;
            next[event as usize] += 1;
        }
    }
    Ok((rows, starts))
}
