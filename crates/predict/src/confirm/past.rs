//! A trace prepared for the search: for each event, its required predecessors and its observations.

use super::barriers::Barriers;
use super::blocking::Blocking;
use super::calls::Calls;
use super::cells::Cells;
use super::chains::{Chains, NONE};
use super::components::Components;
use super::confirmer::Reorders;
use super::free_reads::free_reads;
use super::holding::Holding;
use super::lists::Lists;
use super::openings::Openings;
use super::units::{Units, get_of, mailbox_of, post_of};
use super::wakes::Wakes;
use anyorder_stream::{Communication, NoCommunication};
use anyorder_system::Cancel;
use anyorder_trace::{
    Event, EventId, EventKind, Location, LocationId, LockId, Op, OperandKind, Tables, TaskId,
    Trace, memory_of_lock,
};
use std::collections::{BTreeMap, HashMap};

/// The data of all events, about 30 bytes for each.
pub(super) struct Past<'t> {
    pub(super) trace: &'t Trace,
    pub(super) communication: &'t dyn Communication,
    pub(super) chain: Vec<u32>,
    /// The event before it in its chain.
    pub(super) previous: Vec<u32>,
    pub(super) chains: usize,
    /// Its predecessors in every run, besides its chain.
    pub(super) causes: Lists,
    /// Its observations.
    pub(super) observes: Lists,
    /// For each cell that it reads, the last write; `NONE` if there is none.
    pub(super) reads: Lists,
    /// Whether an event is a read that may observe anything; empty if none is.
    is_free: Vec<bool>,
    pub(super) cells: Cells,
    pub(super) holding: Holding,
    pub(super) wakes: Wakes,
    pub(super) calls: Calls,
    pub(super) blocking: Blocking,
    pub(super) openings: Openings,
    pub(super) barriers: Barriers,
    /// Whether an event is, or depends on, an event of a barrier with unknown arrivals; empty if
    /// there are no such barriers. `first_doubt` is the first such event.
    doubtful: Vec<bool>,
    /// The events of such barriers.
    unknown: Vec<u32>,
    pub(super) first_doubt: u32,
    /// Whether tasks may be reordered.
    pub(super) tasks: bool,
    /// The constraints of components, if they apply.
    pub(super) components: Option<Components>,
    /// Whether the trace has so many edges that not all are stored.
    pub(super) is_cut: bool,
}

/// The most edges of a trace: this number, plus some for each event.
const EDGES: usize = 1 << 26;
const EDGES_PER_EVENT: usize = 16;

/// The last events on each cell of memory, during the pass over the trace.
struct Memory {
    written: Vec<u32>,
    allocated: Vec<u32>,
    /// The number of cells of all accesses so far.
    touched: usize,
    /// The locks that lie in memory, by their address, and the last allocation of that.
    in_memory: BTreeMap<(u64, u32), u32>,
}

impl Memory {
    fn new(cells: usize, tables: &Tables) -> Memory {
        let locks = (0..tables.locks.len() as u32).map(LockId);
        let in_memory =
            locks.filter_map(|lock| Some(((memory_of_lock(tables, lock)?.0, lock.0), NONE)));
        Memory {
            written: vec![NONE; cells],
            allocated: vec![NONE; cells],
            touched: 0,
            in_memory: in_memory.collect(),
        }
    }

    /// Records an allocation of the memory of locks.
    fn allocate(&mut self, tables: &Tables, location: LocationId, event: u32) {
        if let Location::Range { address, size, .. } = tables.locations[location.index()] {
            let end = address.saturating_add(u64::from(size.max(1)));
            let locks = self.in_memory.range_mut((address, 0)..(end, 0));
            locks.for_each(|(_, allocated)| *allocated = event);
        }
    }
}

impl<'t> Past<'t> {
    /// Goes through a trace once. Once the job is stopped, the rest is cut.
    pub(super) fn new(
        (trace, cancel): (&'t Trace, &Cancel),
        communication: &'t mut dyn Communication,
        reorders: Reorders,
        grain: u32,
    ) -> Past<'t> {
        let most = EDGES.min(u32::MAX as usize / 2) + EDGES_PER_EVENT.min(64) * trace.len();
        let cells = Cells::new(trace.tables());
        let mut past = Past {
            trace,
            // The pass changes the real one.
            communication: &NoCommunication,
            chain: Vec::with_capacity(trace.len()),
            previous: Vec::with_capacity(trace.len()),
            chains: 0,
            causes: Lists::default(),
            observes: Lists::default(),
            reads: Lists::default(),
            is_free: match reorders {
                Reorders::Threads => free_reads((trace, cancel), &cells, most),
                Reorders::Tasks | Reorders::Components => Vec::new(),
            },
            cells,
            holding: Holding::new(trace, grain, reorders.tasks()),
            wakes: Wakes::default(),
            calls: Calls::default(),
            blocking: Blocking::default(),
            openings: Openings::new(trace, reorders, cancel),
            barriers: Barriers::new(trace, cancel),
            doubtful: Vec::new(),
            unknown: Vec::new(),
            first_doubt: NONE,
            tasks: reorders.tasks(),
            components: (reorders == Reorders::Components).then(|| Components::new(trace)),
            is_cut: false,
        };
        let mut chains = Chains::new(trace);
        let mut units = past.tasks.then(|| Units::new(trace, past.components.is_some()));
        let mut last_of_task = vec![NONE; trace.tasks_count()];
        let mut memory = Memory::new(past.cells.len(), trace.tables());
        let mut barriers: HashMap<u32, u32> = HashMap::new();
        for event in trace.events() {
            let (id, kind) = (event.id.0, event.kind());
            if cancel.reason().is_some() {
                past.is_cut = true;
                return past;
            }
            let causes = &mut past.causes;
            let before = &mut |before| causes.push(before);
            let link = match &mut units {
                Some(units) => units.take(trace, event, before),
                None => chains.take(trace, event, before),
            };
            past.take_components(event, &mut last_of_task);
            let opened = past.openings.take(trace, event);
            let causes = &mut past.causes;
            causes.item_if(true, opened.as_ref());
            if kind == EventKind::Barrier
                && let Some(before) = barriers.insert(event.operand, id)
            {
                causes.push(before);
            }
            let arrivals = past.barriers.arrivals.get(&id).into_iter().flatten();
            arrivals.for_each(|event| causes.push(*event));
            past.take_memory(event, &mut memory, most);
            if past.causes.items() + past.observes.items() > most || memory.touched > most {
                past.is_cut = true;
                return past;
            }
            let signal = past.wakes.take(trace.columns(), event);
            past.observes.item_if(true, signal.as_ref());
            past.causes.item_if(past.tasks, signal.as_ref());
            let observes = &mut past.observes;
            past.calls.take(trace, event, communication, &mut |source| observes.push(source));
            if kind == EventKind::Invoke
                && let Some(object) = past.calls.object(id)
            {
                past.blocking.take(trace, event, object, communication);
            }
            if !memory.in_memory.is_empty() {
                past.take_lock(event, &mut memory);
            }
            let acquire = past.holding.take(event, link);
            past.causes.item_if(kind != EventKind::Refused, acquire.as_ref());
            past.observes.item_if(kind == EventKind::Refused, acquire.as_ref());
            if let Some(units) = &units {
                past.holding.take_turn(id, link.chain, units.turn(id));
            }
            past.causes.end_set();
            past.observes.end_set();
            past.reads.end();
            past.chain.push(link.chain);
            past.previous.push(link.previous);
        }
        past.holding.finish(cancel);
        past.blocking.finish(cancel, &past.chain);
        past.chains = units.map_or(chains.len(), |units| units.len());
        past.find_doubts(cancel);
        // What came last may have been cut.
        past.is_cut |= cancel.reason().is_some();
        past.communication = communication;
        past
    }

    /// Adds the predecessors of an event by the rules of components.
    fn take_components(&mut self, event: Event, last_of_task: &mut [u32]) {
        let Some(components) = &self.components else { return };
        let id = event.id.0;
        components.before(id).iter().for_each(|before| self.causes.push(*before));
        for task in components.ended(id) {
            let last = last_of_task.get(task.index()).copied();
            self.causes.item_if(last != Some(NONE), last.as_ref());
        }
        if let Some(last) = last_of_task.get_mut(event.task.index()) {
            *last = id;
        }
    }

    /// Adds the allocation of the memory in which a lock lies.
    fn take_lock(&mut self, event: Event, memory: &mut Memory) {
        let tables = self.trace.tables();
        match (event.kind().operand(), event.location()) {
            (OperandKind::Lock, _) => {
                let at = memory_of_lock(tables, LockId(event.operand));
                let allocated = at.and_then(|(at, _)| memory.in_memory.get(&(at, event.operand)));
                self.causes.item_if(allocated.is_some_and(|alloc| *alloc != NONE), allocated);
            }
            (_, Some(location)) if event.kind() == EventKind::Alloc => {
                memory.allocate(tables, location, event.id.0);
            }
            _ => {}
        }
    }

    /// Adds the observations of an access, unless more than `most` cells have been touched by then.
    fn take_memory(&mut self, event: Event, memory: &mut Memory, most: usize) {
        let (id, kind) = (event.id.0, event.kind());
        let Some(location) = event.location() else { return };
        let cells = self.cells.of(location.0);
        memory.touched += cells.len();
        if memory.touched > most {
            return;
        }
        let cells = cells.start as usize..cells.end as usize;
        let last = memory.allocated[cells.clone()].iter().filter(|alloc| **alloc != NONE).max();
        self.causes.item_if(kind.is_access(), last);
        if kind.reads() && !self.is_free(id) {
            for writer in &memory.written[cells.clone()] {
                self.reads.push(*writer);
                self.observes.item_if(*writer != NONE, Some(writer));
            }
        }
        if kind.writes() {
            memory.written[cells].fill(id);
        } else if kind == EventKind::Alloc {
            memory.allocated[cells].fill(id);
        }
    }

    /// Finds the events that depend on an irregular barrier. Once the job is stopped, not all.
    fn find_doubts(&mut self, cancel: &Cancel) {
        if self.barriers.irregular.is_empty() {
            return;
        }
        let mut chains = vec![false; self.chains];
        for event in self.trace.events() {
            let (id, chain) = (event.id.0, self.chain[event.id.index()] as usize);
            if id.is_multiple_of(1 << 12) && cancel.reason().is_some() {
                return;
            }
            let mut before = self.causes.row(id).iter().chain(self.observes.row(id));
            let is_unknown = event.kind() == EventKind::Barrier
                && self.barriers.irregular.contains(&event.operand);
            if is_unknown {
                self.unknown.push(id);
            }
            chains[chain] |= is_unknown
                || before.any(|before| self.doubtful.get(*before as usize) == Some(&true));
            if chains[chain] && self.first_doubt == NONE {
                self.first_doubt = id;
            }
            self.doubtful.push(chains[chain]);
        }
    }

    /// Returns whether an event belongs to a barrier with unknown arrivals.
    pub(super) fn is_unknown(&self, event: u32) -> bool {
        self.unknown.binary_search(&event).is_ok()
    }

    /// Returns whether an event depends on a barrier with unknown arrivals.
    #[inline]
    pub(super) fn is_doubtful(&self, event: u32) -> bool {
        event >= self.first_doubt && self.doubtful.get(event as usize) == Some(&true)
    }

    /// Returns whether [`takers`](Self::takers) can find anything.
    #[inline]
    pub(super) fn has_takers(&self) -> bool {
        self.tasks || !self.calls.is_empty() || !self.openings.is_empty()
    }

    /// Returns the takers of an event: the taker of the value of an invocation, the `get` of a
    /// posted task and its cancels, the receivers of a broadcast; and what opens what an event
    /// begins.
    pub(super) fn takers(&self, event: u32) -> impl Iterator<Item = u32> + '_ {
        let effects = self.components.iter().flat_map(move |of| of.effects(event));
        let taker = Some(self.taker(event)).filter(|taker| *taker != NONE);
        // A cancel takes a task from its mailbox as well.
        let cancels = self.openings.cancels(event).iter().copied();
        let opened = self.openings.opened(event);
        taker.into_iter().chain(effects).chain(cancels).chain(opened)
    }

    fn taker(&self, event: u32) -> u32 {
        if self.tasks {
            let (trace, (op, operand)) = (self.trace, self.op(event));
            if op.kind() == EventKind::Post && post_of(trace, TaskId(operand)) == Some(event) {
                return mailbox_of(trace, TaskId(operand))
                    .and_then(|_| get_of(trace, TaskId(operand)))
                    .unwrap_or(NONE);
            }
        }
        self.calls.taker(event)
    }

    /// Returns whether a cause of a request comes before the request itself, and not only before it
    /// is granted: all causes of an acquire; of a join or a barrier, the forks of its own thread.
    pub(super) fn is_before_request(&self, request: u32, cause: u32) -> bool {
        let (op, operand) = self.op(cause);
        let is_own_fork = || {
            let handler = self.trace.handler_of(EventId(request));
            op.kind() == EventKind::Fork && operand == handler.0
        };
        !matches!(self.op(request).0.kind(), EventKind::Join | EventKind::Barrier) || is_own_fork()
    }

    /// Returns an event of the trace.
    #[inline]
    pub(super) fn op(&self, event: u32) -> (Op, u32) {
        let columns = self.trace.columns();
        (columns.ops[event as usize], columns.operands[event as usize])
    }

    /// Returns whether an event is a read that may observe anything.
    #[inline]
    pub(super) fn is_free(&self, event: u32) -> bool {
        self.is_free.get(event as usize) == Some(&true)
    }

    /// Returns whether an event observes something that another order could change.
    pub(super) fn is_observer(&self, event: u32) -> bool {
        let kind = self.op(event).0.kind();
        (kind.reads() && !self.is_free(event))
            || kind == EventKind::Refused
            || self.wakes.timed_out(event).is_some()
            || self.blocking.call_rules(event, true).count() > 0
            || (kind == EventKind::Wake && self.wakes.of(event).is_some())
            || !self.calls.observed(event).is_empty()
    }

    /// Returns whether an event must observe what it observed at any position, because it waited
    /// for that.
    pub(super) fn is_bound(&self, event: u32) -> bool {
        self.op(event).0.kind() == EventKind::Wake && self.wakes.of(event).is_some()
            || self.blocking.is_bound(event)
    }
}
