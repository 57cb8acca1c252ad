//! Facts about single events for findings: task, source position, object, locks held. One pass
//! gathers them, even over streams that do not fit in memory.

use super::event_names::{EventNames, Label};
use anyorder_stream::PredictError;
use anyorder_system::Cancel;
use anyorder_trace::{
    Allocated, Allocations, Block, EventKind, HandlerId, LockId, Op, SiteId, StackId, Tables,
    TaskId, TaskKind, TraceSource,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most joins that are remembered for hints.
const JOINS_MAX: usize = 100_000;

/// A lock that is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Held {
    /// The lock.
    pub lock: LockId,
    /// Whether it is held as a reader only.
    pub shared: bool,
}

/// The facts about an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fact {
    /// The operation.
    pub op: Op,
    /// Its task.
    pub task: TaskId,
    /// The handler that runs the task.
    pub handler: HandlerId,
    /// The operand of the operation.
    pub operand: u32,
    /// The source position.
    pub site: SiteId,
    /// The call stack, if the trace has one.
    pub stack: Option<StackId>,
    pub(crate) label: Label,
    /// The locks held at the event, sorted by id. An acquire does not hold its lock yet; a release
    /// still does. Events between two changes share them.
    pub held: Arc<[Held]>,
    /// The place that allocated the memory that the event accesses.
    pub allocated: Option<Allocated>,
}

impl Fact {
    /// Returns the name of the event in reports, as [`Trace::label`](anyorder_trace::Trace::label)
    /// gives it.
    #[must_use]
    pub fn label(&self) -> String {
        self.label.to_string()
    }
}

/// Returns the locks that both of two events hold, unless both hold them as readers. Takes `n log
/// m` for `n` and `m` locks held.
pub fn common_locks<'a>(first: &'a Fact, second: &'a Fact) -> impl Iterator<Item = Held> + 'a {
    first.held.iter().copied().filter(|held| {
        let other = second.held.binary_search_by_key(&held.lock, |other| other.lock);
        other.is_ok_and(|at| !(held.shared && second.held[at].shared))
    })
}

/// A join of a handler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Join {
    pub(crate) event: u64,
    pub(crate) by: HandlerId,
    pub(crate) joined: HandlerId,
    pub(crate) label: Label,
}

/// The facts about the requested events.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    by_event: BTreeMap<u64, Fact>,
    pub(crate) joins: Vec<Join>,
    /// The number of invocations in the whole trace.
    pub(crate) invocations: u64,
    /// The last wait of each task on each condition, if it has no end in the trace.
    open_waits: BTreeMap<(TaskId, u32), u64>,
}

/// The sections open in a lane. An acquire and a release cost `log n` with `n` locks held.
#[derive(Default)]
struct Open {
    /// For each lock, its acquire count, and whether the lane holds the lock only as a reader.
    locks: BTreeMap<LockId, (u32, bool)>,
    /// The locks as facts have them, once an event needed them since the last change.
    held: Option<Arc<[Held]>>,
}

impl Open {
    fn held(&mut self) -> Arc<[Held]> {
        let locks = &self.locks;
        let list = || locks.iter().map(|(lock, (_, shared))| Held { lock: *lock, shared: *shared });
        Arc::clone(self.held.get_or_insert_with(|| list().collect()))
    }

    fn acquire(&mut self, lock: LockId, shared: bool) {
        let (times, only_shared) = self.locks.entry(lock).or_insert((0, true));
        *times = times.saturating_add(1);
        *only_shared &= shared;
        self.held = None;
    }

    fn release(&mut self, lock: LockId) {
        let Some((times, _)) = self.locks.get_mut(&lock) else { return };
        *times -= 1;
        if *times == 0 {
            self.locks.remove(&lock);
        }
        self.held = None;
    }
}

impl Facts {
    /// Returns whether a wait, of which the facts are known, has its end in the trace.
    #[must_use]
    pub fn wait_ends(&self, event: u64) -> bool {
        let fact = self.by_event.get(&event);
        let open = fact.and_then(|fact| self.open_waits.get(&(fact.task, fact.operand)));
        fact.is_some() && open != Some(&event)
    }

    /// Gathers facts about some events in one pass over the trace. Omits events that the trace does
    /// not have. Memory is linear in the requested events.
    ///
    /// # Errors
    ///
    /// Fails when the source does.
    pub fn gather(
        source: &mut dyn TraceSource,
        events: Vec<u64>,
        progress: impl FnMut(u64),
    ) -> Result<Facts, PredictError> {
        Facts::gather_until(source, events, &Cancel::new(), progress)
    }

    /// Works like [`gather`](Self::gather), until the job is stopped. Then later events have no
    /// facts.
    ///
    /// # Errors
    ///
    /// Fails when the source does.
    pub fn gather_until(
        source: &mut dyn TraceSource,
        mut events: Vec<u64>,
        cancel: &Cancel,
        mut progress: impl FnMut(u64),
    ) -> Result<Facts, PredictError> {
        events.sort_unstable();
        events.dedup();
        let mut wanted = events.into_iter().peekable();
        let mut block = Block::default();
        let mut pass = Pass::default();
        let mut is_cut = false;
        while !is_cut && source.next_block(&mut block)? {
            if cancel.reason().is_some() {
                break;
            }
            let tables = source.tables();
            for row in 0..block.columns.len() {
                let event = block.first + row as u64;
                let is_wanted = wanted.next_if_eq(&event).is_some();
                is_cut |= is_wanted && cancel.reason().is_some();
                if is_cut {
                    break;
                }
                pass.step(tables, &block, row, is_wanted);
            }
            progress(block.first + block.columns.len() as u64);
        }
        let Pass { mut facts, names, .. } = pass;
        let events =
            facts.by_event.iter_mut().map(|(event, fact)| (*event, fact.op, &mut fact.label));
        let joins = facts.joins.iter_mut();
        let joins = joins.map(|join| (join.event, EventKind::Join.into(), &mut join.label));
        names.finish(source.tables(), events.chain(joins).collect());
        Ok(facts)
    }

    /// Returns the facts about a requested event.
    #[must_use]
    pub fn get(&self, event: u64) -> Option<&Fact> {
        self.by_event.get(&event)
    }

    /// Returns the name of the first event after `event` in which a handler joins another one.
    #[must_use]
    pub fn join_after(&self, event: u64, by: HandlerId, joined: HandlerId) -> Option<String> {
        let is_it = |join: &&Join| join.event > event && join.by == by && join.joined == joined;
        self.joins.iter().find(is_it).map(|join| join.label.to_string())
    }
}

#[derive(Default)]
struct Pass {
    facts: Facts,
    /// The sections open in each lane.
    open: BTreeMap<(u32, u32), Open>,
    allocations: Allocations,
    /// The handlers that began tasks, if the table does not name them.
    handlers: BTreeMap<TaskId, HandlerId>,
    names: EventNames,
}

impl Pass {
    fn step(&mut self, tables: &Tables, block: &Block, row: usize, is_wanted: bool) {
        let columns = &block.columns;
        let (op, task, operand) = (columns.ops[row], columns.tasks[row], columns.operands[row]);
        let event = block.first + row as u64;
        let label = self.names.step(tables.meta.labels, op, columns.numbers.get(row).copied());
        match op.kind() {
            EventKind::Invoke => self.facts.invocations += 1,
            EventKind::Wait => {
                self.facts.open_waits.insert((task, operand), event);
            }
            EventKind::Wake => {
                self.facts.open_waits.remove(&(task, operand));
            }
            EventKind::Get => {
                self.handlers.insert(task, HandlerId(operand));
            }
            EventKind::Join if self.facts.joins.len() < JOINS_MAX => {
                let by = self.handler(tables, task);
                self.facts.joins.push(Join {
                    event,
                    by,
                    joined: HandlerId(operand),
                    label: label.clone(),
                });
            }
            _ => {}
        }
        let site = columns.sites[row];
        self.allocations.step(tables, op.kind(), task, operand, site);
        if is_wanted {
            let allocated = self.allocations.of(tables, op.kind(), operand);
            let handler = self.handler(tables, task);
            let held = self.open(tables, task).held();
            let row32 = u32::try_from(row).unwrap_or(u32::MAX);
            let stack = columns.stacks.get(row32);
            let fact = Fact { op, task, handler, operand, site, stack, label, held, allocated };
            self.facts.by_event.insert(event, fact);
        }
        match op.kind() {
            EventKind::Acquire => {
                self.open(tables, task).acquire(LockId(operand), op.mode().is_shared());
            }
            EventKind::Release => self.open(tables, task).release(LockId(operand)),
            _ => {}
        }
    }

    fn handler(&self, tables: &Tables, task: TaskId) -> HandlerId {
        let began = self.handlers.get(&task).copied();
        let known = tables.tasks.get(task.index()).map_or(HandlerId::NONE, |def| def.handler);
        began.unwrap_or(known)
    }

    /// Returns the lane of a task: its handler, or the task itself for a burst.
    fn lane(&self, tables: &Tables, task: TaskId) -> (u32, u32) {
        let burst = tables.tasks.get(task.index()).is_some_and(|def| def.kind == TaskKind::Burst);
        if burst { (1, task.0) } else { (0, self.handler(tables, task).0) }
    }

    /// Returns the open sections of a task's lane.
    fn open(&mut self, tables: &Tables, task: TaskId) -> &mut Open {
        let lane = self.lane(tables, task);
        self.open.entry(lane).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_trace::{Mailbox, Mode, TraceBlocks, TraceBuilder};

    #[test]
    fn locks_count_and_joins_are_known() {
        let mut b = TraceBuilder::new();
        let (s, t) =
            (b.handler("S", Mailbox::None).unwrap(), b.handler("T", Mailbox::None).unwrap());
        let (main, other) = (b.initial(s), b.initial(t));
        b.acquire(main, "m", Mode::EXCLUSIVE).unwrap();
        b.acquire(main, "m", Mode::EXCLUSIVE).unwrap();
        b.acquire(main, "n", Mode::SHARED).unwrap();
        b.write(main, "x").unwrap();
        b.release(main, "m", Mode::EXCLUSIVE).unwrap();
        b.write(main, "x").unwrap();
        b.release(main, "m", Mode::EXCLUSIVE).unwrap();
        b.write(main, "x").unwrap();
        b.write(other, "x").unwrap();
        b.on_handler(main, EventKind::Join, t);
        let trace = b.finish();
        let events = vec![8, 7, 5, 3, 3, 99];
        let facts = Facts::gather(&mut TraceBlocks::new(&trace), events, |_| {}).unwrap();
        let held = |event| {
            let fact = facts.get(event).unwrap();
            fact.held.iter().map(|h| (h.lock.0, h.shared)).collect::<Vec<_>>()
        };
        assert_eq!(held(3), [(0, false), (1, true)]);
        assert_eq!(held(5), [(0, false), (1, true)]);
        assert_eq!(held(7), [(1, true)]);
        assert_eq!(held(8), []);
        assert!(facts.get(99).is_none() && facts.get(4).is_none());
        assert_eq!(facts.get(8).unwrap().label.to_string(), "9");
        assert_eq!((facts.joins[0].event, facts.joins[0].joined), (9, t));
    }
    #[test]
    fn events_between_two_changes_of_the_locks_held_share_them() {
        let mut b = TraceBuilder::new();
        let s = b.handler("S", Mailbox::None).unwrap();
        let main = b.initial(s);
        for lock in ["m", "n", "m"] {
            b.acquire(main, lock, Mode::EXCLUSIVE).unwrap();
        }
        b.write(main, "x").unwrap();
        b.write(main, "y").unwrap();
        b.release(main, "m", Mode::EXCLUSIVE).unwrap();
        b.write(main, "x").unwrap();
        let trace = b.finish();
        let facts = Facts::gather(&mut TraceBlocks::new(&trace), vec![3, 4, 6], |_| {}).unwrap();
        let held = |event| &facts.get(event).unwrap().held;
        assert!(Arc::ptr_eq(held(3), held(4)));
        assert!(!Arc::ptr_eq(held(4), held(6)));
        assert_eq!(held(4), held(6), "the lock was acquired twice");
    }
}
