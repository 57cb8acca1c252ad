//! The graph of transactions: units, and edges between consecutive conflicting events.

use super::Why;
use super::blocks::Blocks;
use crate::trace::cells::Cells;
use anyorder_common::scc::components;
use anyorder_system::{Control, Stopped};
use anyorder_trace::{Event, EventId, EventKind, HandlerId, Trace};
use rustc_hash::FxHashMap;

pub(super) const NONE: u32 = u32::MAX;
/// How many events pass between two looks at the limits.
const STRIDE: usize = 1 << 12;

/// An edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Edge {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) before: EventId,
    pub(super) after: EventId,
    pub(super) why: Why,
}

/// The units that can lie on cycles, and the edges within components.
#[derive(Default)]
pub(super) struct Graph {
    /// By unit: its block, or `NONE`; and its first event that can conflict.
    pub(super) block: Vec<u32>,
    pub(super) first: Vec<EventId>,
    /// By unit: its component, or `NONE`; and how many components there are.
    pub(super) component: Vec<u32>,
    pub(super) components: u32,
    /// The edges within components, by their first unit and then by their second event; and where
    /// those of each unit begin.
    pub(super) edges: Vec<Edge>,
    pub(super) starts: Vec<u32>,
}

impl Graph {
    /// Builds the graph.
    ///
    /// # Errors
    ///
    /// Fails if it was stopped, or needs more memory than the limit.
    pub(super) fn new(
        trace: &Trace,
        blocks: &Blocks,
        control: &Control<'_>,
    ) -> Result<Graph, Stopped> {
        let cells = Cells::new(trace.tables(), |_| false);
        let shared = Shared::new(trace, &cells);
        let mut build = Build::new(trace, &cells, &shared);
        let mut place = 0;
        for event in trace.events() {
            if event.id.index().is_multiple_of(STRIDE) {
                control.step(u64::from(event.id.0), Some(trace.len() as u64))?;
                control.check_memory(0, build.bytes())?;
            }
            if let Some(block) = blocks.beginning(event.id, &mut place) {
                let thread = &mut build.threads[trace.handler_of(event.id).index()];
                (thread.block, thread.unit) = (block, NONE);
            }
            build.add(event);
            let thread = &mut build.threads[trace.handler_of(event.id).index()];
            if thread.block != NONE && blocks.get(thread.block).end == Some(event.id) {
                (thread.block, thread.unit) = (NONE, NONE);
            }
        }
        control.check_memory(0, 2 * build.bytes())?;
        let Build { first, block, edges, .. } = build;
        let mut graph = Graph { first, block, ..Graph::default() };
        graph.condense(edges);
        control.check()?;
        Ok(graph)
    }

    /// Finds the components, and keeps the edges within them.
    fn condense(&mut self, mut edges: Vec<Edge>) {
        let units = self.block.len();
        self.component = vec![NONE; units];
        edges.sort_by_key(|edge| (edge.from, edge.after));
        let starts = starts_of(units, &edges);
        let successors = |unit: u32| {
            let range = starts[unit as usize] as usize..starts[unit as usize + 1] as usize;
            edges[range].iter().map(|edge| edge.to)
        };
        components(units, 0..units as u32, successors, |component| {
            if component.members.len() > 1 {
                for unit in component.members {
                    self.component[*unit as usize] = self.components;
                }
                self.components += 1;
            }
        });
        let together = |edge: &Edge| {
            let of = self.component[edge.from as usize];
            of != NONE && of == self.component[edge.to as usize]
        };
        edges.retain(together);
        self.starts = starts_of(units, &edges);
        self.edges = edges;
    }

    /// Returns the edges of a unit within its component.
    pub(super) fn of(&self, unit: u32) -> &[Edge] {
        let range = self.starts[unit as usize] as usize..self.starts[unit as usize + 1] as usize;
        &self.edges[range]
    }
}

/// Returns where the edges of each unit begin, in a list that is sorted by units.
fn starts_of(units: usize, edges: &[Edge]) -> Vec<u32> {
    let mut starts = vec![0_u32; units + 1];
    for edge in edges {
        starts[edge.from as usize + 1] += 1;
    }
    for unit in 0..units {
        starts[unit + 1] += starts[unit];
    }
    starts
}

/// What several threads use.
struct Shared {
    cells: Vec<bool>,
    locks: Vec<bool>,
}

impl Shared {
    fn new(trace: &Trace, cells: &Cells) -> Shared {
        const SEVERAL: u32 = NONE - 1;
        let mut of_cell = vec![NONE; cells.len()];
        let mut of_lock = vec![NONE; trace.tables().locks.len()];
        let uses = |user: &mut u32, thread: HandlerId| match *user {
            NONE => *user = thread.0,
            other if other != thread.0 => *user = SEVERAL,
            _ => {}
        };
        for event in trace.events() {
            let thread = trace.handler_of(event.id);
            if event.kind().is_access() {
                for cell in cells.of(event.operand) {
                    uses(&mut of_cell[cell], thread);
                }
            } else if matches!(event.kind(), EventKind::Acquire | EventKind::Release) {
                uses(&mut of_lock[event.operand as usize], thread);
            }
        }
        let several = |users: Vec<u32>| users.into_iter().map(|user| user == SEVERAL).collect();
        Shared { cells: several(of_cell), locks: several(of_lock) }
    }
}

/// An event that later ones can conflict with, and its unit.
type Seen = (u32, EventId);

/// Events on one thing: the last exclusive one, and the shared ones since.
#[derive(Clone, Default)]
struct Uses {
    exclusive: Option<Seen>,
    shared: Vec<Seen>,
}

#[derive(Clone, Copy)]
struct Thread {
    /// The block that it is in, or `NONE`; and the block's unit, once it has one.
    block: u32,
    unit: u32,
    /// Its last event that has a unit.
    last: Option<Seen>,
    /// Its fork, until its first event that has a unit.
    fork: Option<Seen>,
}

struct Build<'b> {
    trace: &'b Trace,
    cells: &'b Cells,
    shared: &'b Shared,
    threads: Vec<Thread>,
    block: Vec<u32>,
    first: Vec<EventId>,
    edges: Vec<Edge>,
    memory: Vec<Uses>,
    released: Vec<Uses>,
    /// By condition: the signals that no wake has been matched with, and the last broadcast.
    signals: FxHashMap<u32, Vec<(Seen, bool)>>,
    /// By thread: the wait that it is in.
    waits: FxHashMap<u32, EventId>,
}

impl<'b> Build<'b> {
    fn new(trace: &'b Trace, cells: &'b Cells, shared: &'b Shared) -> Build<'b> {
        let thread = Thread { block: NONE, unit: NONE, last: None, fork: None };
        Build {
            trace,
            cells,
            shared,
            threads: vec![thread; trace.tables().handlers.len()],
            block: Vec::new(),
            first: Vec::new(),
            edges: Vec::new(),
            memory: vec![Uses::default(); cells.len()],
            released: vec![Uses::default(); trace.tables().locks.len()],
            signals: FxHashMap::default(),
            waits: FxHashMap::default(),
        }
    }

    fn bytes(&self) -> u64 {
        (self.edges.len() * size_of::<Edge>() + self.block.len() * 16) as u64
    }

    /// Returns the unit of an event, with the edges to it from its own thread.
    fn unit(&mut self, event: EventId) -> u32 {
        let thread = self.trace.handler_of(event).index();
        let Thread { block, unit, last, fork } = self.threads[thread];
        if block != NONE && unit != NONE {
            self.threads[thread].last = Some((unit, event));
            return unit;
        }
        let new = self.block.len() as u32;
        self.block.push(block);
        self.first.push(event);
        let of_thread = last.map(|seen| (seen, Why::Thread)).or(fork.map(|seen| (seen, Why::Life)));
        if let Some((seen, why)) = of_thread {
            self.edge(seen, (new, event), why);
        }
        let unit = if block == NONE { NONE } else { new };
        self.threads[thread] = Thread { block, unit, last: Some((new, event)), fork: None };
        new
    }

    fn edge(&mut self, (from, before): Seen, (to, after): Seen, why: Why) {
        let same = self.trace.handler_of(before) == self.trace.handler_of(after);
        // Within a thread, the edges from one unit to the next are enough.
        if from != to && same == (why == Why::Thread) {
            self.edges.push(Edge { from, to, before, after, why });
        }
    }

    fn add(&mut self, event: Event) {
        let operand = event.operand as usize;
        match event.kind() {
            kind if kind.is_access() => self.access(event, kind.writes()),
            EventKind::Acquire if self.shared.locks[operand] => {
                let own = (self.unit(event.id), event.id);
                let Uses { exclusive, shared } = self.released[operand].clone();
                let is_shared = event.mode().is_shared();
                let before = exclusive.into_iter().chain(shared.into_iter().filter(|_| !is_shared));
                before.for_each(|seen| self.edge(seen, own, Why::Lock));
            }
            EventKind::Release if self.shared.locks[operand] => {
                let own = (self.unit(event.id), event.id);
                let uses = &mut self.released[operand];
                if event.mode().is_shared() {
                    uses.shared.retain(|(unit, _)| *unit != own.0);
                    uses.shared.push(own);
                } else {
                    *uses = Uses { exclusive: Some(own), shared: Vec::new() };
                }
            }
            EventKind::Fork => {
                let own = (self.unit(event.id), event.id);
                let child = &mut self.threads[operand];
                child.fork = child.last.is_none().then_some(own);
            }
            EventKind::Join => {
                let own = (self.unit(event.id), event.id);
                if let Some(last) = self.threads[operand].last.or(self.threads[operand].fork) {
                    self.edge(last, own, Why::Life);
                }
            }
            EventKind::Signal | EventKind::Broadcast | EventKind::Wait | EventKind::Wake => {
                self.signal(event);
            }
            _ => {}
        }
    }

    fn access(&mut self, event: Event, writes: bool) {
        let cells = self.cells.of(event.operand);
        if !cells.clone().any(|cell| self.shared.cells[cell]) {
            return;
        }
        let own = (self.unit(event.id), event.id);
        for cell in cells.filter(|cell| self.shared.cells[*cell]) {
            let uses = std::mem::take(&mut self.memory[cell]);
            if let Some(write) = uses.exclusive {
                self.edge(write, own, Why::Memory);
            }
            let (exclusive, mut shared) = (uses.exclusive, uses.shared);
            if writes {
                shared.iter().for_each(|read| self.edge(*read, own, Why::Memory));
                shared.clear();
                self.memory[cell] = Uses { exclusive: Some(own), shared };
                continue;
            }
            let last = shared.last().copied();
            if last.is_none_or(|(unit, _)| unit != own.0) {
                shared.push(own);
            }
            self.memory[cell] = Uses { exclusive, shared };
        }
    }

    /// A signal wakes the first wait that it is matched with: of all signals since the wait, the
    /// first that has woken nobody. A broadcast wakes any number.
    fn signal(&mut self, event: Event) {
        let thread = self.trace.handler_of(event.id).0;
        let own = (self.unit(event.id), event.id);
        match event.kind() {
            EventKind::Wait => drop(self.waits.insert(thread, event.id)),
            EventKind::Wake => {
                let since = self.waits.remove(&thread).unwrap_or(EventId(0));
                let signals = self.signals.entry(event.operand).or_default();
                let is_timeout = event.op.is_timeout();
                let found = signals.iter().position(|((_, id), _)| *id > since && !is_timeout);
                if let Some(at) = found {
                    let (seen, is_broadcast) = signals[at];
                    if !is_broadcast {
                        signals.remove(at);
                    }
                    self.edge(seen, own, Why::Signal);
                }
            }
            kind => {
                let is_broadcast = kind == EventKind::Broadcast;
                self.signals.entry(event.operand).or_default().push((own, is_broadcast));
            }
        }
    }
}
