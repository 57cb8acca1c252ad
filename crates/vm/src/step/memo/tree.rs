//! The memory: for each kind of step a tree of what it reads.
//!
//! **Problem.** A step is a deterministic program: what it reads first is fixed, and what it reads next follows from what it has
//! read. So its executions form a tree: inner nodes are places to look at, edges are values found there, and leaves say what
//! the step does. **Guarantee.** Values are compared, not their hashes: what is found is what execution would give. Failures and steps with
//! choices are not remembered. **Cost.** A comparison for each place read, instead of the execution; memory is bounded by
//! [`NODES_MAX`], and a place where new values keep coming is given up.
//!
//! Example: a guard `tm == Init && prepared[i]`, for the member `i = 2`, first looks at `tm`. From the edge `Committed` comes the leaf "does
//! not happen"; from the edge `Init` the place `prepared[2]`, with an edge to a leaf for each truth value.

use super::leaf::{Ending, Leaf};
use super::place::Place;
use crate::state::State;
use crate::value::Value;
use crate::walk::Move;
use rustc_hash::FxHashMap;

/// How many nodes and leaves a memory may have.
const NODES_MAX: usize = 1 << 17;

/// A place with more values than this has to have been worth it so far.
const TRIAL: usize = 256;

/// With more values than this, a place finds them by their hash.
const FEW: usize = 6;

/// What begins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Root {
    /// A member of an event.
    Event(u32),
    /// A task.
    Task(u16),
    /// A property.
    Function(u16),
}

/// What the memory says.
pub(crate) enum Found<'m> {
    /// It has happened before.
    Known(&'m mut Leaf),
    /// It has not; it should be recorded.
    New,
    /// It is not worth recording.
    Closed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    Nothing,
    Node(u32),
    Leaf(u32),
}

#[derive(Debug)]
struct Node {
    place: Place,
    /// The values found there, while they are few.
    few: Vec<(Value, Next)>,
    /// By half of their hash, when they are more. One whose half hash is taken is not remembered.
    many: FxHashMap<u64, (Value, Next)>,
    /// How often a value was found here.
    hits: usize,
    closed: bool,
}

/// What a thread remembers of the steps of a machine.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    events: Vec<Next>,
    tasks: Vec<Next>,
    functions: Vec<Next>,
    nodes: Vec<Node>,
    /// Room for the candidates of a state, from one to the next.
    pub(crate) candidates: Vec<Move>,
    leaves: Vec<Leaf>,
}

impl Node {
    #[inline]
    fn child(&mut self, value: &Value) -> Next {
        let found = if self.many.is_empty() {
            // Most values are small, and compared in place.
            let small = value.is_small();
            let is = |v: &Value| v.is_same(value) || (!small && v == value);
            self.few.iter().find(|(v, _)| is(v)).map(|(_, next)| *next)
        } else {
            let found = self.many.get(&(value.hash() as u64));
            found.filter(|(v, _)| v == value).map(|(_, next)| *next)
        };
        self.hits += usize::from(found.is_some());
        found.unwrap_or(Next::Nothing)
    }

    fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }

    /// Sets where a value leads; false where there is no room for it.
    fn set_child(&mut self, value: &Value, next: Next) -> bool {
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
    fn root(&self, root: Root) -> Next {
        let next = match root {
            Root::Event(member) => self.events.get(member as usize),
            Root::Task(task) => self.tasks.get(usize::from(task)),
            Root::Function(function) => self.functions.get(usize::from(function)),
        };
        next.copied().unwrap_or(Next::Nothing)
    }

    fn root_mut(&mut self, root: Root) -> &mut Next {
        let (list, at) = match root {
            Root::Event(member) => (&mut self.events, member as usize),
            Root::Task(task) => (&mut self.tasks, usize::from(task)),
            Root::Function(function) => (&mut self.functions, usize::from(function)),
        };
        if list.len() <= at {
            list.resize(at + 1, Next::Nothing);
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
                Next::Leaf(leaf) => return Found::Known(&mut self.leaves[leaf as usize]),
                Next::Node(node) => {
                    let node = &mut self.nodes[node as usize];
                    // Where there is nothing to look at, execution says what that means.
                    let Some(value) = node.place.look(globals, args) else { return Found::Closed };
                    next = node.child(value);
                    if next == Next::Nothing && node.closed {
                        return Found::Closed;
                    }
                }
                Next::Nothing if self.is_full() => return Found::Closed,
                Next::Nothing => return Found::New,
            }
        }
    }

    fn is_full(&self) -> bool {
        self.nodes.len() + self.leaves.len() >= NODES_MAX
    }

    /// Remembers a step.
    pub(crate) fn keep(&mut self, root: Root, reads: &[(Place, Value)], ending: Ending) {
        // The last node met and the value that leads on from it.
        let mut at: Option<(u32, &Value)> = None;
        let mut next = self.root(root);
        for (place, value) in reads {
            let node = match next {
                Next::Node(node) => node,
                Next::Nothing => {
                    let node = self.nodes.len() as u32;
                    let place = place.clone();
                    let (few, many) = (Vec::new(), FxHashMap::default());
                    self.nodes.push(Node { place, few, many, hits: 0, closed: false });
                    if !self.link(root, at, Next::Node(node)) {
                        self.nodes.pop();
                        return;
                    }
                    node
                }
                // Something is remembered that read less: it is the same step, or none of this would be right.
                Next::Leaf(_) => return,
            };
            if self.nodes[node as usize].place != *place {
                debug_assert!(false, "a step reads another place after the same values");
                return;
            }
            next = self.nodes[node as usize].child(value);
            at = Some((node, value));
        }
        if next == Next::Nothing {
            let leaf = self.leaves.len() as u32;
            if self.link(root, at, Next::Leaf(leaf)) {
                self.leaves.push(Leaf { ending, reads: reads.into(), touching: None });
            }
        }
    }

    fn link(&mut self, root: Root, at: Option<(u32, &Value)>, next: Next) -> bool {
        match at {
            Some((node, value)) => self.nodes[node as usize].set_child(value, next),
            None => {
                *self.root_mut(root) = next;
                true
            }
        }
    }
}
