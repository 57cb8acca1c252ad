//! The relations of a trace that the definitions use, computed once.

use super::Lanes;
use super::barriers::Barriers;
use super::calls::{CallIndex, Calls};
use super::free_reads::free_reads;
use super::memory::{Footprints, LastWrites, Piece, Sources};
use super::sections::Sections;
use crate::ends::Ends;
use crate::lists::Lists;
use crate::wakes::{Match, matches};
use anyorder_system::Cancel;
use anyorder_trace::{
    Event, EventId, EventKind, Location, LocationId, LockId, OperandKind, Tables, TaskId, TaskKind,
    Trace, memory_of_lock,
};
use std::collections::HashMap;

pub(super) const NONE: u32 = u32::MAX;

/// The relations of one trace.
pub(super) struct Index<'t> {
    pub(super) trace: &'t Trace,
    /// The previous event in its lane, or `NONE`.
    pub(super) previous: Vec<u32>,
    /// By event, the number of its handler; `NONE` for none.
    pub(super) handler_of: Vec<u32>,
    pub(super) of_handler: Lists,
    /// By handler, its forks.
    pub(super) forks: Lists,
    /// By condition, its barrier events.
    pub(super) barriers: Lists,
    pub(super) matches: HashMap<EventId, Match>,
    /// By end of a wait that timed out, that wait.
    pub(super) timeouts: HashMap<EventId, EventId>,
    /// By event, whether its place in a run matters to one that wakes or times out.
    pub(super) is_placed: Vec<bool>,
    pub(super) rounds: Barriers,
    /// By access, the allocation of its memory.
    pub(super) allocs: HashMap<u32, u32>,
    pub(super) footprints: Footprints,
    pub(super) sources: Sources,
    pub(super) sections: Sections,
    /// By trigger, the event that enables it, in orders of threads.
    pub(super) enables: HashMap<EventId, EventId>,
    /// What a cancel or a disable ends, in orders of threads.
    pub(super) ends: Ends,
    pub(super) calls: CallIndex<'t>,
}

impl<'t> Index<'t> {
    pub(super) fn new_until(
        trace: &'t Trace,
        calls: &'t dyn Calls,
        lanes: Lanes,
        cancel: &Cancel,
    ) -> Option<Index<'t>> {
        let goes_on = || cancel.reason().is_none().then_some(());
        goes_on()?;
        let (lane_of, handler_of) = lanes_of(trace);
        goes_on()?;
        let mut last: HashMap<u32, u32> = HashMap::new();
        let previous = (0..).zip(&lane_of).map(|(event, lane)| last.insert(*lane, event));
        let previous = previous.map(|event| event.unwrap_or(NONE)).collect();
        goes_on()?;
        let (matches, timeouts) = (matches(trace), timeouts(trace));
        goes_on()?;
        let footprints = Footprints::new(trace.tables());
        let (mut sources, allocs) = memory(trace, &footprints);
        goes_on()?;
        if lanes == Lanes::Handlers && trace.has_branches() {
            sources.free(&free_reads(trace, &lane_of, &sources));
        }
        let of_kind = |kind: EventKind| {
            let events = trace.events().filter(move |event| event.kind() == kind);
            Lists::new(events.map(|event| (event.operand, event.id.0)).collect())
        };
        let (forks, barriers) = (of_kind(EventKind::Fork), of_kind(EventKind::Barrier));
        goes_on()?;
        let holders = match lanes {
            Lanes::Handlers => lane_of,
            Lanes::Tasks | Lanes::Components => holders(trace, &handler_of),
        };
        let of_handler = Lists::new((0..).zip(&handler_of).map(|(e, h)| (*h, e)).collect());
        goes_on()?;
        let (is_placed, rounds) = (placed(trace, &matches, &timeouts), Barriers::new(trace));
        goes_on()?;
        let sections = Sections::new(trace, &holders);
        goes_on()?;
        let calls = CallIndex::new(trace, calls);
        goes_on()?;
        let of_threads = lanes == Lanes::Handlers;
        Some(Index {
            trace,
            of_handler,
            previous,
            forks,
            barriers,
            is_placed,
            matches,
            timeouts,
            rounds,
            allocs,
            footprints,
            sources,
            sections,
            calls,
            // For tasks, `check_schedule` has both.
            enables: if of_threads { enables(trace) } else { HashMap::new() },
            ends: if of_threads { Ends::of_threads(trace) } else { Ends::default() },
            handler_of,
        })
    }

    /// The post of the task that an event begins, if it precedes the event.
    pub(super) fn post_of(&self, get: EventId) -> Option<EventId> {
        let task = self.trace.event(get).task;
        let is_known = task.index() < self.trace.tasks_count();
        let post = is_known.then(|| self.trace.span(task).post).and_then(EventId::some);
        post.filter(|post| *post < get)
    }

    /// The post of the task that an event cancels, if it precedes the event.
    pub(super) fn post_of_cancelled(&self, cancel: Event) -> Option<u32> {
        let task = TaskId(cancel.operand);
        let is_known = task.index() < self.trace.tasks_count();
        let post = is_known.then(|| self.trace.span(task).post).and_then(EventId::some);
        post.filter(|post| *post < cancel.id).map(|post| post.0)
    }
}

/// By end of a wait that timed out, the last wait of its task on the condition.
fn timeouts(trace: &Trace) -> HashMap<EventId, EventId> {
    let (mut waits, mut found) = (HashMap::new(), HashMap::new());
    for event in trace.events() {
        if event.kind() == EventKind::Wait {
            waits.insert((event.task, event.operand), event.id);
        } else if event.op.is_timeout() {
            let wait = waits.get(&(event.task, event.operand)).copied();
            wait.and_then(|wait| found.insert(event.id, wait));
        }
    }
    found
}

/// By event, whether it is a signal, or one that a wake or a time-out is matched with.
fn placed(
    trace: &Trace,
    matches: &HashMap<EventId, Match>,
    timeouts: &HashMap<EventId, EventId>,
) -> Vec<bool> {
    let is_signal = |kind| matches!(kind, EventKind::Signal | EventKind::Broadcast);
    let mut is_placed: Vec<bool> = trace.events().map(|event| is_signal(event.kind())).collect();
    let matched = matches.values().flat_map(|found| [Some(found.signal), found.wait]).flatten();
    for event in matched.chain(timeouts.values().copied()) {
        is_placed[event.index()] = true;
    }
    is_placed
}

/// By trigger, the last switch of its input before it, if that is an `enable`.
fn enables(trace: &Trace) -> HashMap<EventId, EventId> {
    let (mut enabled, mut found) = (HashMap::new(), HashMap::new());
    for event in trace.events() {
        match event.kind() {
            EventKind::Enable => drop(enabled.insert(event.operand, event.id)),
            EventKind::Disable => drop(enabled.remove(&event.operand)),
            EventKind::Trigger => {
                let enable = enabled.get(&event.operand).copied();
                enable.and_then(|enable| found.insert(event.id, enable));
            }
            _ => {}
        }
    }
    found
}

/// By event, the lane and the handler.
fn lanes_of(trace: &Trace) -> (Vec<u32>, Vec<u32>) {
    #[derive(PartialEq, Eq, Hash)]
    enum Of {
        Handler(u32),
        Task(u32),
    }
    let tables = trace.tables();
    let mut numbers: HashMap<Of, u32> = HashMap::new();
    let mut lane_of = Vec::with_capacity(trace.len());
    let mut handler_of = Vec::with_capacity(trace.len());
    for task in &trace.columns().tasks {
        let def = tables.tasks.get(task.index());
        let handler = def.and_then(|def| def.handler.some());
        let lane = match (handler, def.map(|def| def.kind)) {
            (Some(handler), Some(TaskKind::Initial | TaskKind::Posted)) => Of::Handler(handler.0),
            _ => Of::Task(task.0),
        };
        let next = numbers.len() as u32;
        lane_of.push(*numbers.entry(lane).or_insert(next));
        handler_of.push(handler.map_or(NONE, |handler| handler.0));
    }
    (lane_of, handler_of)
}

/// By event, the holder of the locks it takes: its handler, or its task if it has none.
fn holders(trace: &Trace, handler_of: &[u32]) -> Vec<u32> {
    let tasks = trace.columns().tasks.iter();
    // Tasks are numbered from the top, handlers from the bottom.
    let holder = |(handler, task): (&u32, &TaskId)| match *handler {
        NONE => NONE - task.0,
        handler => handler,
    };
    handler_of.iter().zip(tasks).map(holder).collect()
}

/// The locks whose names are addresses, and the last allocation of the memory in which each lies.
struct LocksInMemory {
    sorted: Vec<(u64, u32)>,
    block: HashMap<u32, u32>,
}

impl LocksInMemory {
    fn new(tables: &Tables) -> LocksInMemory {
        let locks = (0..tables.locks.len() as u32).map(LockId);
        let at = |lock: LockId| Some((memory_of_lock(tables, lock)?.0, lock.0));
        let mut sorted: Vec<(u64, u32)> = locks.filter_map(at).collect();
        sorted.sort_unstable();
        LocksInMemory { sorted, block: HashMap::new() }
    }

    fn allocate(&mut self, tables: &Tables, location: u32, event: u32) {
        let Some(Location::Range { address, size, .. }) = tables.locations.get(location as usize)
        else {
            return;
        };
        let end = address.saturating_add(u64::from((*size).max(1)));
        let from = self.sorted.partition_point(|(at, _)| at < address);
        for (_, lock) in self.sorted[from..].iter().take_while(|(at, _)| *at < end) {
            self.block.insert(*lock, event);
        }
    }
}

/// The observations of reads, and the allocation of each access and of each use of a lock.
fn memory(trace: &Trace, footprints: &Footprints) -> (Sources, HashMap<u32, u32>) {
    let (mut writes, mut allocs) = (LastWrites::default(), LastWrites::default());
    let (mut sources, mut needed) = (Sources::default(), HashMap::new());
    let mut any_alloc = false;
    let mut locks = LocksInMemory::new(trace.tables());
    for event in trace.events() {
        let kind = event.kind();
        if kind.operand() == OperandKind::Lock {
            let block = locks.block.get(&event.operand);
            block.and_then(|alloc| needed.insert(event.id.0, *alloc));
        }
        if kind == EventKind::Alloc {
            locks.allocate(trace.tables(), event.operand, event.id.0);
        }
        let footprint = footprints.of(LocationId(event.operand));
        if kind.reads() && sources.is_full() {
            sources.push_unknown();
        } else {
            let observed: Vec<Piece> =
                if kind.reads() { writes.pieces(footprint) } else { Vec::new() };
            sources.push(observed);
        }
        if kind.is_access() && any_alloc {
            let last = allocs.pieces(footprint).iter().filter_map(|piece| piece.last).max();
            last.and_then(|alloc| needed.insert(event.id.0, alloc));
        }
        if kind.writes() {
            writes.set(footprint, event.id.0);
        }
        if kind == EventKind::Alloc {
            any_alloc = true;
            allocs.set(footprint, event.id.0);
        }
    }
    (sources, needed)
}
