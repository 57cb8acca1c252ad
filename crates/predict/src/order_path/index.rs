//! An index of lanes, sections, actions and the edges of the hard order, built once.

use crate::confirm::wakes::Wakes;
use anyorder_stream::{
    Class, ClassTable, Overlaps, Point, PredictError, Specification, StreamEvent,
};
use anyorder_system::Cancel;
use anyorder_trace::{Event, EventId, EventKind, LockId, TaskKind, Trace};
use std::collections::{BTreeMap, HashMap};

pub(super) const NONE: u32 = u32::MAX;
/// The most edges of the hard order for each event, on average.
const EDGES_PER_EVENT: usize = 20;
/// The most lanes from which a barrier event has edges. Other lanes are reached through the last of
/// them.
const BARRIER_LANES: usize = 16;

/// The kind of edge between two events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum OrderRule {
    /// Both events belong to one lane.
    ProgramOrder,
    /// A fork and the handler that it starts.
    Fork,
    /// The end of a handler and the join that waits for it.
    Join,
    /// A post, and the begin of the task.
    Post,
    /// A signal, and the wake that it matches.
    Wake,
    /// Two events of a barrier.
    Barrier,
    /// An atomic release, and the acquire that reads it.
    Atomic,
    /// The release of a section, and an action in another section that excludes it.
    Section {
        /// The lock.
        lock: LockId,
        /// An action in the first section that does not commute with the later action.
        action: EventId,
    },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    pub(super) lock: u32,
    pub(super) shared: bool,
    pub(super) acquire: u32,
    /// The release; `NONE` if the section is never left.
    pub(super) release: u32,
}

/// An action of an event on a cell: a location of memory (space 0), or one of the specification
/// (space 1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Act {
    pub(super) event: u32,
    pub(super) cell: (u8, u32),
    pub(super) table: u16,
    pub(super) class: Class,
}

/// An action in the list of its cell and lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellAction {
    pub(super) event: u32,
    pub(super) class: Class,
}

/// An edge of the hard order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    to: u32,
    pub(super) from: u32,
    pub(super) rule: OrderRule,
}

/// The edges of a trace.
#[derive(Debug)]
pub struct OrderPaths {
    pub(super) lane_of: Vec<u32>,
    /// The events of each lane.
    pub(super) lanes: Vec<Vec<u32>>,
    /// The edges, ascending by target.
    edges: Vec<Edge>,
    pub(super) sections: Vec<Section>,
    /// For each event, the position in `locksets` of the sections that contain its actions.
    lockset_of: Vec<u32>,
    /// Sets of sections: the set without the section acquired last, that section, and the section
    /// acquired first. The first is the empty set.
    locksets: Vec<(u32, u32, u32)>,
    /// The actions, ascending by event.
    acts: Vec<Act>,
    pub(super) done: HashMap<(u8, u32), BTreeMap<u32, Vec<CellAction>>>,
    pub(super) tables: Vec<ClassTable>,
    pub(super) overlaps: Overlaps,
}

impl OrderPaths {
    /// Indexes a trace. `spec` defines the actions, as for an analysis; with
    /// [`MemoryOnly`](crate::MemoryOnly) the order is WDC.
    ///
    /// # Errors
    ///
    /// Fails as the analyses do, for traces with too many of something.
    pub fn new<S: Specification>(trace: &Trace, spec: S) -> Result<OrderPaths, PredictError> {
        OrderPaths::new_until(trace, spec, &Cancel::new())
    }

    /// Works like [`new`](Self::new), and fails once the job is stopped.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), and when the job is stopped.
    pub fn new_until<S: Specification>(
        trace: &Trace,
        spec: S,
        cancel: &Cancel,
    ) -> Result<OrderPaths, PredictError> {
        let mut overlaps = Overlaps::default();
        overlaps.grow(trace.tables(), cancel, |_| {})?;
        let index = OrderPaths {
            lane_of: Vec::with_capacity(trace.len()),
            lanes: Vec::new(),
            edges: Vec::new(),
            sections: Vec::new(),
            lockset_of: Vec::with_capacity(trace.len()),
            locksets: vec![(0, NONE, NONE)],
            acts: Vec::new(),
            done: HashMap::new(),
            tables: spec.classes(),
            overlaps,
        };
        let mut maker = Maker { trace, spec, index, pass: Pass::default() };
        for event in trace.events() {
            maker.take(event);
            if event.id.0.is_multiple_of(64) && cancel.reason().is_some() {
                return Err(PredictError::Stopped);
            }
            if maker.index.edges.len() > EDGES_PER_EVENT * (trace.len() + 1_024) {
                return Err(PredictError::TooMany("edges of the order"));
            }
        }
        Ok(maker.index)
    }

    pub(super) fn len(&self) -> usize {
        self.lane_of.len()
    }

    pub(super) fn edges_to(&self, event: u32) -> impl Iterator<Item = &Edge> {
        let from = self.edges.partition_point(|edge| edge.to < event);
        self.edges[from..].iter().take_while(move |edge| edge.to == event)
    }

    pub(super) fn acts_of(&self, event: u32) -> impl Iterator<Item = &Act> {
        let from = self.acts.partition_point(|act| act.event < event);
        self.acts[from..].iter().take_while(move |act| act.event == event)
    }

    /// Returns whether a section contains the actions of an event.
    pub(super) fn has_locks(&self, event: u32) -> bool {
        self.lockset_of[event as usize] != 0
    }

    /// Returns the section acquired first of those that contain the actions of an event.
    pub(super) fn first_held(&self, event: u32) -> Option<u32> {
        let (_, _, first) = self.locksets[self.lockset_of[event as usize] as usize];
        (first != NONE).then_some(first)
    }

    /// Returns the sections that contain the actions of an event, the first acquired first.
    pub(super) fn held(&self, event: u32) -> Vec<u32> {
        let mut held = Vec::new();
        let mut at = self.lockset_of[event as usize];
        while at != 0 {
            let (parent, section, _) = self.locksets[at as usize];
            held.push(section);
            at = parent;
        }
        held.reverse();
        held
    }
}

/// The locks that a lane holds.
#[derive(Default)]
struct Open {
    /// Open sections, with their acquire counts.
    sections: Vec<(u32, u64)>,
    /// The positions in `locksets` of the sets of the first sections, as far as they are made.
    made: Vec<u32>,
}

struct Maker<'t, S> {
    trace: &'t Trace,
    spec: S,
    index: OrderPaths,
    pass: Pass,
}

/// The state of the pass over the trace.
#[derive(Default)]
struct Pass {
    numbers: HashMap<(bool, u32), u32>,
    /// The lanes of each handler.
    of_handler: HashMap<u32, Vec<u32>>,
    /// The locks that each lane holds.
    open: Vec<Open>,
    /// For each handler, the forks that no event has followed yet.
    forks: HashMap<u32, Vec<u32>>,
    /// For each handler, all its forks: seldom more than one.
    forked: HashMap<u32, Vec<u32>>,
    /// For each barrier, the last events of lanes, the latest first.
    barriers: HashMap<u32, Vec<u32>>,
    /// For each location, the releases of the sequence that the last write is in, ascending: of
    /// those of one lane in a row the last one.
    released: HashMap<u32, Vec<u32>>,
    /// By location and lane, its last acquiring read.
    seen: HashMap<(u32, u32), u32>,
    wakes: Wakes,
    points: Vec<Point>,
}

impl<S: Specification> Maker<'_, S> {
    fn take(&mut self, event: Event) {
        let (lane, handler) = self.lane(event);
        let id = event.id.0;
        let forks = if handler == NONE { None } else { self.pass.forks.remove(&handler) };
        for from in forks.unwrap_or_default() {
            self.edge(from, id, OrderRule::Fork);
        }
        self.index.lane_of.push(lane);
        self.index.lanes[lane as usize].push(id);
        let kind = event.kind();
        let is_lock = matches!(kind, EventKind::Acquire | EventKind::Release);
        if (kind.is_access() || is_lock)
            && S::HIDES
            && self.spec.hides(event.task.0, kind, event.operand)
        {
            let lockset = self.lockset(lane);
            self.index.lockset_of.push(lockset);
            return;
        }
        self.actions(event, lane);
        // Actions of an acquire are before the section that it begins, and those of a release in
        // the one that it ends.
        let lockset = self.lockset(lane);
        self.index.lockset_of.push(lockset);
        match kind {
            EventKind::Acquire => self.acquire(event, lane),
            EventKind::Release => self.release(event, lane),
            kind if kind.is_access() => self.atomic(event),
            _ => self.hard(event),
        }
    }

    fn lane(&mut self, event: Event) -> (u32, u32) {
        let def = self.trace.tables().tasks.get(event.task.index());
        let handler = def.map_or(NONE, |def| def.handler.0);
        let of_task = handler == NONE || def.is_none_or(|def| def.kind == TaskKind::Burst);
        let key = (of_task, if of_task { event.task.0 } else { handler });
        let next = self.index.lanes.len() as u32;
        let lane = *self.pass.numbers.entry(key).or_insert(next);
        if lane == next {
            self.index.lanes.push(Vec::new());
            self.pass.open.push(Open::default());
            self.pass.of_handler.entry(handler).or_default().push(lane);
        }
        (lane, handler)
    }

    fn edge(&mut self, from: u32, to: u32, rule: OrderRule) {
        self.index.edges.push(Edge { to, from, rule });
    }

    fn actions(&mut self, event: Event, lane: u32) {
        let id = event.id.0;
        if event.kind().is_access() {
            let class = Class::of_access(event.op);
            self.act(Act { event: id, cell: (0, event.operand), table: 0, class }, lane);
            if !S::ACCESSES {
                return;
            }
        }
        let step = StreamEvent::of_event(self.trace, event.id);
        let mut points = std::mem::take(&mut self.pass.points);
        points.clear();
        match event.kind().is_access() {
            true => self.spec.access_points(self.trace.tables(), step, &mut points),
            false => self.spec.points(self.trace.tables(), step, &mut points),
        }
        for point in &points {
            let Point { cell, table, class, .. } = *point;
            if usize::from(table) < self.index.tables.len() {
                self.act(Act { event: id, cell: (1, cell), table, class }, lane);
            }
        }
        self.pass.points = points;
    }

    fn act(&mut self, act: Act, lane: u32) {
        self.index.acts.push(act);
        let of_cell = self.index.done.entry(act.cell).or_default();
        of_cell.entry(lane).or_default().push(CellAction { event: act.event, class: act.class });
    }

    fn acquire(&mut self, event: Event, lane: u32) {
        let open = &mut self.pass.open[lane as usize];
        let sections = &self.index.sections;
        let is_same = |entry: &&mut (u32, u64)| sections[entry.0 as usize].lock == event.operand;
        if let Some(entered) = open.sections.iter_mut().find(is_same) {
            entered.1 += 1;
            return;
        }
        open.sections.push((self.index.sections.len() as u32, 1));
        self.index.sections.push(Section {
            lock: event.operand,
            shared: event.mode().is_shared(),
            acquire: event.id.0,
            release: NONE,
        });
    }

    fn release(&mut self, event: Event, lane: u32) {
        let open = &mut self.pass.open[lane as usize];
        let sections = &mut self.index.sections;
        let is_same = |entry: &(u32, u64)| sections[entry.0 as usize].lock == event.operand;
        let Some(at) = open.sections.iter().position(is_same) else { return };
        open.sections[at].1 -= 1;
        if open.sections[at].1 == 0 {
            let (section, _) = open.sections.remove(at);
            sections[section as usize].release = event.id.0;
            open.made.truncate(at);
        }
    }

    /// Returns the lockset of a lane.
    fn lockset(&mut self, lane: u32) -> u32 {
        let Open { sections, made } = &mut self.pass.open[lane as usize];
        for (section, _) in &sections[made.len()..] {
            let parent = made.last().copied().unwrap_or(0);
            let (_, _, first) = self.index.locksets[parent as usize];
            let first = if first == NONE { *section } else { first };
            made.push(self.index.locksets.len() as u32);
            self.index.locksets.push((parent, *section, first));
        }
        made.last().copied().unwrap_or(0)
    }

    fn atomic(&mut self, event: Event) {
        let (kind, mode, at) = (event.kind(), event.mode(), event.operand);
        if kind.reads()
            && mode.acquires()
            && let Some(released) = self.pass.released.get(&at)
        {
            // What the lane has seen there before is before its earlier read.
            let lane = self.index.lane_of[event.id.0 as usize];
            let seen = self.pass.seen.insert((at, lane), event.id.0);
            let new =
                released.iter().rev().take_while(|from| seen.is_none_or(|seen| **from > seen));
            let edge = |from: &u32| Edge { to: event.id.0, from: *from, rule: OrderRule::Atomic };
            self.index.edges.extend(new.map(edge));
        }
        if kind.writes() {
            let continues = event.op.continues_sequence();
            if !continues || mode.acquires() && mode.releases() {
                self.pass.released.remove(&at);
            }
            if kind != EventKind::Free && mode.releases() {
                let lane_of = &self.index.lane_of;
                let own = lane_of[event.id.0 as usize];
                let released = self.pass.released.entry(at).or_default();
                released.pop_if(|from| lane_of[*from as usize] == own);
                released.push(event.id.0);
            }
        }
    }

    fn hard(&mut self, event: Event) {
        let id = event.id.0;
        match event.kind() {
            EventKind::Fork => {
                self.pass.forks.entry(event.operand).or_default().push(id);
                self.pass.forked.entry(event.operand).or_default().push(id);
            }
            EventKind::Join => {
                for fork in self.pass.forked.get(&event.operand).cloned().unwrap_or_default() {
                    self.edge(fork, id, OrderRule::Join);
                }
                for lane in self
                    .pass
                    .of_handler
                    .get(&event.operand)
                    .filter(|_| event.operand != NONE)
                    .cloned()
                    .unwrap_or_default()
                {
                    let last = self.index.lanes[lane as usize].last().copied();
                    if let Some(last) = last.filter(|last| *last != id) {
                        self.edge(last, id, OrderRule::Join);
                    }
                }
            }
            EventKind::Get => {
                let has = event.task.index() < self.trace.tasks_count();
                let post = has.then(|| self.trace.span(event.task).post);
                if let Some(post) = post.and_then(EventId::some).filter(|post| *post < event.id) {
                    self.edge(post.0, id, OrderRule::Post);
                }
            }
            EventKind::Barrier => {
                let mut last = self.pass.barriers.remove(&event.operand).unwrap_or_default();
                for from in &last {
                    self.edge(*from, id, OrderRule::Barrier);
                }
                let lanes = &self.index.lane_of;
                last.retain(|other| lanes[*other as usize] != lanes[id as usize]);
                last.insert(0, id);
                last.truncate(BARRIER_LANES);
                self.pass.barriers.insert(event.operand, last);
            }
            _ => {}
        }
        if let Some(signal) = self.pass.wakes.take(self.trace.columns(), event) {
            self.edge(signal, id, OrderRule::Wake);
        }
    }
}
