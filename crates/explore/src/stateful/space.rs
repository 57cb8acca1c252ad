//! The explored graph: what is known of each state, by its number.

use super::table::Table;
use anyorder_system::{Update, tidy_updates};
use rustc_hash::FxHashMap;

/// The parent of an initial state.
pub(crate) const NO_PARENT: u32 = u32::MAX;
/// The target of an attempt that is blocked.
pub(crate) const BLOCKED: u32 = u32::MAX;
/// The target of a step that fails.
pub(crate) const FAILED: u32 = u32::MAX - 1;
/// In place of a set: not gone on from yet.
pub(crate) const WAITING: u32 = u32::MAX;
/// In place of a set: every ready task was attempted, so the set may be taken to hold all tasks.
pub(crate) const FULL: u32 = u32::MAX - 1;

/// In place of a footprint: nobody will ask for it.
pub(crate) const UNNOTED: u32 = u32::MAX - 1;

/// One alternative of an attempt, or an attempt without any. Those of one attempt follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Edge {
    pub(crate) task: u32,
    pub(crate) footprint: u32,
    pub(crate) target: u32,
}

impl Edge {
    /// Returns the state that it leads to.
    #[inline]
    pub(crate) fn state(self) -> Option<u32> {
        (self.target < FAILED).then_some(self.target)
    }
}

/// How a state was reached first: the step of a parent, or the place among the initial states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Link {
    pub(crate) parent: u32,
    pub(crate) task: u32,
    pub(crate) alternative: u32,
}

/// What is kept of a state, besides the state itself.
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
    pub(crate) table: Table,
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    /// For each edge the list of its updates; empty when nobody asks.
    pub(crate) updates: Vec<u32>,
    pub(crate) update_lists: UpdateLists,
    /// The footprints of the observers in each state, one after the other.
    pub(crate) watched: Vec<u32>,
    /// The states that may be gone on from again.
    pub(crate) kept: FxHashMap<u32, T>,
}

impl<T> Space<T> {
    pub(crate) fn new() -> Space<T> {
        Space {
            table: Table::new(),
            nodes: Vec::new(),
            edges: Vec::new(),
            updates: Vec::new(),
            update_lists: UpdateLists::default(),
            watched: Vec::new(),
            kept: FxHashMap::default(),
        }
    }

    /// The bytes taken, without what states point to.
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

    /// Returns the place of a state's first edge among all.
    pub(crate) fn edges_start(&self, number: u32) -> usize {
        self.nodes[number as usize].edges_start as usize
    }

    pub(crate) fn add(&mut self, link: Link, depth: u32) -> u32 {
        self.nodes.push(Node {
            link,
            depth,
            ready: WAITING,
            inside: WAITING,
            edges_start: 0,
            edges_len: 0,
        });
        (self.nodes.len() - 1) as u32
    }

    /// Begins to add edges of a state: those that it has are moved to the end.
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

    /// Ends what [`open`](Self::open) began.
    pub(crate) fn close(&mut self, number: u32, start: usize) {
        let end = self.edges.len();
        let node = &mut self.nodes[number as usize];
        node.edges_start = start as u32;
        node.edges_len = (end - start) as u32;
    }

    /// Returns where the edge of a task leads that has exactly one alternative, which leads to a state. The place of the edge may be guessed.
    #[inline]
    pub(crate) fn only(&self, number: u32, task: u32, guess: usize) -> Option<u32> {
        let edges = self.edges(number);
        // Where the guess is right, and no alternative of the task comes before.
        let right = edges.get(guess).is_some_and(|edge| edge.task == task)
            && guess.checked_sub(1).is_none_or(|before| edges[before].task != task);
        let at = if right { guess } else { edges.iter().position(|edge| edge.task == task)? };
        let single = edges.get(at + 1).is_none_or(|next| next.task != task);
        edges[at].state().filter(|_| single)
    }
}

/// The updates of steps, each list once: in the form that [`tidy_updates`] gives it. The first is empty.
#[derive(Debug)]
pub(crate) struct UpdateLists {
    pub(crate) lists: Vec<Box<[Update]>>,
    known: FxHashMap<Box<[Update]>, u32>,
    tidied: Vec<Update>,
}

impl Default for UpdateLists {
    fn default() -> UpdateLists {
        let mut new =
            UpdateLists { lists: Vec::new(), known: FxHashMap::default(), tidied: Vec::new() };
        new.intern(&[]);
        new
    }
}

impl UpdateLists {
    pub(crate) fn intern(&mut self, list: &[Update]) -> u32 {
        let mut tidied = std::mem::take(&mut self.tidied);
        tidied.clear();
        tidied.extend_from_slice(list);
        tidy_updates(&mut tidied);
        let number = self.intern_tidied(&tidied);
        self.tidied = tidied;
        number
    }

    fn intern_tidied(&mut self, list: &[Update]) -> u32 {
        if let Some(known) = self.known.get(list) {
            return *known;
        }
        let number = self.lists.len() as u32;
        self.lists.push(list.into());
        self.known.insert(list.into(), number);
        number
    }
}
