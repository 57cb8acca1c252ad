//! The explored graph, by the numbers of states.

use anyorder_common::scc;
use anyorder_search::{FingerprintTable, ShortestPaths, Transition, UpdateLists};
use rustc_hash::FxHashMap;

/// The parent of an initial state.
pub(crate) const NO_PARENT: u32 = u32::MAX;
/// The target of an attempt that is blocked.
pub(crate) const BLOCKED: u32 = u32::MAX;
/// The target of a step that fails.
pub(crate) const FAILED: u32 = u32::MAX - 1;
/// In place of a set: the state is not expanded yet.
pub(crate) const WAITING: u32 = u32::MAX;
/// In place of a set: every ready task was attempted, so the set of all tasks is valid.
pub(crate) const FULL: u32 = u32::MAX - 1;

/// In place of a footprint: not recorded, because no one needs it.
pub(crate) const NOT_RECORDED: u32 = u32::MAX - 1;

/// One alternative of an attempt, or an attempt without any. The alternatives of one attempt are
/// adjacent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Edge {
    pub(crate) task: u32,
    pub(crate) footprint: u32,
    pub(crate) target: u32,
}

impl Edge {
    /// Returns its target state.
    #[inline]
    pub(crate) fn state(self) -> Option<u32> {
        (self.target < FAILED).then_some(self.target)
    }
}

/// How a state was first reached: by the step of a parent, or as an initial state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Link {
    pub(crate) parent: u32,
    pub(crate) task: u32,
    pub(crate) alternative: u32,
}

/// The data of a state, without the state itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) link: Link,
    pub(crate) depth: u32,
    /// The set of ready tasks.
    pub(crate) ready: u32,
    /// The set S, or [`WAITING`], or [`FULL`].
    pub(crate) inside: u32,
    edges_start: u32,
    edges_len: u32,
}

#[derive(Debug)]
pub(crate) struct Space<T> {
    pub(crate) table: FingerprintTable,
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    /// For each edge the list of its updates; empty if not requested.
    pub(crate) updates: Vec<u32>,
    pub(crate) update_lists: UpdateLists,
    /// The footprints of the observers in each state, one after the other.
    pub(crate) watched: Vec<u32>,
    /// The states that may be expanded again.
    pub(crate) kept: FxHashMap<u32, T>,
}

impl<T> Space<T> {
    pub(crate) fn new() -> Space<T> {
        Space {
            table: FingerprintTable::small(),
            nodes: Vec::new(),
            edges: Vec::new(),
            updates: Vec::new(),
            update_lists: UpdateLists::default(),
            watched: Vec::new(),
            kept: FxHashMap::default(),
        }
    }

    /// The memory in bytes, without what states point to.
    pub(crate) fn bytes(&self) -> u64 {
        let (node, kept) = (size_of::<Node>() as u64, size_of::<(u32, T)>() as u64 + 1);
        self.table.bytes()
            + self.nodes.len() as u64 * node
            + self.edges.len() as u64 * 12
            + self.updates.len() as u64 * 4
            + self.watched.len() as u64 * 4
            + self.kept.len() as u64 * kept
    }

    #[inline]
    pub(crate) fn edges(&self, number: u32) -> &[Edge] {
        let node = &self.nodes[number as usize];
        &self.edges[node.edges_start as usize..][..node.edges_len as usize]
    }

    /// Returns the number of edges, without those that were moved. Linear in the states.
    pub(crate) fn edges_in_use(&self) -> u64 {
        self.nodes.iter().map(|node| u64::from(node.edges_len)).sum()
    }

    /// Returns the index of a state's first edge.
    pub(crate) fn edges_start(&self, number: u32) -> usize {
        self.nodes[number as usize].edges_start as usize
    }

    pub(crate) fn add(&mut self, link: Link, depth: u32) {
        let (ready, inside) = (WAITING, WAITING);
        self.nodes.push(Node { link, depth, ready, inside, edges_start: 0, edges_len: 0 });
    }

    /// Starts to add edges of a state. Moves its existing edges to the end.
    pub(crate) fn open(&mut self, number: u32) -> usize {
        let (start, len) = {
            let node = &self.nodes[number as usize];
            (node.edges_start as usize, node.edges_len as usize)
        };
        let new = self.edges.len();
        self.edges.extend_from_within(start..start + len);
        if !self.updates.is_empty() {
            self.updates.extend_from_within(start..start + len);
        }
        new
    }

    /// Finishes what [`open`](Self::open) began.
    pub(crate) fn close(&mut self, number: u32, start: usize) {
        let end = self.edges.len();
        let node = &mut self.nodes[number as usize];
        node.edges_start = start as u32;
        node.edges_len = (end - start) as u32;
    }

    /// Returns the target of a task's edge, if the task has exactly one alternative and this leads
    /// to a state. `guess` is the expected position of the edge.
    #[inline]
    pub(crate) fn only(&self, number: u32, task: u32, guess: usize) -> Option<u32> {
        let edges = self.edges(number);
        // The guess is right, and the previous edge is not an alternative of the task.
        let right = edges.get(guess).is_some_and(|edge| edge.task == task)
            && guess.checked_sub(1).is_none_or(|before| edges[before].task != task);
        let at = if right { guess } else { edges.iter().position(|edge| edge.task == task)? };
        let single = edges.get(at + 1).is_none_or(|next| next.task != task);
        edges[at].state().filter(|_| single)
    }

    /// Returns the numbers of the initial states.
    pub(crate) fn initial(&self) -> impl Iterator<Item = u32> + '_ {
        let nodes = self.nodes.iter().zip(0u32..);
        nodes.filter(|(node, _)| node.link.parent == NO_PARENT).map(|(_, number)| number)
    }

    /// Returns the edges of a state with their indices.
    pub(crate) fn placed(&self, number: u32) -> impl Iterator<Item = (u32, &Edge)> {
        (self.edges_start(number) as u32..).zip(self.edges(number))
    }

    /// Returns shortest paths to all states; the numbers of transitions are the indices of their
    /// edges.
    pub(crate) fn shortest(&self) -> ShortestPaths {
        ShortestPaths::of(self.nodes.len(), self.initial(), |number| {
            self.placed(number).filter_map(|(place, edge)| Some((place, edge.state()?)))
        })
    }

    /// Returns the edges of a state with their indices and updates.
    pub(crate) fn updating(&self, number: u32) -> impl Iterator<Item = Transition> {
        self.placed(number).map(|(place, edge)| (place, edge.state(), self.updates[place as usize]))
    }

    /// Returns the choice of an edge: the number of its task, and of the alternative.
    pub(crate) fn choice(&self, number: u32, place: u32) -> (u32, u32) {
        let edges = &self.edges[self.edges_start(number)..=place as usize];
        let task = edges.last().map_or(0, |edge| edge.task);
        let same = edges.iter().rev().take_while(|edge| edge.task == task).count() as u32;
        (task, same.saturating_sub(1))
    }

    /// Returns the states of each terminal strongly connected component (one that no step leaves).
    /// Both lists are in the order of the lowest number. Linear.
    ///
    /// The state with the greatest number in a terminal component has no edge to a greater number.
    /// Only what such states reach is visited: in a graph without cycles, whose states are numbered
    /// as they are found, almost nothing.
    pub(crate) fn terminal_components(&self) -> Vec<Vec<u32>> {
        let targets = |number: u32| self.edges(number).iter().filter_map(|edge| edge.state());
        let states = self.nodes.len();
        let roots = (0..states as u32).filter(|root| !targets(*root).any(|target| target > *root));
        let mut found: Vec<Vec<u32>> = Vec::new();
        scc::components(states, roots, targets, |component| {
            if component.is_terminal {
                let mut members = component.members.to_vec();
                members.sort_unstable();
                found.push(members);
            }
        });
        found.sort_unstable_by_key(|members| members[0]);
        found
    }
}
