//! Shortest cycles of conflicts through a given conflict.
//!
//! **Problem.** Given a conflict from event `u` to event `v` inside a component, find the fewest
//! conflicts that lead back from `v` to `u`. **Method.** Breadth-first search over the whole
//! conflict-event graph, which is never built. Per event and cell, keep the first and the last
//! access and write. Event `a` has an edge to `b` over a cell iff the first write of `a` precedes
//! the last access of `b`, or its first access precedes the last write of `b`. The events of a cell
//! are sorted by their last access, and by their last write, the latest first. The edges of `a`
//! over the cell lead to a prefix of either list, and a prefix once taken need not be taken again.
//! **Guarantee.** No cycle through the conflict is shorter. **Cost.** Linear in the summaries of
//! the component for each search.

use super::cells::Cells;
use super::forest::{Forest, NONE, STRIDE};
use super::serial::{Components, Conflict, event_of};
use anyorder_system::{Control, Stopped};
use anyorder_trace::{EventId, Trace};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::Range;

/// What an event did to a cell.
#[derive(Clone, Copy, Debug)]
struct Summary {
    event: u32,
    /// The component of the event, and the cell.
    place: (u32, u32),
    first_access: EventId,
    /// `NONE`, which is behind everything, without a write.
    first_write: EventId,
    last_access: EventId,
    /// `None` without a write.
    last_write: Option<EventId>,
}

/// The conflicts inside components, for searches.
pub(super) struct Cycles {
    /// Sorted by event, then by cell.
    summaries: Vec<Summary>,
    /// Places of summaries by component and cell, the latest last access first.
    by_access: Vec<u32>,
    /// Places of summaries with a write by component and cell, the latest last write first.
    by_write: Vec<u32>,
    /// By component and cell: the parts of `by_access` and `by_write`.
    lists: FxHashMap<(u32, u32), (Range<u32>, Range<u32>)>,
    /// The accesses of each event in a component, in trace order.
    accesses: FxHashMap<u32, Vec<EventId>>,
}

impl Cycles {
    /// Prepares the searches. Time: linear in the accesses, and n log n in the summaries.
    ///
    /// # Errors
    ///
    /// Fails if it was stopped, or if the tables need more memory than the limit.
    pub(super) fn new(
        trace: &Trace,
        forest: &Forest,
        cells: &Cells,
        components: &Components,
        control: &Control<'_>,
    ) -> Result<Cycles, Stopped> {
        let mut known: FxHashMap<(u32, u32), Summary> = FxHashMap::default();
        let mut accesses: FxHashMap<u32, Vec<EventId>> = FxHashMap::default();
        let mut steps = 0_usize;
        for row in 0..trace.len() {
            if row % STRIDE == 0 {
                control.check()?;
                let bytes = known.len() * 2 * size_of::<Summary>() + steps * 8;
                control.check_memory(0, bytes as u64)?;
            }
            let kind = trace.columns().ops[row].kind();
            if !kind.is_access() {
                continue;
            }
            let event = event_of(trace, forest, row);
            let component = components.of_event[event as usize];
            if component == NONE {
                continue;
            }
            let access = EventId(row as u32);
            accesses.entry(event).or_default().push(access);
            for cell in cells.of(trace.columns().operands[row]) {
                steps += 1;
                if steps.is_multiple_of(STRIDE) {
                    control.check()?;
                }
                let summary = known.entry((event, cell as u32)).or_insert(Summary {
                    event,
                    place: (component, cell as u32),
                    first_access: access,
                    first_write: EventId::NONE,
                    last_access: access,
                    last_write: None,
                });
                summary.last_access = access;
                if kind.writes() {
                    summary.first_write = summary.first_write.min(access);
                    summary.last_write = Some(access);
                }
            }
        }
        let mut summaries: Vec<Summary> = known.into_values().collect();
        summaries.sort_unstable_by_key(|summary| (summary.event, summary.place));
        control.check()?;
        let mut cycles = Cycles {
            by_access: (0..summaries.len() as u32).collect(),
            by_write: Vec::new(),
            summaries,
            lists: FxHashMap::default(),
            accesses,
        };
        cycles.sort();
        Ok(cycles)
    }

    fn sort(&mut self) {
        let all = &self.summaries;
        let of = |place: &u32| &all[*place as usize];
        self.by_write =
            self.by_access.iter().copied().filter(|place| of(place).last_write.is_some()).collect();
        self.by_access
            .sort_unstable_by_key(|place| (of(place).place, Reverse(of(place).last_access)));
        self.by_write
            .sort_unstable_by_key(|place| (of(place).place, Reverse(of(place).last_write)));
        let mut at = 0;
        for list in self.by_access.chunk_by(|a, b| of(a).place == of(b).place) {
            let range = at..at + list.len() as u32;
            at = range.end;
            self.lists.insert(of(&list[0]).place, (range, 0..0));
        }
        let mut at = 0;
        for list in self.by_write.chunk_by(|a, b| of(a).place == of(b).place) {
            let range = at..at + list.len() as u32;
            at = range.end;
            if let Some(lists) = self.lists.get_mut(&of(&list[0]).place) {
                lists.1 = range;
            }
        }
    }

    /// Returns a shortest cycle through a conflict. It begins with that conflict, and each conflict
    /// ends at the event where the next one begins.
    ///
    /// # Errors
    ///
    /// Fails if it was stopped.
    pub(super) fn through(
        &self,
        trace: &Trace,
        cells: &Cells,
        conflict: Conflict,
        control: &Control<'_>,
    ) -> Result<Vec<Conflict>, Stopped> {
        let mut cycle = vec![conflict];
        let mut path = self.path(conflict.to, conflict.from, control)?;
        path.push(conflict.to);
        // The path is backwards: from `conflict.from` to `conflict.to`.
        for pair in path.windows(2).rev() {
            let found = self.conflict(trace, cells, pair[1], pair[0]);
            debug_assert!(found.is_some(), "an edge is a pair of accesses");
            cycle.extend(found);
        }
        Ok(cycle)
    }

    /// Returns the events of a shortest path, the last one first, without the first one.
    fn path(&self, from: u32, to: u32, control: &Control<'_>) -> Result<Vec<u32>, Stopped> {
        let mut before: FxHashMap<u32, u32> = FxHashMap::default();
        // By cell: how much of either list was taken.
        let mut taken: FxHashMap<(u32, u32), (u32, u32)> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        before.insert(from, NONE);
        let mut steps = 0_usize;
        'search: while let Some(event) = queue.pop_front() {
            let start = self.summaries.partition_point(|summary| summary.event < event);
            for own in self.summaries[start..].iter().take_while(|own| own.event == event) {
                let Some((accesses, writes)) = self.lists.get(&own.place) else { continue };
                let (by_access, by_write) = taken.entry(own.place).or_default();
                let mut reach = |other: &Summary| {
                    before.entry(other.event).or_insert_with(|| {
                        queue.push_back(other.event);
                        event
                    });
                };
                let rest =
                    &self.by_access[(accesses.start + *by_access) as usize..accesses.end as usize];
                for place in rest {
                    let other = &self.summaries[*place as usize];
                    if other.last_access <= own.first_write {
                        break;
                    }
                    *by_access += 1;
                    reach(other);
                }
                let rest = &self.by_write[(writes.start + *by_write) as usize..writes.end as usize];
                for place in rest {
                    let other = &self.summaries[*place as usize];
                    if other.last_write <= Some(own.first_access) {
                        break;
                    }
                    *by_write += 1;
                    reach(other);
                }
                steps += 1;
                if steps.is_multiple_of(STRIDE) {
                    control.check()?;
                }
                // The first event that reaches it is on a shortest path.
                if before.contains_key(&to) {
                    break 'search;
                }
            }
        }
        let mut path = Vec::new();
        let mut at = to;
        while at != from && at != NONE {
            path.push(at);
            at = before.get(&at).copied().unwrap_or(NONE);
        }
        Ok(path)
    }

    /// Returns the accesses of the edge between two events: of the second event the first access
    /// that conflicts with an earlier one of the first event, and of those the latest.
    fn conflict(&self, trace: &Trace, cells: &Cells, from: u32, to: u32) -> Option<Conflict> {
        let of = |event: u32| self.accesses.get(&event).map_or(&[] as &[EventId], Vec::as_slice);
        // By cell: the last access and the last write of `from` so far.
        let mut last: FxHashMap<usize, (EventId, Option<EventId>)> = FxHashMap::default();
        let mut own = of(from).iter().peekable();
        for after in of(to) {
            while let Some(access) = own.next_if(|access| *access < after) {
                let writes = trace.columns().ops[access.index()].kind().writes();
                for cell in cells.of(trace.columns().operands[access.index()]) {
                    let last = last.entry(cell).or_insert((*access, None));
                    last.0 = *access;
                    last.1 = if writes { Some(*access) } else { last.1 };
                }
            }
            let writes = trace.columns().ops[after.index()].kind().writes();
            let before = cells
                .of(trace.columns().operands[after.index()])
                .filter_map(|cell| last.get(&cell))
                .filter_map(|(access, write)| if writes { Some(*access) } else { *write })
                .max();
            if let Some(before) = before {
                return Some(Conflict { from, to, before, after: *after });
            }
        }
        None
    }
}
