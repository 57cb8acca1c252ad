//! The memo: for each kind of step, a tree of what it reads.
//!
//! **Problem.** A step is a deterministic program: its first read is fixed, and each next read
//! follows from the values read before. So its executions form a tree. Inner nodes are places to
//! read, edges are the values found there, and leaves hold the results of the step. **Guarantee.**
//! Lookups compare values, not hashes: they return what an execution would return. Failures and
//! steps with choices are not memoized. **Cost.** One comparison for each read, instead of an
//! execution. [`NODES_MAX`] bounds the memory. A place where new values keep coming is closed.
//!
//! Example: the guard `tm == Init && prepared[i]`, for the member `i = 2`, first reads `tm`. The
//! edge `Committed` leads to the leaf "no transition". The edge `Init` leads to the place
//! `prepared[2]`, which has an edge to a leaf for each truth value.

use super::leaf::{Leaf, StepResult};
use super::place::ReadPlace;
use crate::state::{State, StepId};
use crate::value::Value;
use rustc_hash::FxHashMap;

/// Most nodes and leaves of a memo.
const NODES_MAX: usize = 1 << 17;

/// A place with more values than this must have had enough hits to stay open.
const TRIAL: usize = 256;

/// A place with more values than this finds them by their hash.
const FEW: usize = 6;

/// Where a lookup starts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Root {
    /// A member of an event.
    Event(u32),
    /// A task.
    Task(u16),
    /// A property.
    Function(u16),
}

impl Root {
    #[inline]
    fn place(self) -> (usize, usize) {
        match self {
            Root::Event(member) => (0, member as usize),
            Root::Task(task) => (1, usize::from(task)),
            Root::Function(function) => (2, usize::from(function)),
        }
    }
}

/// The result of a lookup.
pub(crate) enum Found<'m> {
    /// The step is remembered.
    Known(&'m mut Leaf),
    /// The step is not remembered. The caller should record it.
    New,
    /// The step is not worth recording.
    Closed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Child {
    Missing,
    Node(u32),
    Leaf(u32),
}

#[derive(Debug)]
struct Node {
    place: ReadPlace,
    /// The values found there, while there are few.
    few: Vec<(Value, Child)>,
    /// The values by half of their hash, when there are more. A value whose half hash is taken is
    /// not remembered.
    many: FxHashMap<u64, (Value, Child)>,
    /// The number of lookups that found a value here.
    hits: usize,
    closed: bool,
}

/// The steps of a machine that a thread remembers.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// The roots by kind and number.
    roots: [Vec<Child>; 3],
    nodes: Vec<Node>,
    /// A buffer for the candidates of a state, reused from state to state.
    pub(crate) candidates: Vec<StepId>,
    leaves: Vec<Leaf>,
}

impl Node {
    #[inline]
    fn child(&mut self, value: &Value) -> Child {
        let found = if self.many.is_empty() {
            // Most values are small. They are compared in place.
            let small = value.is_small();
            let is = |v: &Value| v.is_identical(value) || (!small && v == value);
            self.few.iter().find(|(v, _)| is(v)).map(|(_, next)| *next)
        } else {
            let found = self.many.get(&(value.hash() as u64));
            found.filter(|(v, _)| v == value).map(|(_, next)| *next)
        };
        self.hits += usize::from(found.is_some());
        found.unwrap_or(Child::Missing)
    }

    fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }

    /// Sets the child for a value. Returns false if there is no room for it.
    fn set_child(&mut self, value: &Value, next: Child) -> bool {
        if self.many.is_empty() {
            if let Some((_, old)) = self.few.iter_mut().find(|(v, _)| v == value) {
                *old = next;
                return true;
            }
            if self.few.len() < FEW {
                self.few.push((value.clone(), next));
                return true;
            }
            for (value, next) in std::mem::take(&mut self.few) {
                self.many.entry(value.hash() as u64).or_insert((value, next));
            }
        }
        if self.len() >= TRIAL && self.hits < 2 * self.len() {
            self.closed = true;
            return false;
        }
        let entry = self.many.entry(value.hash() as u64).or_insert_with(|| (value.clone(), next));
        if entry.0 != *value {
            return false;
        }
        entry.1 = next;
        true
    }
}

impl Memo {
    fn root(&self, root: Root) -> Child {
        let (kind, at) = root.place();
        self.roots[kind].get(at).copied().unwrap_or(Child::Missing)
    }

    fn root_mut(&mut self, root: Root) -> &mut Child {
        let (kind, at) = root.place();
        let list = &mut self.roots[kind];
        if list.len() <= at {
            list.resize(at + 1, Child::Missing);
        }
        &mut list[at]
    }

    /// Looks a step up: by what it reads, place by place.
    #[inline]
    pub(crate) fn find(&mut self, root: Root, state: &State, args: &Value) -> Found<'_> {
        let globals = state.globals();
        let mut next = self.root(root);
        loop {
            match next {
                Child::Leaf(leaf) => return Found::Known(&mut self.leaves[leaf as usize]),
                Child::Node(node) => {
                    let node = &mut self.nodes[node as usize];
                    // If the element does not exist, an execution finds out what that means.
                    let Some(value) = node.place.read(globals, args) else { return Found::Closed };
                    next = node.child(value);
                    if next == Child::Missing && node.closed {
                        return Found::Closed;
                    }
                }
                Child::Missing if self.is_full() => return Found::Closed,
                Child::Missing => return Found::New,
            }
        }
    }

    fn is_full(&self) -> bool {
        self.nodes.len() + self.leaves.len() >= NODES_MAX
    }

    /// Remembers a step.
    pub(crate) fn keep(&mut self, root: Root, reads: &[(ReadPlace, Value)], result: StepResult) {
        // The last node, and the value whose edge leads on.
        let mut at: Option<(u32, &Value)> = None;
        let mut next = self.root(root);
        for (place, value) in reads {
            let node = match next {
                Child::Node(node) => node,
                Child::Missing => {
                    let node = self.nodes.len() as u32;
                    let place = place.clone();
                    let (few, many) = (Vec::new(), FxHashMap::default());
                    self.nodes.push(Node { place, few, many, hits: 0, closed: false });
                    if !self.link(root, at, Child::Node(node)) {
                        self.nodes.pop();
                        return;
                    }
                    node
                }
                // A leaf has fewer reads. It is the same step, or the tree would be wrong.
                Child::Leaf(_) => return,
            };
            if self.nodes[node as usize].place != *place {
                debug_assert!(false, "a step reads another place after the same values");
                return;
            }
            next = self.nodes[node as usize].child(value);
            at = Some((node, value));
        }
        if next == Child::Missing {
            let leaf = self.leaves.len() as u32;
            if self.link(root, at, Child::Leaf(leaf)) {
                self.leaves.push(Leaf { result, reads: reads.into(), footprint: None });
            }
        }
    }

    fn link(&mut self, root: Root, at: Option<(u32, &Value)>, next: Child) -> bool {
        match at {
            Some((node, value)) => self.nodes[node as usize].set_child(value, next),
            None => {
                *self.root_mut(root) = next;
                true
            }
        }
    }
}
