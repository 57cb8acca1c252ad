//! What threads do, as far as it is known: for each thread, the tree of the results that it may get
//! and of the operations that follow them.

use super::footprint::{FootprintId, Footprints};
use super::kind::touches;
use super::sabotage::Sabotage;
use crate::ids::{ObjectId, SiteId, ThreadId};
use crate::object::Object;
use crate::op::{Act, Op};
use crate::program::Next;
use rustc_hash::{FxHashMap, FxHashSet};

/// A place in the tree of a thread: the thread after certain results.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct NodeId(pub(crate) u32);

/// Stands for the end of any thread whose end nobody sees.
const UNSEEN_END: OpId = OpId(u32::MAX);

/// An operation, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct OpId(u32);

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) op: OpId,
    pub(crate) site: SiteId,
    parent: Option<NodeId>,
    /// By result, ascending.
    children: Vec<(u64, NodeId)>,
    /// The footprint of this operation and of all that may follow.
    pub(crate) future: FootprintId,
    /// Nodes of one class have the same future, as far as it was known when the classes were made.
    pub(crate) class: u32,
}

/// The program did something else after the same results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// The thread.
    pub thread: ThreadId,
    /// What it did before.
    pub expected: Next,
    /// What it did now.
    pub found: Next,
}

/// The trees of all threads.
#[derive(Debug)]
pub(crate) struct Behaviours {
    nodes: Vec<Node>,
    roots: Vec<Option<NodeId>>,
    /// The operations, with the footprint of each.
    ops: Vec<(Op, FootprintId)>,
    op_ids: FxHashMap<Op, OpId>,
    /// The objects at their start, by number.
    initial: Vec<Option<Object>>,
    pub(crate) footprints: Footprints,
    /// The ends of threads that other threads look at.
    ends_known: FxHashSet<ObjectId>,
    /// The classes: by operation, and by the classes after each result.
    classes: FxHashMap<(OpId, Vec<(u64, u32)>), u32>,
    /// Whether each node is a class of its own.
    apart: bool,
    /// How many nodes have classes.
    classified: usize,
    /// Nodes with new children.
    grown: Vec<NodeId>,
    /// Whether some thread accesses plain data.
    pub(crate) has_accesses: bool,
}

impl Behaviours {
    pub(crate) fn new() -> Behaviours {
        Behaviours {
            nodes: Vec::new(),
            roots: Vec::new(),
            ops: Vec::new(),
            op_ids: FxHashMap::default(),
            initial: Vec::new(),
            footprints: Footprints::new(),
            ends_known: FxHashSet::default(),
            classes: FxHashMap::default(),
            apart: false,
            classified: 0,
            grown: Vec::new(),
            has_accesses: false,
        }
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.0 as usize]
    }

    pub(crate) fn op(&self, node: NodeId) -> &Op {
        &self.ops[self.node(node).op.0 as usize].0
    }

    /// The footprint of the operation of a node alone.
    pub(crate) fn own(&self, node: NodeId) -> FootprintId {
        self.ops[self.node(node).op.0 as usize].1
    }

    pub(crate) fn root(&self, thread: ThreadId) -> Option<NodeId> {
        self.roots.get(thread.index()).copied().flatten()
    }

    pub(crate) fn child(&self, node: NodeId, result: u64) -> Option<NodeId> {
        let children = &self.node(node).children;
        let at = children.binary_search_by_key(&result, |child| child.0).ok()?;
        Some(children[at].1)
    }

    /// The object at its start. Known for all objects of known operations.
    pub(crate) fn initial(&self, object: ObjectId) -> Object {
        self.initial.get(object.index()).cloned().flatten().unwrap_or(Object::Data(0))
    }

    fn intern(&mut self, op: &Op, initial: impl Fn(ObjectId) -> Object) -> OpId {
        if let Some(id) = self.op_ids.get(op) {
            return *id;
        }
        let id = OpId(self.ops.len() as u32);
        let mut list = Vec::new();
        touches(op, |object, kind| list.push((object, kind)));
        let footprint = self.footprints.of(list);
        op.objects(|object| {
            if self.initial.len() <= object.index() {
                self.initial.resize(object.index() + 1, None);
            }
            self.initial[object.index()].get_or_insert_with(|| initial(object));
        });
        self.ops.push((op.clone(), footprint));
        self.op_ids.insert(op.clone(), id);
        id
    }

    /// Notes what a thread does first, or after it got a result at `parent`. Returns its node, and
    /// whether that is new.
    ///
    /// # Errors
    ///
    /// Fails if it is known that the thread does something else there.
    pub(crate) fn learn(
        &mut self,
        thread: ThreadId,
        parent: Option<(NodeId, u64)>,
        next: &Next,
        initial: impl Fn(ObjectId) -> Object,
    ) -> Result<(NodeId, bool), Divergence> {
        let known = match parent {
            None => self.root(thread),
            Some((node, result)) => self.child(node, result),
        };
        if let Some(known) = known {
            return match *self.op(known) == next.op {
                true => Ok((known, false)),
                false => {
                    let (op, site) = (self.op(known).clone(), self.node(known).site);
                    let expected = Next { op, site };
                    Err(Divergence { thread, expected, found: next.clone() })
                }
            };
        }
        let op = self.intern(&next.op, initial);
        let node = NodeId(self.nodes.len() as u32);
        let future = self.ops[op.0 as usize].1;
        self.nodes.push(Node {
            op,
            site: next.site,
            parent: parent.map(|parent| parent.0),
            children: Vec::new(),
            future,
            // Unlike all others, until the classes are made again.
            class: u32::MAX - node.0,
        });
        match parent {
            None => {
                if self.roots.len() <= thread.index() {
                    self.roots.resize(thread.index() + 1, None);
                }
                self.roots[thread.index()] = Some(node);
            }
            Some((parent, result)) => {
                let children = &mut self.nodes[parent.0 as usize].children;
                let at = children.partition_point(|child| child.0 < result);
                children.insert(at, (result, node));
            }
        }
        Ok((node, true))
    }

    /// Makes the futures and the classes of all nodes anew. With `apart`, each node has a class of
    /// its own. Linear in the nodes.
    pub(crate) fn classify(&mut self, apart: bool, sabotage: Sabotage) {
        self.survey_ops();
        self.classes.clear();
        (self.apart, self.classified) = (apart, self.nodes.len());
        // A thread is younger than the operation that spawns it, and a node than its parent; but a
        // thread's tree may grow after its spawn was learnt, hence the recursion by hand.
        let mut known: Vec<bool> = vec![false; self.nodes.len()];
        let roots: Vec<NodeId> = self.roots.iter().flatten().copied().collect();
        for root in roots {
            let mut stack = vec![(root, false)];
            while let Some((node, is_back)) = stack.pop() {
                if known[node.0 as usize] {
                    continue;
                }
                let spawned = match self.op(node).act {
                    Act::Spawn(child) => self.root(child),
                    _ => None,
                };
                if !is_back {
                    stack.push((node, true));
                    stack.extend(self.node(node).children.iter().map(|child| (child.1, false)));
                    stack.extend(spawned.map(|root| (root, false)));
                    continue;
                }
                known[node.0 as usize] = true;
                let is_end = self.is_unseen_end(node);
                let mut future = if is_end { FootprintId::EMPTY } else { self.own(node) };
                let children = std::mem::take(&mut self.nodes[node.0 as usize].children);
                for child in &children {
                    future = self.footprints.union(future, self.node(child.1).future);
                }
                if let Some(root) = spawned
                    && sabotage != Sabotage::SpawnsForgotten
                {
                    future = self.footprints.union(future, self.node(root).future);
                }
                self.nodes[node.0 as usize].children = children;
                let class = self.class_of(node, sabotage);
                let place = &mut self.nodes[node.0 as usize];
                (place.future, place.class) = (future, class);
            }
        }
    }

    /// Gives classes to the nodes that are new since the last classes were made. They are like
    /// others if what is known of their futures now is.
    pub(crate) fn classify_new(&mut self, sabotage: Sabotage) {
        // A child is younger than its parent, and nothing but new nodes is below a new one.
        for node in (self.classified..self.nodes.len()).rev() {
            let class = self.class_of(NodeId(node as u32), sabotage);
            self.nodes[node].class = class;
            self.grown.extend(self.nodes[node].parent);
        }
        let mut grown = std::mem::take(&mut self.grown);
        grown.retain(|node| (node.0 as usize) < self.classified);
        self.classified = self.nodes.len();
        while let Some(node) = grown.pop() {
            let class = self.class_of(node, sabotage);
            if std::mem::replace(&mut self.nodes[node.0 as usize].class, class) != class {
                grown.extend(self.nodes[node.0 as usize].parent);
            }
        }
    }

    fn class_of(&mut self, node: NodeId, sabotage: Sabotage) -> u32 {
        if self.apart {
            return node.0;
        }
        let op = if self.is_unseen_end(node) { UNSEEN_END } else { self.node(node).op };
        let of = |child: &(u64, NodeId)| (child.0, self.node(child.1).class);
        let mut children: Vec<(u64, u32)> = self.node(node).children.iter().map(of).collect();
        if sabotage == Sabotage::FuturesForgotten {
            children.clear();
        }
        let next = self.classes.len() as u32;
        *self.classes.entry((op, children)).or_insert(next)
    }

    /// Where nobody looks at its end, a thread ends like every other one.
    fn is_unseen_end(&self, node: NodeId) -> bool {
        let op = self.op(node);
        matches!(op.act, Act::Exit(_)) && !self.ends_known.contains(&op.object)
    }

    fn survey_ops(&mut self) {
        self.has_accesses = self.ops.iter().any(|op| matches!(op.0.act, Act::Access { .. }));
        let looks = |op: &&(Op, FootprintId)| matches!(op.0.act, Act::Join | Act::IsFinished);
        self.ends_known = self.ops.iter().filter(looks).map(|op| op.0.object).collect();
    }

    /// Adds a future to those of all nodes above, as far as it is new there.
    pub(crate) fn extend_futures(&mut self, node: NodeId) {
        let (mut at, mut future) = (Some(node), FootprintId::EMPTY);
        while let Some(node) = at {
            let union = self.footprints.union(self.node(node).future, future);
            let place = &mut self.nodes[node.0 as usize];
            if union == place.future && future != FootprintId::EMPTY {
                return;
            }
            (place.future, future, at) = (union, union, place.parent);
        }
    }
}
