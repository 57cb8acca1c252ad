//! Reachability that stays right while edges are added, for rules that need a fixpoint.
//!
//! **Problem.** Nodes stand on chains; edges come one by one, some of them because of what earlier ones made reachable.
//! After each, say which nodes have new predecessors, and answer "does `a` reach `b`?" in O(1).
//!
//! **Source.** Incremental transitive closure after Italiano, "Amortized efficiency of a path retrieval data structure",
//! TCS 48, 1986, with a clock over chains in the place of a row of bits.
//!
//! **Guarantee.** Exact. Edges that are implied already are not kept; edges that would close a cycle are refused.
//!
//! **Naive version.** Boolean closure after each insertion, in `tests/`.
//!
//! **Worked example.** Chain 0 is 0, 1; chain 1 is 2, 3. Insert 0 -> 3: node 3 learns "1 of chain 0" and is reported. Insert 1 -> 2: node 2
//! learns "2 of chain 0"; so does node 3 behind it; both are reported. Insert 0 -> 2: implied, nothing to do. Insert 3 -> 0:
//! refused, the path 0 -> 1 -> 2 -> 3 stands against it.
//!
//! **Why one pass an insertion is enough.** Clocks are closed before: whoever is reached from `b` knows what `b` knows. So the new edge `a -> b`
//! teaches every node behind `b` the same thing, what `a` knows and `a` itself; and a node that `a` reached
//! before needs nothing, nor does anything behind it. Each node is visited once, in any order.
//!
//! **Deviations.** Clocks lie in a [`ClockStore`]; those replaced are garbage there until it is compacted, which is done when half of it
//! may be garbage.
//!
//! **Cost.** An insertion visits the nodes that it changes and the edges out of them, with a join for each. A node changes at most once for every
//! node that comes to reach it, in practice once for every chain and round of the fixpoint.

use crate::clock::ChainId;
use crate::dag::Dag;
use crate::incremental_dag::Cycle;
use crate::reach::Reachability;
use crate::store::{ClockRef, ClockStore, StoreFull, StoreStats};
use std::collections::{HashMap, VecDeque};

/// Reachability under insertion of edges; see the module for method and cost.
///
/// ```
/// use anyorder_order::{ChainId, IncrementalReachability};
///
/// let mut reach = IncrementalReachability::new();
/// let [a, b] = [ChainId(0), ChainId(1)];
/// let (a1, a2) = (reach.add_node(a), reach.add_node(a));
/// let (b1, b2) = (reach.add_node(b), reach.add_node(b));
/// let mut changed = Vec::new();
/// assert_eq!(reach.insert(a2, b1, &mut changed), Ok(true));
/// assert_eq!(changed, [b1, b2]);
/// assert!(reach.reaches(a1, b2));
/// assert_eq!(reach.insert(a1, b1, &mut changed), Ok(false));
/// assert!(reach.insert(b2, a1, &mut changed).is_err());
/// ```
#[derive(Clone, Debug, Default)]
pub struct IncrementalReachability {
    places: Vec<Place>,
    /// By chain: its nodes in order.
    chains: Vec<Vec<u32>>,
    /// By node: what it knows of other chains. The entry of its own chain may be too low, and is never asked.
    clocks: Vec<ClockRef>,
    store: ClockStore,
    edges: Vec<Edge>,
    /// Nodes of the store after the last compaction.
    live: usize,
    worklist: Vec<u32>,
    /// The nodes changed by the insertion under way, with their clocks before.
    undo: Vec<(u32, ClockRef)>,
    stats: InsertStats,
}

/// What [`IncrementalReachability`] has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InsertStats {
    /// Edges inserted that made something newly reachable.
    pub inserted: u64,
    /// Edges that were implied already.
    pub implied: u64,
    /// Edges refused because of a cycle.
    pub cycles: u64,
    /// Changes of nodes, over all insertions.
    pub nodes_changed: u64,
    /// Visits to nodes that knew already.
    pub visits_pruned: u64,
    /// Changes that took over the new clock of the node visited before.
    pub clocks_reused: u64,
}

/// Why an edge was not inserted. The closure is as it was before.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InsertError {
    /// It would close a cycle.
    #[error(transparent)]
    Cycle(#[from] Cycle),
    /// The clocks would pass the memory limit.
    #[error(transparent)]
    Memory(#[from] StoreFull),
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Place {
    chain: ChainId,
    /// From 1.
    position: u32,
    /// The last edge inserted out of the node, or `NONE`.
    out: u32,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: u32,
    next_out: u32,
}

impl IncrementalReachability {
    /// Starts without nodes and without a memory limit.
    #[must_use]
    pub fn new() -> IncrementalReachability {
        IncrementalReachability::default()
    }

    /// Starts without nodes; the clocks take at most `clocks_bytes_max` bytes.
    #[must_use]
    pub fn with_memory_max(clocks_bytes_max: usize) -> IncrementalReachability {
        let store = ClockStore::with_memory_max(clocks_bytes_max);
        IncrementalReachability { store, ..IncrementalReachability::default() }
    }

    /// Goes on from a static closure: much faster than to insert its edges one by one. Nodes and chains keep their numbers.
    /// O(nodes + edges).
    ///
    /// # Panics
    ///
    /// Panics when `reach` was not built of `dag`'s number of nodes, and on 2^32 - 1 edges.
    #[must_use]
    pub fn from_static(dag: &Dag, reach: Reachability) -> IncrementalReachability {
        assert_eq!(dag.nodes_count(), reach.nodes_count(), "closure of another graph");
        let (chains, clocks, store) = reach.into_parts();
        let mut result = IncrementalReachability::new();
        result.live = store.nodes_count();
        (result.clocks, result.store) = (clocks, store);
        result.chains = vec![Vec::new(); chains.chains_count()];
        for node in 0..dag.nodes_count() {
            let (chain, position) = (chains.chain_of(node), chains.position_of(node));
            result.places.push(Place { chain, position, out: NONE });
            let previous = result.chains[chain.index()].last().copied();
            result.chains[chain.index()].push(node);
            for &source in dag.sources(node) {
                // The chain itself says as much.
                if previous != Some(source) {
                    result.append_edge(source, node);
                }
            }
        }
        result
    }

    /// Adds a node behind all nodes of a chain, reached by what reaches the last of them, and returns it. Chains are to be numbered densely.
    /// O(1).
    ///
    /// # Panics
    ///
    /// Panics after 2^32 - 1 nodes.
    pub fn add_node(&mut self, chain: ChainId) -> u32 {
        let node = u32::try_from(self.places.len()).unwrap_or(NONE);
        assert!(node != NONE, "nodes are numbered in 32 bits");
        if chain.index() >= self.chains.len() {
            self.chains.resize_with(chain.index() + 1, Vec::new);
        }
        let nodes = &mut self.chains[chain.index()];
        let clock = nodes.last().map_or(ClockRef::EMPTY, |&last| self.clocks[last as usize]);
        nodes.push(node);
        let position = nodes.len() as u32;
        self.places.push(Place { chain, position, out: NONE });
        self.clocks.push(clock);
        node
    }

    /// Inserts `a -> b`; returns whether it made anything newly reachable. The nodes that have new predecessors are
    /// appended to `changed`, each once.
    ///
    /// # Errors
    ///
    /// Fails when `b` reaches `a` or is `a`, and when the memory limit is reached. Then nothing has changed.
    ///
    /// # Panics
    ///
    /// Panics when one of them is not a node, and after 2^32 - 1 edges.
    pub fn insert(&mut self, a: u32, b: u32, changed: &mut Vec<u32>) -> Result<bool, InsertError> {
        if a == b || self.reaches(b, a) {
            self.stats.cycles += 1;
            return Err(Cycle { nodes: self.path(b, a) }.into());
        }
        if self.reaches(a, b) {
            self.stats.implied += 1;
            return Ok(false);
        }
        if self.store.nodes_count() > 2 * self.live + COMPACT_NODES_MIN {
            self.compact();
        }
        if self.propagate(a, b).is_err() {
            self.roll_back();
            self.compact();
            self.propagate(a, b).inspect_err(|_| self.roll_back())?;
        }
        self.append_edge(a, b);
        self.stats.inserted += 1;
        self.stats.nodes_changed += self.undo.len() as u64;
        changed.extend(self.undo.drain(..).map(|(node, _)| node));
        debug_assert!(self.reaches(a, b) && !self.reaches(b, a));
        Ok(true)
    }

    /// Returns whether a path of at least one step, along chains and edges, leads from `a` to `b`. O(1).
    ///
    /// # Panics
    ///
    /// Panics when one of them is not a node.
    #[inline]
    #[must_use]
    pub fn reaches(&self, a: u32, b: u32) -> bool {
        let (a, to) = (&self.places[a as usize], &self.places[b as usize]);
        if a.chain == to.chain {
            a.position < to.position
        } else {
            a.position <= self.store.get(self.clocks[b as usize], a.chain)
        }
    }

    /// Returns how many nodes of a chain reach `node`: the first so many. O(1).
    ///
    /// # Panics
    ///
    /// Panics when it is not a node.
    #[inline]
    #[must_use]
    pub fn known(&self, node: u32, chain: ChainId) -> u32 {
        let place = &self.places[node as usize];
        if place.chain == chain {
            place.position - 1
        } else {
            self.store.get(self.clocks[node as usize], chain)
        }
    }

    /// Returns the first node of a chain that `node` reaches. O(log of the chain's length).
    ///
    /// # Panics
    ///
    /// Panics when it is not a node.
    #[must_use]
    pub fn first_reached(&self, node: u32, chain: ChainId) -> Option<u32> {
        let nodes = self.chains.get(chain.index())?;
        nodes.get(nodes.partition_point(|&other| !self.reaches(node, other))).copied()
    }

    /// Returns the nodes of a chain in order; none for an unknown chain.
    #[must_use]
    pub fn nodes_of(&self, chain: ChainId) -> &[u32] {
        self.chains.get(chain.index()).map_or(&[], Vec::as_slice)
    }

    /// Returns the chain of a node and its position there, from 1. O(1).
    ///
    /// # Panics
    ///
    /// Panics when it is not a node.
    #[must_use]
    pub fn place_of(&self, node: u32) -> (ChainId, u32) {
        let place = &self.places[node as usize];
        (place.chain, place.position)
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn nodes_count(&self) -> usize {
        self.places.len()
    }

    /// Returns the number of chains.
    #[must_use]
    pub fn chains_count(&self) -> usize {
        self.chains.len()
    }

    /// Returns what was done so far.
    #[must_use]
    pub fn stats(&self) -> InsertStats {
        self.stats
    }

    /// Returns what the clocks share.
    #[must_use]
    pub fn store_stats(&self) -> StoreStats {
        self.store.stats()
    }

    /// Returns the bytes held on the heap.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.places.capacity() * size_of::<Place>()
            + self.chains.capacity() * size_of::<Vec<u32>>()
            + self.chains.iter().map(|nodes| nodes.capacity() * size_of::<u32>()).sum::<usize>()
            + self.clocks.capacity() * size_of::<ClockRef>()
            + self.edges.capacity() * size_of::<Edge>()
            + self.worklist.capacity() * size_of::<u32>()
            + self.undo.capacity() * size_of::<(u32, ClockRef)>()
            + self.store.memory_bytes()
    }

    fn append_edge(&mut self, from: u32, to: u32) {
        let edge = u32::try_from(self.edges.len()).unwrap_or(NONE);
        assert!(edge != NONE, "edges are numbered in 32 bits");
        let next_out = std::mem::replace(&mut self.places[from as usize].out, edge);
        self.edges.push(Edge { to, next_out });
    }

    /// Teaches `b`, and all that is behind it, what `a` knows and `a` itself.
    fn propagate(&mut self, a: u32, b: u32) -> Result<(), StoreFull> {
        debug_assert!(self.undo.is_empty());
        let Place { chain, position, .. } = self.places[a as usize];
        let mut edit = self.store.edit(self.clocks[a as usize]);
        edit.raise(chain, position)?;
        let news = edit.finish();
        let mut last = (ClockRef::EMPTY, news);
        self.worklist.clear();
        self.worklist.push(b);
        while let Some(node) = self.worklist.pop() {
            if self.reaches(a, node) {
                self.stats.visits_pruned += 1;
                continue;
            }
            let old = self.clocks[node as usize];
            // Neighbours on a chain often have one clock: then they have one clock again.
            let new = if old == last.0 {
                self.stats.clocks_reused += 1;
                last.1
            } else {
                let mut edit = self.store.edit(old);
                edit.join(news)?;
                edit.finish()
            };
            last = (old, new);
            self.clocks[node as usize] = new;
            self.undo.push((node, old));
            let Place { chain, position, out } = self.places[node as usize];
            let mut edge = out;
            while edge != NONE {
                let Edge { to, next_out } = self.edges[edge as usize];
                self.worklist.push(to);
                edge = next_out;
            }
            // The next of the chain goes on top, so that it comes next. Positions count from 1.
            self.worklist.extend(self.chains[chain.index()].get(position as usize));
        }
        Ok(())
    }

    fn roll_back(&mut self) {
        while let Some((node, old)) = self.undo.pop() {
            self.clocks[node as usize] = old;
        }
    }

    fn compact(&mut self) {
        self.store.compact(&mut self.clocks);
        self.live = self.store.nodes_count();
    }

    /// Returns a shortest path from `from` to `to` over chains and edges, which must be there or be empty. O(what lies
    /// between them).
    fn path(&self, from: u32, to: u32) -> Vec<u32> {
        let mut came_from = HashMap::from([(from, from)]);
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            if node == to {
                break;
            }
            let Place { chain, position, out } = self.places[node as usize];
            let mut visit = |next: u32| {
                if (next == to || self.reaches(next, to)) && !came_from.contains_key(&next) {
                    came_from.insert(next, node);
                    queue.push_back(next);
                }
            };
            if let Some(&next) = self.chains[chain.index()].get(position as usize) {
                visit(next);
            }
            let mut edge = out;
            while edge != NONE {
                let Edge { to, next_out } = self.edges[edge as usize];
                visit(to);
                edge = next_out;
            }
        }
        let mut path = vec![to];
        while let Some(&node) = path.last() {
            match came_from.get(&node) {
                Some(&previous) if node != from => path.push(previous),
                _ => break,
            }
        }
        path.reverse();
        path
    }
}

/// A store with fewer nodes than this is not worth compacting.
const COMPACT_NODES_MIN: usize = 1 << 12;
