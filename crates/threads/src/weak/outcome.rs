//! What an exploration is asked, and what it answers.

use super::behaviour::Behaviours;
use super::graph::{Graph, INITIAL, Kind, NOBODY};
use crate::execution::SPINS_MAX;
use crate::ids::{ObjectId, SiteId, ThreadId};
use crate::learn::{Blocked, Fault, Incomplete};
use crate::op::Op;
use crate::program::ThreadProgram;
use crate::spinning::{LongLoop, TURNS_MAX};
use anyorder_common::cancel::Cancel;

/// Which executions are different.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Model {
    /// Consistent graphs of RC11.
    Rc11,
    /// Sequentially consistent executions, by what reads read from: writes of registers and data
    /// have no order.
    ReadsFrom,
}

/// Options of an exploration under weak memory.
#[derive(Clone, Debug)]
pub struct WeakOptions {
    /// The most events of one execution. A read-modify-write is two.
    pub events_max: usize,
    /// The most executions, blocked ones included.
    pub executions_max: u64,
    /// How often in a row threads may spin in vain.
    pub spins_max: u32,
    /// After how many turns in vain a loop may give up that is explored turn by turn. One that
    /// gives up later makes the exploration incomplete.
    pub turns_max: u32,
    /// On how many cores it runs at most. With several, some memory is taken for each; the answer
    /// is the same, but for [`wasted`](WeakExplored::wasted). One if the executions are shown.
    pub cores: usize,
    /// Stops the exploration.
    pub cancel: Cancel,
    /// For tests: after how many graphs other cores help.
    #[cfg(test)]
    pub(crate) cores_from: u64,
}

impl Default for WeakOptions {
    fn default() -> WeakOptions {
        let cancel = Cancel::new();
        WeakOptions {
            events_max: 100_000,
            executions_max: u64::MAX,
            spins_max: SPINS_MAX,
            turns_max: TURNS_MAX,
            cores: 1,
            cancel,
            #[cfg(test)]
            cores_from: super::cores::FROM,
        }
    }
}

/// One operation of an execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WeakEvent {
    /// The thread.
    pub thread: ThreadId,
    /// The operation.
    pub op: Op,
    /// Its result.
    pub result: u64,
    /// Which of its ways it took, as whom a notification wakes; 0 if there is one.
    pub alternative: u32,
    /// Its position in the source.
    pub site: SiteId,
    /// Of an operation that reads: the number of the event that wrote what it read, `None` for what
    /// made the object.
    pub reads_from: Option<usize>,
    /// Of an operation that writes: its position among the writes of the object.
    pub place: Option<usize>,
}

/// A fault, with the execution that shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WeakFound {
    /// The fault.
    pub fault: Fault,
    /// The events, each after those that it depends on. Under weak memory a read need not read from
    /// the last write before it.
    pub events: Vec<WeakEvent>,
}

/// What an exploration under weak memory found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WeakExplored {
    /// The executions that ended, or got stuck: one for each consistent graph.
    pub executions: u64,
    /// The executions given up, in which a thread waits for what is already there.
    pub blocked: u64,
    /// The graphs that were made on the way.
    pub graphs: u64,
    /// The graphs that several cores made in vain: they came to something that one has to find,
    /// which did all of it again. Not the same in each run.
    pub wasted: u64,
    /// The places in the trees of all threads.
    pub behaviours: u64,
    /// How often the program was run.
    pub runs: u64,
    /// The faults, each once, in the order in which they were found.
    pub faults: Vec<WeakFound>,
    /// The loops that give up after more turns in vain than are explored turn by turn.
    pub long_loops: Vec<LongLoop>,
    /// Why it is not complete, if it is not.
    pub incomplete: Option<Incomplete>,
}

/// A complete execution.
pub struct WeakExecution<'g> {
    /// The threads that have not ended, and what each waits for.
    pub stuck: &'g [Blocked],
    /// Whether one of them spins.
    pub spins: bool,
    pub(super) graph: &'g Graph,
    /// An order of the events, if not any will do.
    pub(super) order: Option<&'g [super::graph::Id]>,
    pub(super) op_of: &'g dyn Fn(super::behaviour::NodeId) -> (Op, SiteId),
}

impl WeakExecution<'_> {
    /// The threads that were started.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> {
        let is_there = |(_, spawn): &(usize, &u32)| **spawn != NOBODY;
        let there = self.graph.spawns.iter().enumerate().filter(is_there);
        there.map(|(thread, _)| ThreadId(thread as u32))
    }

    /// The results that a thread got, in order.
    pub fn results(&self, thread: ThreadId) -> impl Iterator<Item = u64> {
        let log = self.graph.logs[thread.index()].iter().map(|id| self.graph.event(*id));
        log.filter(|event| event.is_done).map(|event| event.result)
    }

    /// The events, each after those that it depends on.
    #[must_use]
    pub fn events(&self) -> Vec<WeakEvent> {
        match self.order {
            Some(order) => events(self.graph, order, self.op_of),
            None => events(self.graph, &self.graph.linear(), self.op_of),
        }
    }

    /// The writes of every object in their order: thread, and number of its operation.
    #[must_use]
    pub fn orders(&self) -> Vec<(ObjectId, Vec<(ThreadId, usize)>)> {
        let name = |id: &u32| {
            let event = self.graph.event(*id);
            let log = &self.graph.logs[event.thread as usize][..event.index as usize];
            let done = log.iter().filter(|id| self.graph.event(**id).is_done).count();
            (ThreadId(event.thread), done)
        };
        let objects = self.graph.objects.iter().enumerate();
        let order = |(object, accesses): (usize, &super::graph::Accesses)| {
            (ObjectId(object as u32), accesses.order.iter().map(name).collect())
        };
        objects.map(order).collect()
    }
}

/// The operations of a graph in a linear order.
pub(super) fn events(
    graph: &Graph,
    order: &[super::graph::Id],
    op_of: &dyn Fn(super::behaviour::NodeId) -> (Op, SiteId),
) -> Vec<WeakEvent> {
    let mut list = Vec::new();
    // By event, the number of its operation.
    let mut names = vec![None; graph.events.len()];
    for id in order.iter().copied() {
        let event = graph.event(id);
        let log = &graph.logs[event.thread as usize][event.index as usize..];
        if event.phase > 0 {
            let first =
                graph.logs[event.thread as usize][(event.index - u32::from(event.phase)) as usize];
            names[id as usize] = names[first as usize];
            continue;
        }
        let Some(last) = log.iter().map(|id| graph.event(*id)).find(|event| event.is_done) else {
            continue;
        };
        names[id as usize] = Some(list.len());
        let source = matches!(event.kind, Kind::Read | Kind::Join).then_some(event.source);
        let (op, site) = op_of(event.node);
        list.push(WeakEvent {
            thread: ThreadId(event.thread),
            op,
            result: last.result,
            alternative: event.alternative.max(last.alternative),
            site,
            reads_from: source.filter(|id| *id != INITIAL).and_then(|id| names[id as usize]),
            place: (last.kind == Kind::Write).then_some(last.place as usize),
        });
    }
    list
}

impl<P: ThreadProgram + ?Sized> Behaviours<'_, P> {
    pub(super) fn op_of(&self, node: super::behaviour::NodeId) -> (Op, SiteId) {
        let next = self.next(node);
        (next.op.clone(), next.site)
    }
}
