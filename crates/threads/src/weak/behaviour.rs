//! What threads do, as far as it is known: by thread, the tree of the results that it may get and
//! of the operations that follow. Where the tree ends, the program is run.

use super::graph::{Event, Graph, Kind, NOBODY};
use super::states::States;
use crate::ids::{ObjectId, SiteId, ThreadId};
use crate::learn::Divergence;
use crate::object::Object;
use crate::op::{Act, Op};
use crate::program::{Next, ThreadProgram};
use crate::spinning::{Loops, Verdict};

/// A place in the tree of a thread: the thread after certain results.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct NodeId(pub(super) u32);

#[derive(Clone)]
struct Node {
    next: Next,
    /// By result, ascending.
    children: Vec<(u64, NodeId)>,
}

/// What is known of the threads, apart from their program.
#[derive(Clone)]
pub(super) struct Trees {
    nodes: Vec<Node>,
    roots: Vec<Option<NodeId>>,
    has_accesses: bool,
    loops: Loops,
}

/// No program: with it, nothing is learnt.
pub(super) struct Frozen;

impl Frozen {
    fn next() -> Next {
        Next { op: Op::new(ObjectId::NONE, Act::Yield), site: SiteId::NONE }
    }
}

impl ThreadProgram for Frozen {
    fn start(&mut self) {}

    fn resume(&mut self, _: ThreadId, _: u64) -> Next {
        Frozen::next()
    }

    fn stop(&mut self) {}

    fn initial(&self, _: ObjectId) -> Object {
        Object::Data(0)
    }
}

/// The trees of all threads, and the program that made them.
pub(super) struct Behaviours<'p, P: ThreadProgram + ?Sized> {
    program: &'p mut P,
    nodes: Vec<Node>,
    /// By thread.
    roots: Vec<Option<NodeId>>,
    is_running: bool,
    /// Whether there is no program: what is not known stays so.
    pub(super) is_frozen: bool,
    /// By thread that runs: where it is, and the operations that it did.
    now: Vec<Option<(NodeId, usize)>>,
    /// Whether some thread accesses plain data.
    pub(super) has_accesses: bool,
    /// How often the program was run.
    pub(super) runs: u64,
    /// Which loops give up. Of a place, the number of its node stands for the results.
    pub(super) loops: Loops,
}

impl<'p, P: ThreadProgram + ?Sized> Behaviours<'p, P> {
    pub(super) fn new(program: &'p mut P) -> Self {
        let (nodes, roots, now) = (Vec::new(), Vec::new(), Vec::new());
        Behaviours {
            program,
            nodes,
            roots,
            is_running: false,
            is_frozen: false,
            now,
            has_accesses: false,
            runs: 0,
            loops: Loops::default(),
        }
    }

    /// What is known.
    pub(super) fn trees(&self) -> Trees {
        let (nodes, roots) = (self.nodes.clone(), self.roots.clone());
        Trees { nodes, roots, has_accesses: self.has_accesses, loops: self.loops.clone() }
    }

    /// Takes what is known for all that there is.
    pub(super) fn freeze(&mut self, trees: &Trees) {
        let Trees { nodes, roots, has_accesses, loops } = trees.clone();
        (self.nodes, self.roots) = (nodes, roots);
        (self.has_accesses, self.loops, self.is_frozen) = (has_accesses, loops, true);
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    #[inline]
    pub(super) fn next(&self, node: NodeId) -> &Next {
        &self.nodes[node.0 as usize].next
    }

    /// Whether a thread that gives way at a node waits; `None` if that is not known.
    pub(super) fn waits(&self, thread: u32, node: NodeId) -> Option<bool> {
        let verdict = self.loops.verdict((ThreadId(thread), u64::from(node.0)))?;
        Some(*verdict != Verdict::Yields)
    }

    /// What a thread waits for at a node where it gives way, if that is more than it says.
    pub(super) fn awaits(&self, thread: u32, node: NodeId) -> Option<&Op> {
        match self.loops.verdict((ThreadId(thread), u64::from(node.0)))? {
            Verdict::Waits(wide) => wide.as_ref(),
            _ => None,
        }
    }

    pub(super) fn act(&self, node: NodeId) -> &Act {
        &self.next(node).op.act
    }

    #[inline]
    fn child(&self, node: NodeId, result: u64) -> Option<NodeId> {
        let children = &self.nodes[node.0 as usize].children;
        if let [(only, child)] = children.as_slice() {
            return (*only == result).then_some(*child);
        }
        let at = children.binary_search_by_key(&result, |child| child.0).ok()?;
        Some(children[at].1)
    }

    fn root(&self, thread: usize) -> Option<NodeId> {
        self.roots.get(thread).copied().flatten()
    }

    /// Returns where a thread is; it is not within an operation.
    ///
    /// # Errors
    ///
    /// Fails if the program was run, and did something else after the same results; or if it is not
    /// known, and there is no program.
    pub(super) fn place(
        &mut self,
        graph: &Graph,
        thread: u32,
        states: &mut States,
    ) -> Result<NodeId, Box<Divergence>> {
        let find = |known: &Self| match graph.logs[thread as usize].last() {
            Some(last) => {
                let event = graph.event(*last);
                known.child(event.node, event.result)
            }
            None => known.root(thread as usize),
        };
        if let Some(known) = find(self) {
            return Ok(known);
        }
        if self.is_frozen {
            let thread = ThreadId(thread);
            let (expected, found) = (Frozen::next(), Frozen::next());
            return Err(Box::new(Divergence { thread, expected, found }));
        }
        match graph.logs[thread as usize].last().map(|last| *graph.event(*last)) {
            Some(last) if self.is_one_behind(graph, thread as usize) => {
                self.step(&last, states)?;
            }
            _ => self.follow(graph, states)?,
        }
        find(self).ok_or_else(|| unreachable!("the program was run to this place"))
    }

    /// Runs the program until it has done all operations of the graph.
    fn follow(&mut self, graph: &Graph, states: &mut States) -> Result<(), Box<Divergence>> {
        if !self.is_on_the_way(graph) {
            self.stop();
            self.program.start();
            (self.is_running, self.runs) = (true, self.runs + 1);
            self.now.clear();
            self.resume(0, None, states)?;
        }
        let mut counts = vec![0; graph.logs.len()];
        for id in graph.linear() {
            let event = graph.event(id);
            let thread = event.thread as usize;
            if !event.is_done {
                continue;
            }
            counts[thread] += 1;
            if self.now.get(thread).copied().flatten().is_none_or(|now| now.1 < counts[thread]) {
                self.step(event, states)?;
            }
        }
        Ok(())
    }

    /// Lets the running program do an operation that ends with this event.
    fn step(&mut self, event: &Event, states: &mut States) -> Result<(), Box<Divergence>> {
        let thread = event.thread as usize;
        if event.is_end {
            let count = self.now[thread].map_or(0, |now| now.1) + 1;
            self.now[thread] = Some((event.node, count));
        } else {
            self.resume(thread, Some((event.node, event.result)), states)?;
        }
        match *self.act(event.node) {
            Act::Spawn(child) => self.resume(child.index(), None, states),
            _ => Ok(()),
        }
    }

    /// Whether the running program has done all operations of the graph but the last one of a
    /// thread. Of other threads, places tell all that they did.
    fn is_one_behind(&self, graph: &Graph, thread: usize) -> bool {
        let last = graph.logs[thread].last().map(|id| graph.event(*id));
        let child = last.filter(|last| last.kind == Kind::Spawn).map(|last| last.value as usize);
        let there = |other: usize| match graph.logs.get(other)?.last() {
            Some(id) if other == thread => Some(graph.event(*id).node),
            Some(id) if graph.event(*id).is_end || !graph.event(*id).is_done => {
                Some(graph.event(*id).node)
            }
            Some(id) => self.child(graph.event(*id).node, graph.event(*id).result),
            None if graph.spawns[other] == NOBODY || child == Some(other) => None,
            None => self.root(other),
        };
        let now = |other: usize| self.now.get(other).copied().flatten().map(|now| now.0);
        self.is_running
            && (0..graph.logs.len().max(self.now.len())).all(|other| now(other) == there(other))
    }

    /// Whether all that the running program did is in the graph.
    fn is_on_the_way(&self, graph: &Graph) -> bool {
        self.is_running
            && self.now.iter().enumerate().all(|(thread, now)| {
                let Some((node, count)) = *now else { return true };
                if graph.spawns.get(thread).is_none_or(|spawn| *spawn == NOBODY) {
                    return false;
                }
                let done = graph.logs[thread].iter().map(|id| graph.event(*id));
                let done = done.filter(|event| event.is_done);
                match count.checked_sub(1) {
                    None => true,
                    Some(at) => done.clone().nth(at).is_some_and(|event| {
                        matches!(self.act(event.node), Act::Exit(_)) && event.node == node
                            || self.child(event.node, event.result) == Some(node)
                    }),
                }
            })
    }

    fn resume(
        &mut self,
        thread: usize,
        after: Option<(NodeId, u64)>,
        states: &mut States,
    ) -> Result<(), Box<Divergence>> {
        let id = ThreadId(thread as u32);
        let next = self.program.resume(id, after.map_or(0, |after| after.1));
        next.op.objects(|object| states.make(object, || self.program.initial(object)));
        let known = match after {
            None => self.root(thread),
            Some((node, result)) => self.child(node, result),
        };
        let node = match known {
            Some(known) if self.next(known).op == next.op => known,
            Some(known) => {
                let expected = self.next(known).clone();
                return Err(Box::new(Divergence { thread: id, expected, found: next }));
            }
            None => self.add(thread, after, next),
        };
        if self.now.len() <= thread {
            self.now.resize(thread + 1, None);
        }
        let count = if after.is_some() { self.now[thread].map_or(0, |now| now.1) + 1 } else { 0 };
        self.now[thread] = Some((node, count));
        Ok(())
    }

    fn add(&mut self, thread: usize, after: Option<(NodeId, u64)>, next: Next) -> NodeId {
        let node = NodeId(self.nodes.len() as u32);
        self.has_accesses |= matches!(next.op.act, Act::Access { .. });
        self.nodes.push(Node { next, children: Vec::new() });
        match after {
            None => {
                if self.roots.len() <= thread {
                    self.roots.resize(thread + 1, None);
                }
                self.roots[thread] = Some(node);
            }
            Some((parent, result)) => {
                let children = &mut self.nodes[parent.0 as usize].children;
                let at = children.partition_point(|child| child.0 < result);
                children.insert(at, (result, node));
            }
        }
        node
    }

    fn stop(&mut self) {
        if std::mem::take(&mut self.is_running) {
            self.program.stop();
        }
    }
}

impl<P: ThreadProgram + ?Sized> Drop for Behaviours<'_, P> {
    fn drop(&mut self) {
        self.stop();
    }
}
