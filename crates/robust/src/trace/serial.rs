//! The conflict-event graph, and the components that keep a trace from being serializable.
//!
//! **Problem.** Which events of a trace lie on a cycle of conflicts? An edge leads from one event
//! to another if an access of the first precedes a conflicting access of the second. **Source.**
//! Bouajjani et al., ESOP 2017, definition 4; C. H. Papadimitriou, "The serializability of
//! concurrent database updates", J. ACM 26 (4), 1979, for the graph. **Method.** Per cell, an edge
//! from the last write to each read, and from the last write and the reads since to the next write.
//! Every conflict is a path of such edges over one cell. So reachability and components are those
//! of the whole graph, with at most as many edges as accesses. **Naive version.** All pairs of
//! accesses, and closure: `testkit::robust`. **Cost.** Linear in the accesses (for ranges: in the
//! cells they cover), and e log e in the distinct edges.

use super::cells::Cells;
use super::forest::{Forest, NONE, STRIDE};
use anyorder_common::scc::components;
use anyorder_system::{Control, Stopped};
use anyorder_trace::{EventId, Trace};

/// The components of the conflict-event graph with more than one event.
#[derive(Clone, Debug, Default)]
pub(super) struct Components {
    /// By event: its component, or `NONE`.
    pub(super) of_event: Vec<u32>,
    /// By component: its number of events.
    pub(super) sizes: Vec<u32>,
    /// The number of distinct edges that were found.
    pub(super) edges: u64,
}

/// Two conflicting accesses of two events, in trace order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Conflict {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) before: EventId,
    pub(super) after: EventId,
}

/// Finds the components.
///
/// # Errors
///
/// Fails if it was stopped, or if the tables need more memory than the limit.
pub(super) fn find(
    trace: &Trace,
    forest: &Forest,
    cells: &Cells,
    control: &Control<'_>,
) -> Result<Components, Stopped> {
    let mut edges = Edges::default();
    visit(trace, forest, cells, control, |conflict| edges.add(conflict.from, conflict.to))?;
    edges.compact();
    control.check()?;
    let events = forest.events_count();
    let pairs = edges.pairs;
    control.check_memory(0, (events as u64 + pairs.len() as u64) * 24)?;
    let mut starts = vec![0_usize; events + 1];
    for pair in &pairs {
        starts[(pair >> 32) as usize + 1] += 1;
    }
    for event in 0..events {
        starts[event + 1] += starts[event];
    }
    let mut found =
        Components { of_event: vec![NONE; events], sizes: Vec::new(), edges: pairs.len() as u64 };
    let successors = |event: u32| {
        let range = starts[event as usize]..starts[event as usize + 1];
        pairs[range].iter().map(|pair| *pair as u32)
    };
    components(events, 0..events as u32, successors, |component| {
        if component.members.len() > 1 {
            let number = found.sizes.len() as u32;
            found.sizes.push(component.members.len() as u32);
            component.members.iter().for_each(|one| found.of_event[*one as usize] = number);
        }
    });
    found.renumber();
    Ok(found)
}

impl Components {
    /// Numbers the components by their first events, the order of a report.
    fn renumber(&mut self) {
        let mut renamed = vec![NONE; self.sizes.len()];
        let mut sizes = Vec::with_capacity(self.sizes.len());
        for component in self.of_event.iter_mut().filter(|component| **component != NONE) {
            let name = &mut renamed[*component as usize];
            if *name == NONE {
                *name = sizes.len() as u32;
                sizes.push(self.sizes[*component as usize]);
            }
            *component = *name;
        }
        self.sizes = sizes;
    }

    /// Returns whether two events are in one component.
    #[inline]
    pub(super) fn together(&self, a: u32, b: u32) -> bool {
        let component = self.of_event[a as usize];
        component != NONE && component == self.of_event[b as usize]
    }
}

/// Distinct edges, as two numbers in one, sorted.
#[derive(Default)]
struct Edges {
    pairs: Vec<u64>,
    /// The length at which duplicates are removed again.
    limit: usize,
}

impl Edges {
    fn add(&mut self, from: u32, to: u32) {
        let pair = u64::from(from) << 32 | u64::from(to);
        if self.pairs.last() == Some(&pair) {
            return;
        }
        if self.pairs.len() >= self.limit {
            self.compact();
            self.limit = (2 * self.pairs.len()).max(1 << 20);
        }
        self.pairs.push(pair);
    }

    fn compact(&mut self) {
        self.pairs.sort_unstable();
        self.pairs.dedup();
    }
}

/// The accesses of a cell that the next one can conflict with.
#[derive(Clone, Copy)]
struct Cell {
    /// The event of the last write, and the write.
    writer: u32,
    write: EventId,
    /// The latest of the reads since: its place among [`Reads`].
    reads: u32,
}

/// The reads since the last write of each cell, as lists in one table.
#[derive(Default)]
struct Reads {
    /// The event, the read, and the read before it.
    nodes: Vec<(u32, EventId, u32)>,
    /// The first unused node.
    free: u32,
}

impl Reads {
    fn push(&mut self, event: u32, read: EventId, next: u32) -> u32 {
        let node = (event, read, next);
        if self.free == NONE || self.free as usize >= self.nodes.len() {
            self.nodes.push(node);
            return self.nodes.len() as u32 - 1;
        }
        let at = self.free;
        self.free = std::mem::replace(&mut self.nodes[at as usize], node).2;
        at
    }
}

/// Calls `found` with the conflicts of consecutive accesses of each cell, in trace order of the
/// later accesses.
///
/// # Errors
///
/// Fails if it was stopped, or if the tables need more memory than the limit.
pub(super) fn visit(
    trace: &Trace,
    forest: &Forest,
    cells: &Cells,
    control: &Control<'_>,
    mut found: impl FnMut(Conflict),
) -> Result<(), Stopped> {
    let shared = shared(trace, forest, cells, control)?;
    control.check_memory(0, cells.len() as u64 * (size_of::<Cell>() as u64 + 1))?;
    let empty = Cell { writer: NONE, write: EventId::NONE, reads: NONE };
    let mut states = vec![empty; cells.len()];
    let mut reads = Reads { nodes: Vec::new(), free: NONE };
    let mut steps = 0_usize;
    for row in 0..trace.len() {
        if row % STRIDE == 0 {
            control.step(row as u64, Some(trace.len() as u64))?;
            let bytes = reads.nodes.len() as u64 * size_of::<(u32, EventId, u32)>() as u64;
            control.check_memory(0, bytes)?;
        }
        let kind = trace.columns().ops[row].kind();
        if !kind.is_access() {
            continue;
        }
        let access = EventId(row as u32);
        let event = event_of(trace, forest, row);
        for cell in cells.of(trace.columns().operands[row]) {
            steps += 1;
            if steps.is_multiple_of(STRIDE) {
                control.check()?;
            }
            if !shared[cell] {
                continue;
            }
            let state = &mut states[cell];
            let mut conflict = |from: u32, before: EventId| {
                if from != NONE && from != event {
                    found(Conflict { from, to: event, before, after: access });
                }
            };
            conflict(state.writer, state.write);
            if !kind.writes() {
                let last = reads.nodes.get(state.reads as usize);
                if last.is_none_or(|(reader, ..)| *reader != event) {
                    state.reads = reads.push(event, access, state.reads);
                }
                continue;
            }
            let mut at = std::mem::replace(&mut state.reads, NONE);
            while at != NONE {
                let (reader, read, next) = reads.nodes[at as usize];
                conflict(reader, read);
                reads.nodes[at as usize].2 = reads.free;
                reads.free = at;
                at = next;
            }
            (state.writer, state.write) = (event, access);
        }
    }
    Ok(())
}

/// Returns the event of a row of the trace.
#[inline]
pub(super) fn event_of(trace: &Trace, forest: &Forest, row: usize) -> u32 {
    let invocation = forest.invocation_of(trace.columns().tasks[row], EventId(row as u32));
    forest.invocations[invocation as usize].event
}

/// Returns which cells several events access and one of them writes.
fn shared(
    trace: &Trace,
    forest: &Forest,
    cells: &Cells,
    control: &Control<'_>,
) -> Result<Vec<bool>, Stopped> {
    const SEVERAL: u32 = NONE - 1;
    control.check_memory(0, cells.len() as u64 * 6)?;
    let mut user = vec![NONE; cells.len()];
    let mut written = vec![false; cells.len()];
    let mut steps = 0_usize;
    for row in 0..trace.len() {
        if row % STRIDE == 0 {
            control.check()?;
        }
        let kind = trace.columns().ops[row].kind();
        if !kind.is_access() {
            continue;
        }
        let event = event_of(trace, forest, row);
        for cell in cells.of(trace.columns().operands[row]) {
            steps += 1;
            if steps.is_multiple_of(STRIDE) {
                control.check()?;
            }
            written[cell] |= kind.writes();
            if user[cell] == NONE {
                user[cell] = event;
            } else if user[cell] != event {
                user[cell] = SEVERAL;
            }
        }
    }
    Ok(user.into_iter().zip(written).map(|(user, written)| user == SEVERAL && written).collect())
}
