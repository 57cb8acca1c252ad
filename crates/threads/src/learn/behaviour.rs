//! What threads do, as far as it is known: for each thread, the tree of the results that it may get
//! and of the operations that follow them.

use super::calls::{Calls, Point};
use super::classes::{ClassKey, ClassOfMany, ClassOfOne};
use super::footprint::{FootprintId, Footprints};
use super::kind::touches;
use super::memo::Memo;
use super::sabotage::Sabotage;
use super::turns::Turns;
use crate::ids::{ObjectId, SiteId, ThreadId};
use crate::object::Object;
use crate::op::{Act, Op};
use crate::program::{Next, ThreadProgram};
use anyorder_common::state_hash::StateHash;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::hash::Hash as _;

/// A place in the tree of a thread: the thread after certain results.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct NodeId(pub(crate) u32);

/// An operation, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct OpId(pub(super) u32);

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) op: OpId,
    pub(crate) site: SiteId,
    /// Several only after invocations that returned the same.
    pub(super) parents: Vec<NodeId>,
    /// By result, ascending.
    pub(super) children: Vec<(u64, NodeId)>,
    /// The outermost invocation in which the operation is.
    pub(super) invocation: Option<NodeId>,
    /// How many invocations it is in.
    pub(super) depth: u32,
    /// Whether it is known whether the thread waits here, if it gives way.
    pub(crate) is_settled: bool,
    /// The footprint of this operation and, if an invocation goes on after it, of its rest.
    pub(crate) own: FootprintId,
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
    pub(super) nodes: Vec<Node>,
    pub(super) roots: Vec<Option<NodeId>>,
    pub(super) ops: Vec<Op>,
    op_ids: FxHashMap<Op, OpId>,
    /// The footprints of the operations alone, by the object within whose invocations they are.
    pub(super) footprints_of: FxHashMap<(OpId, ObjectId), FootprintId>,
    calls: Calls,
    /// Where a thread goes on after an invocation that returned some value.
    returns: FxHashMap<(NodeId, u64), NodeId>,
    /// Objects that are only touched within invocations of one object.
    pub(super) private: FxHashSet<ObjectId>,
    /// The objects at their start, by number.
    initial: Vec<Option<Object>>,
    pub(crate) footprints: Footprints,
    /// By thread, where it is joined.
    ends: Vec<Option<ObjectId>>,
    /// The ends of threads that other threads look at.
    pub(super) ends_known: FxHashSet<ObjectId>,
    /// The classes: by operation, and by the classes after each result.
    pub(super) classes: FxHashMap<ClassKey, u32>,
    /// Those with one result.
    pub(super) classes_of_one: FxHashMap<ClassOfOne, u32>,
    /// Those with many.
    pub(super) classes_of_many: FxHashMap<ClassOfMany, u32>,
    /// Whether each node is a class of its own.
    pub(super) apart: bool,
    /// How many nodes have classes.
    pub(super) classified: usize,
    /// Nodes with new children.
    pub(super) grown: Vec<NodeId>,
    /// The children that are new below nodes that are not.
    pub(super) joined: Vec<NodeId>,
    /// What was found out about footprints and places, to choose the threads to try.
    pub(crate) memo: RefCell<Memo>,
    /// Counts what persistent sets that were found before may not hold for.
    pub(crate) epoch: u64,
    /// By node where a thread gives way, what has to be possible before it can be tried whether it
    /// waits.
    pub(super) needs: FxHashMap<NodeId, Option<Op>>,
    /// Turns in vain of loops that give up.
    pub(super) turns: RefCell<Turns>,
    /// Whether a loop gives up.
    pub(super) has_yields: bool,
    /// Whether some thread accesses plain data.
    pub(crate) has_accesses: bool,
    pub(crate) sabotage: Sabotage,
}

impl Behaviours {
    pub(crate) fn new() -> Behaviours {
        Behaviours {
            nodes: Vec::new(),
            roots: Vec::new(),
            ops: Vec::new(),
            op_ids: FxHashMap::default(),
            footprints_of: FxHashMap::default(),
            calls: Calls::default(),
            returns: FxHashMap::default(),
            private: FxHashSet::default(),
            initial: Vec::new(),
            footprints: Footprints::new(),
            ends: Vec::new(),
            ends_known: FxHashSet::default(),
            classes: FxHashMap::default(),
            classes_of_one: FxHashMap::default(),
            classes_of_many: FxHashMap::default(),
            apart: false,
            classified: 0,
            grown: Vec::new(),
            joined: Vec::new(),
            memo: RefCell::default(),
            epoch: 0,
            needs: FxHashMap::default(),
            turns: RefCell::default(),
            has_yields: false,
            has_accesses: false,
            sabotage: Sabotage::None,
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
        &self.ops[self.node(node).op.0 as usize]
    }

    pub(super) fn op_of(&self, op: OpId) -> &Op {
        &self.ops[op.0 as usize]
    }

    /// The object within whose invocations an operation is; [`ObjectId::NONE`] for none.
    pub(super) fn owner(&self, node: NodeId) -> ObjectId {
        self.node(node).invocation.map_or(ObjectId::NONE, |invocation| self.op(invocation).object)
    }

    /// Where a thread is joined, if it can be.
    pub(crate) fn end_of(&self, thread: ThreadId) -> Option<ObjectId> {
        self.ends.get(thread.index()).copied().flatten()
    }

    /// The places of a thread after an operation.
    pub(crate) fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.node(node).children.iter().map(|child| child.1)
    }

    /// Whether an operation is within an invocation, after its begin.
    pub(crate) fn is_within(&self, node: NodeId) -> bool {
        self.node(node).depth > 0 && self.sabotage != Sabotage::InvocationsInterrupted
    }

    /// The points of a call that begins or ends.
    pub(crate) fn points(&self, op: &Op) -> &[Point] {
        match op.act {
            Act::Invoke(call) | Act::Return { call, .. } => self.calls.points(op.object, call),
            _ => &[],
        }
    }

    /// Whether all that an operation touches is only touched within invocations of one object.
    pub(crate) fn is_private(&self, op: &Op) -> bool {
        let (mut is_private, mut is_any) = (self.sabotage != Sabotage::CallsSynchronise, false);
        op.objects(|object| {
            is_any = true;
            is_private &= self.private.contains(&object);
        });
        is_private && is_any
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

    fn intern<P: ThreadProgram + ?Sized>(&mut self, op: &Op, program: &P) -> OpId {
        if let Some(id) = self.op_ids.get(op) {
            return *id;
        }
        let id = OpId(self.ops.len() as u32);
        if let Act::Invoke(call) = op.act {
            let sabotage = self.sabotage;
            let is_new = self.calls.see(op.object, call, |call, other| {
                sabotage == Sabotage::CallsCommute || program.commute(op.object, call, other)
            });
            self.epoch += u64::from(is_new);
        }
        if let Act::Spawn(child) = op.act {
            if self.ends.len() <= child.index() {
                self.ends.resize(child.index() + 1, None);
            }
            self.ends[child.index()] = Some(op.object);
            self.epoch += 1;
        }
        self.has_yields |= op.act == Act::Yield;
        op.objects(|object| {
            if self.initial.len() <= object.index() {
                self.initial.resize(object.index() + 1, None);
            }
            self.initial[object.index()].get_or_insert_with(|| program.initial(object));
        });
        self.ops.push(op.clone());
        self.op_ids.insert(op.clone(), id);
        id
    }

    /// The footprint of the operation of a node alone.
    pub(super) fn footprint_of(&mut self, node: NodeId) -> FootprintId {
        let key = (self.node(node).op, self.owner(node));
        if let Some(footprint) = self.footprints_of.get(&key) {
            return *footprint;
        }
        let op = self.op(node);
        let mut list = Vec::new();
        touches(op, |object, kind| list.push((object, kind)));
        list.extend(self.points(op).iter().map(|point| (point.object, point.kind())));
        let footprint = self.footprints.of(key.1, &list);
        self.footprints_of.insert(key, footprint);
        footprint
    }

    /// Notes what a thread does first, or after it got a result at `parent`. Returns its node, and
    /// whether that is new.
    ///
    /// # Errors
    ///
    /// Fails if it is known that the thread does something else there.
    pub(crate) fn learn<P: ThreadProgram + ?Sized>(
        &mut self,
        thread: ThreadId,
        parent: Option<(NodeId, u64)>,
        next: &Next,
        (how, program): ((bool, Option<&Op>), &P),
    ) -> Result<(NodeId, bool), Divergence> {
        let end = parent.and_then(|parent| self.end_of_invocation(parent.0));
        let known = match parent {
            None => self.root(thread),
            Some((node, result)) => self.child(node, result),
        };
        let is_linked = known.is_some();
        let known = known.or_else(|| self.returns.get(&end?).copied());
        let mut is_news = false;
        if let Some(known) = known.filter(|known| !self.node(*known).is_settled) {
            is_news = self.settle(known, next, how);
        }
        let node = match known {
            Some(known) if *self.op(known) != next.op => {
                let (op, site) = (self.op(known).clone(), self.node(known).site);
                let expected = Next { op, site };
                return Err(Divergence { thread, expected, found: next.clone() });
            }
            Some(known) if is_linked => return Ok((known, is_news)),
            Some(known) => known,
            None => {
                let op = self.intern(&next.op, program);
                let node = self.add(op, next.site, parent.map(|parent| parent.0));
                if !how.0 {
                    self.set_settled(node, how);
                }
                node
            }
        };
        if let Some(end) = end {
            self.returns.insert(end, node);
        }
        match parent {
            None => {
                if self.roots.len() <= thread.index() {
                    self.roots.resize(thread.index() + 1, None);
                }
                self.roots[thread.index()] = Some(node);
                self.epoch += 1;
            }
            Some((parent, result)) => {
                let children = &mut self.nodes[parent.0 as usize].children;
                let at = children.partition_point(|child| child.0 < result);
                children.insert(at, (result, node));
                self.nodes[node.0 as usize].parents.push(parent);
                self.grown.push(parent);
                // What is known of turns in vain may tell that a place need not be searched.
                let rests = self.has_yields || self.memo.get_mut().rests_on(parent);
                self.epoch += u64::from(rests);
                if (parent.0 as usize) < self.classified {
                    self.joined.push(node);
                }
            }
        }
        Ok((node, true))
    }

    /// Puts another operation in the place of that of a node, on objects that are known.
    pub(super) fn replace(&mut self, node: NodeId, op: &Op) {
        let next = OpId(self.ops.len() as u32);
        let id = *self.op_ids.entry(op.clone()).or_insert(next);
        if id == next {
            self.ops.push(op.clone());
        }
        self.nodes[node.0 as usize].op = id;
        self.grown.push(node);
        self.epoch += 1;
        self.has_yields |= op.act == Act::Yield;
        self.turns.get_mut().renew();
    }

    /// Notes whether it is known whether a thread waits at a node; if not, what has to be possible
    /// before that can be tried.
    pub(super) fn set_settled(&mut self, node: NodeId, (is_settled, needs): (bool, Option<&Op>)) {
        self.nodes[node.0 as usize].is_settled = is_settled;
        match is_settled {
            true => drop(self.needs.remove(&node)),
            false => drop(self.needs.insert(node, needs.cloned())),
        }
    }

    /// The outermost invocation that ends at a node, and what it returned.
    fn end_of_invocation(&self, node: NodeId) -> Option<(NodeId, u64)> {
        match self.op(node).act {
            Act::Return { value, .. } if self.node(node).depth == 1 => {
                let value = if self.sabotage == Sabotage::ValuesForgotten { 0 } else { value };
                Some((self.node(node).invocation?, value))
            }
            _ => None,
        }
    }

    /// Adds a node, not yet known to its parent.
    fn add(&mut self, op: OpId, site: SiteId, parent: Option<NodeId>) -> NodeId {
        let node = NodeId(self.nodes.len() as u32);
        let (invocation, depth) = parent.map_or((None, 0), |parent| self.invocation_after(parent));
        self.nodes.push(Node {
            op,
            site,
            parents: Vec::new(),
            children: Vec::new(),
            invocation,
            depth,
            is_settled: true,
            own: FootprintId::EMPTY,
            future: FootprintId::EMPTY,
            // Unlike all others, until the classes are made again.
            class: u32::MAX - 1 - node.0,
        });
        let own = self.footprint_of(node);
        let place = &mut self.nodes[node.0 as usize];
        (place.own, place.future) = (own, own);
        node
    }

    /// The outermost invocation after an operation, and how many are open.
    fn invocation_after(&self, node: NodeId) -> (Option<NodeId>, u32) {
        let Node { invocation, depth, .. } = *self.node(node);
        match self.op(node).act {
            Act::Invoke(_) => (invocation.or(Some(node)), depth + 1),
            Act::Return { .. } if depth <= 1 => (None, 0),
            Act::Return { .. } => (invocation, depth - 1),
            _ => (invocation, depth),
        }
    }

    /// Returns a hash of all that is known.
    pub(crate) fn digest(&self) -> u128 {
        let mut hash = StateHash::new();
        (&self.ops, &self.roots).hash(&mut hash);
        self.nodes.iter().for_each(|node| (node.op, &node.children).hash(&mut hash));
        hash.finish128().0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::{LockMode, Patience};

    struct Locks;

    impl ThreadProgram for Locks {
        fn start(&mut self) {}

        fn resume(&mut self, _: ThreadId, _: u64) -> Next {
            unreachable!("nothing runs")
        }

        fn stop(&mut self) {}

        fn initial(&self, _: ObjectId) -> Object {
            Object::LOCK
        }
    }

    /// One thread takes many locks: as many footprints as operations, not as many as pairs of them.
    #[test]
    fn footprints_are_not_made_again_for_each_operation() {
        let mut known = Behaviours::new();
        let mut parent = None;
        for object in 0..300 {
            let act = Act::Lock(LockMode::Exclusive, Patience::Wait);
            let next = Next { op: Op::new(ObjectId(object), act), site: SiteId::NONE };
            let learnt = known.learn(ThreadId::MAIN, parent, &next, ((true, None), &Locks));
            parent = learnt.ok().map(|(node, _)| (node, 1));
        }
        known.classify_new(Sabotage::None);
        assert_eq!(known.len(), 300);
        let all = known.root(ThreadId::MAIN).map(|root| known.node(root).future);
        assert_eq!(all.map(|all| known.footprints.get(all).len()), Some(300));
        assert!(known.footprints.len() < 1_000, "{}", known.footprints.len());
    }
}
