//! The futures and the classes of the places of threads: what each may still touch, and which have
//! equal futures.

use super::behaviour::{Behaviours, Node, NodeId, OpId};
use super::footprint::FootprintId;
use super::sabotage::Sabotage;
use super::turns::Cover;
use crate::ids::{ObjectId, ThreadId};
use crate::op::{Act, Op};
use anyorder_common::hash::Hash128;
use anyorder_common::state_hash::StateHash;
use std::hash::Hash;

/// Stands for the end of any thread whose end nobody sees.
const UNSEEN_END: OpId = OpId(u32::MAX);

/// Stands for every place that need not be searched.
const COVERED: u32 = u32::MAX;

/// An operation, the object within whose invocations it is, and the classes after each result.
pub(super) type ClassKey = (OpId, ObjectId, Vec<(u64, u32)>);

/// The same where there is one result: most are, and they take no memory of their own.
pub(super) type ClassOfOne = (OpId, ObjectId, u64, u32);

/// The same where there are many results, with a hash of them: each new one makes another class.
pub(super) type ClassOfMany = (OpId, ObjectId, Hash128);

/// More results than this are many.
const FEW: usize = 8;

impl Behaviours {
    /// Makes the futures and the classes of all nodes anew. With `apart`, each node has a class of
    /// its own. Linear in the nodes.
    pub(crate) fn classify(&mut self, apart: bool, sabotage: Sabotage) {
        self.survey_ops();
        self.classes.clear();
        self.classes_of_one.clear();
        self.classes_of_many.clear();
        self.memo.get_mut().clear();
        self.epoch += 1;
        // Calls seen since have given points to others.
        self.footprints_of.clear();
        (self.apart, self.classified) = (apart, self.nodes.len());
        self.joined.clear();
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
                let step = match self.is_unseen_end(node) {
                    true => FootprintId::EMPTY,
                    false => self.footprint_of(node),
                };
                let (mut rest, mut after) = (FootprintId::EMPTY, FootprintId::EMPTY);
                let children = std::mem::take(&mut self.nodes[node.0 as usize].children);
                for (_, child) in &children {
                    let Node { own: of_child, future: its, depth, .. } = *self.node(*child);
                    after = self.footprints.union(after, its);
                    if depth > 0 && sabotage != Sabotage::BodiesForgotten {
                        rest = self.footprints.union(rest, of_child);
                    }
                }
                let own = self.footprints.both(step, rest);
                if let Some(root) = spawned
                    && sabotage != Sabotage::SpawnsForgotten
                {
                    after = self.footprints.both(after, self.node(root).future);
                }
                let future = self.footprints.both(step, after);
                self.nodes[node.0 as usize].children = children;
                let class = self.class_of(node, sabotage);
                let place = &mut self.nodes[node.0 as usize];
                (place.own, place.future, place.class) = (own, future, class);
            }
        }
        self.survey_owners();
    }

    /// Finds the objects that are only touched within invocations of one object.
    fn survey_owners(&mut self) {
        self.private.clear();
        let Some(main) = self.root(ThreadId::MAIN) else { return };
        let all = self.footprints.get(self.node(main).future);
        for touches in all.chunk_by(|touch, next| touch.object == next.object) {
            if let [touch] = touches
                && touch.owner != ObjectId::NONE
            {
                self.private.insert(touch.object);
            }
        }
    }

    /// Makes the futures and the classes of the nodes that are new since that was done last. They
    /// are like others if what is known of their futures now is.
    ///
    /// Not before an execution has ended: with the futures of all nodes above made longer by each
    /// node, the work would be cubic in the length of an execution.
    pub(crate) fn classify_new(&mut self, sabotage: Sabotage) {
        // A child is younger than its parent, but for a place after an invocation: that may have
        // been known, and is then known whole.
        for node in (self.classified..self.nodes.len()).rev() {
            let node = NodeId(node as u32);
            for at in 0..self.node(node).children.len() {
                self.take_future(node, self.node(node).children[at].1);
            }
            let class = self.class_of(node, sabotage);
            self.nodes[node.0 as usize].class = class;
        }
        for node in std::mem::take(&mut self.joined) {
            self.extend_futures(node);
        }
        let mut grown = std::mem::take(&mut self.grown);
        self.classified = self.nodes.len();
        while let Some(node) = grown.pop() {
            let class = self.class_of(node, sabotage);
            if std::mem::replace(&mut self.nodes[node.0 as usize].class, class) != class {
                grown.extend(&self.nodes[node.0 as usize].parents);
            }
        }
    }

    fn class_of(&mut self, node: NodeId, sabotage: Sabotage) -> u32 {
        if self.apart {
            return node.0;
        }
        let op = if self.is_unseen_end(node) { UNSEEN_END } else { self.node(node).op };
        let of = |child: &(u64, NodeId)| match self.cover(node, child.1) {
            Cover::Covered => (child.0, COVERED),
            _ => (child.0, self.node(child.1).class),
        };
        let count = self.classes.len() + self.classes_of_one.len() + self.classes_of_many.len();
        let (next, owner) = (count as u32, self.owner(node));
        let forgets = sabotage == Sabotage::FuturesForgotten;
        let children = if forgets { &[] } else { self.node(node).children.as_slice() };
        if let [child] = children {
            let (result, class) = of(child);
            return *self.classes_of_one.entry((op, owner, result, class)).or_insert(next);
        }
        if children.len() > FEW {
            let mut hash = StateHash::new();
            children.iter().for_each(|child| of(child).hash(&mut hash));
            let key = (op, owner, hash.finish128());
            return *self.classes_of_many.entry(key).or_insert(next);
        }
        let children: Vec<(u64, u32)> = children.iter().map(of).collect();
        *self.classes.entry((op, owner, children)).or_insert(next)
    }

    /// Where nobody looks at its end, a thread ends like every other one.
    pub(super) fn is_unseen_end(&self, node: NodeId) -> bool {
        let op = self.op(node);
        matches!(op.act, Act::Exit(_)) && !self.ends_known.contains(&op.object)
    }

    fn survey_ops(&mut self) {
        self.has_accesses = self.ops.iter().any(|op| matches!(op.act, Act::Access { .. }));
        let looks = |op: &&Op| matches!(op.act, Act::Join | Act::IsFinished);
        self.ends_known = self.ops.iter().filter(looks).map(|op| op.object).collect();
    }

    /// Adds the footprints of a node to those of all nodes above, as far as they are new there.
    fn extend_futures(&mut self, node: NodeId) {
        let mut todo = vec![node];
        while let Some(node) = todo.pop() {
            for at in 0..self.node(node).parents.len() {
                let parent = self.node(node).parents[at];
                if self.take_future(parent, node) {
                    todo.push(parent);
                }
            }
        }
    }

    /// Adds the footprints of a child to those of a node. Returns whether they are new there.
    fn take_future(&mut self, node: NodeId, child: NodeId) -> bool {
        let Node { own, future, depth, .. } = *self.node(child);
        let before = self.node(node);
        let (its_own, its_future) = (before.own, before.future);
        let step = self.footprint_of(node);
        let through = self.footprints.both(step, future);
        let union = self.footprints.union(its_future, through);
        let mut rest = its_own;
        if depth > 0 {
            let through = self.footprints.both(step, own);
            rest = self.footprints.union(its_own, through);
        }
        let place = &mut self.nodes[node.0 as usize];
        let is_new = (rest, union) != (place.own, place.future);
        (place.own, place.future) = (rest, union);
        self.epoch += u64::from(is_new && (node.0 as usize) < self.classified);
        is_new
    }
}
