//! A graph that takes edges one by one, stays acyclic, and always has its topological order.
//!
//! **Problem.** Insert `a -> b`, or report a cycle; keep a topological order of all nodes.
//!
//! **Source.** Pearce, Kelly, "A dynamic topological sort algorithm for directed acyclic graphs", ACM JEA 11, 2006,
//! section 3 (algorithm PK).
//!
//! **Guarantee.** Exact. The reported cycle is a shortest one through the edge refused.
//!
//! **Naive version.** A depth-first search and a full topological sort an insertion, in `tests/`.
//!
//! **Worked example.** Order 0 1 2 3, edge 0 -> 1 present; insert 3 -> 0. Nodes behind 0 and before 3 that 0 reaches: 0, 1.
//! Those that reach 3: 3. They share places 0, 1, 3: 3 takes place 0, and 0, 1 take places 1 and 3. New order: 3 0 2 1.
//!
//! **Deviations.** 1. The forward search goes breadth-first instead of depth-first: at no cost the path that closes a cycle is a
//! shortest. 2. An edge present already is found by walking the out-edges of `a` and the in-edges of `b` in step, and not stored
//! again.
//!
//! **Cost.** Nothing but the search for a double edge (the smaller of the two degrees) when `a` stands before `b`
//! already; else time in the nodes between `b` and `a` that are connected to one of them, their edges, and one sort of them.

/// A directed acyclic graph under insertion of edges; see the module.
///
/// ```
/// use anyorder_order::IncrementalDag;
///
/// let mut dag = IncrementalDag::new(3);
/// assert_eq!(dag.insert_edge(2, 1), Ok(true));
/// assert_eq!(dag.insert_edge(1, 0), Ok(true));
/// assert_eq!(dag.insert_edge(2, 1), Ok(false));
/// assert!(dag.place_of(2) < dag.place_of(1) && dag.place_of(1) < dag.place_of(0));
/// let cycle = dag.insert_edge(0, 2).expect_err("0 -> 2 -> 1 -> 0");
/// assert_eq!(cycle.nodes, [2, 1, 0]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct IncrementalDag {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// By node: its place. Inverse of `order`.
    place: Vec<u32>,
    /// The nodes in topological order.
    order: Vec<u32>,
    forward: Vec<u32>,
    backward: Vec<u32>,
    stats: IncrementalStats,
}

/// Why an edge was refused: with it there would be a cycle.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the edge closes a cycle of {} nodes", nodes.len())]
pub struct Cycle {
    /// A path of edges present, from the refused edge's target to its source. A single node when the edge is a loop.
    pub nodes: Vec<u32>,
}

/// What [`IncrementalDag`] has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IncrementalStats {
    /// Edges inserted whose nodes stood in the right order already.
    pub in_order: u64,
    /// Edges inserted that made nodes change places.
    pub reordered: u64,
    /// Nodes that changed places.
    pub nodes_moved: u64,
    /// Edges that were there already.
    pub double: u64,
    /// Edges refused.
    pub cycles: u64,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    /// The last edge out of the node and into it; `NONE` without any.
    out: u32,
    into: u32,
    /// The node from which the forward search came to this one; `NONE` outside a search.
    from: u32,
    /// Whether the backward search has been here.
    seen: bool,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: u32,
    to: u32,
    next_out: u32,
    next_into: u32,
}

impl IncrementalDag {
    /// Makes a graph of `nodes` nodes without edges; the first order is that of their numbers. O(nodes).
    #[must_use]
    pub fn new(nodes: u32) -> IncrementalDag {
        let mut dag = IncrementalDag::default();
        dag.nodes.reserve_exact(nodes as usize);
        for _ in 0..nodes {
            dag.add_node();
        }
        dag
    }

    /// Adds a node at the end of the order and returns it.
    ///
    /// # Panics
    ///
    /// Panics after 2^32 - 1 nodes.
    pub fn add_node(&mut self) -> u32 {
        let node = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        assert!(node != NONE, "nodes are numbered in 32 bits");
        self.nodes.push(Node { out: NONE, into: NONE, from: NONE, seen: false });
        self.place.push(node);
        self.order.push(node);
        node
    }

    /// Inserts `a -> b`; returns whether it is new. A refused edge leaves edges and order as they were.
    ///
    /// # Errors
    ///
    /// Fails when there is a path from `b` to `a`, or `a` is `b`.
    ///
    /// # Panics
    ///
    /// Panics when one of them is not a node, and after 2^32 - 1 edges.
    pub fn insert_edge(&mut self, a: u32, b: u32) -> Result<bool, Cycle> {
        let (place_a, place_b) = (self.place[a as usize], self.place[b as usize]);
        if a == b {
            self.stats.cycles += 1;
            return Err(Cycle { nodes: vec![a] });
        }
        if place_a < place_b {
            if self.has_edge(a, b) {
                self.stats.double += 1;
                return Ok(false);
            }
            self.stats.in_order += 1;
        } else {
            // `a -> b` cannot be there: the order would not be topological.
            self.search_forward(b, a)?;
            self.search_backward(a, place_b);
            self.reorder();
            self.stats.reordered += 1;
        }
        debug_assert!(self.place[a as usize] < self.place[b as usize]);
        self.append_edge(a, b);
        Ok(true)
    }

    /// Returns whether the edge `a -> b` was inserted. O(the smaller of the degrees).
    ///
    /// # Panics
    ///
    /// Panics when one of them is not a node.
    #[must_use]
    pub fn has_edge(&self, a: u32, b: u32) -> bool {
        let (mut out, mut into) = (self.nodes[a as usize].out, self.nodes[b as usize].into);
        while out != NONE && into != NONE {
            let (by_a, by_b) = (self.edges[out as usize], self.edges[into as usize]);
            if by_a.to == b || by_b.from == a {
                return true;
            }
            (out, into) = (by_a.next_out, by_b.next_into);
        }
        false
    }

    /// Returns the place of a node in the topological order: an edge always leads to a greater one. O(1).
    ///
    /// # Panics
    ///
    /// Panics when it is not a node.
    #[inline]
    #[must_use]
    pub fn place_of(&self, node: u32) -> u32 {
        self.place[node as usize]
    }

    /// Returns the nodes in topological order.
    #[must_use]
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Returns the targets of the edges out of a node, the last inserted first.
    ///
    /// # Panics
    ///
    /// Panics when it is not a node.
    pub fn targets(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |edge: u32| (edge != NONE).then(|| self.edges[edge as usize]);
        let first = some(self.nodes[node as usize].out);
        std::iter::successors(first, move |edge| some(edge.next_out)).map(|edge| edge.to)
    }

    /// Returns the sources of the edges into a node, the last inserted first.
    ///
    /// # Panics
    ///
    /// Panics when it is not a node.
    pub fn sources(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |edge: u32| (edge != NONE).then(|| self.edges[edge as usize]);
        let first = some(self.nodes[node as usize].into);
        std::iter::successors(first, move |edge| some(edge.next_into)).map(|edge| edge.from)
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn nodes_count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the number of edges.
    #[must_use]
    pub fn edges_count(&self) -> usize {
        self.edges.len()
    }

    /// Returns what was done so far.
    #[must_use]
    pub fn stats(&self) -> IncrementalStats {
        self.stats
    }

    /// Returns the bytes held on the heap.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.edges.capacity() * size_of::<Edge>()
            + (self.place.capacity()
                + self.order.capacity()
                + self.forward.capacity()
                + self.backward.capacity())
                * size_of::<u32>()
    }

    fn append_edge(&mut self, a: u32, b: u32) {
        let edge = u32::try_from(self.edges.len()).unwrap_or(NONE);
        assert!(edge != NONE, "edges are numbered in 32 bits");
        let next_out = std::mem::replace(&mut self.nodes[a as usize].out, edge);
        let next_into = std::mem::replace(&mut self.nodes[b as usize].into, edge);
        self.edges.push(Edge { from: a, to: b, next_out, next_into });
    }

    /// Fills `forward` with what `from` reaches before the place of `goal`.
    fn search_forward(&mut self, from: u32, goal: u32) -> Result<(), Cycle> {
        let place_max = self.place[goal as usize];
        self.forward.clear();
        self.forward.push(from);
        self.nodes[from as usize].from = from;
        let mut next = 0;
        let mut found = false;
        'search: while next < self.forward.len() {
            let node = self.forward[next];
            next += 1;
            let mut edge = self.nodes[node as usize].out;
            while edge != NONE {
                let Edge { to, next_out, .. } = self.edges[edge as usize];
                if self.nodes[to as usize].from == NONE && self.place[to as usize] <= place_max {
                    self.nodes[to as usize].from = node;
                    self.forward.push(to);
                    if to == goal {
                        found = true;
                        break 'search;
                    }
                }
                edge = next_out;
            }
        }
        let mut cycle = Vec::new();
        if found {
            cycle.push(goal);
            let mut node = goal;
            while node != from {
                node = self.nodes[node as usize].from;
                cycle.push(node);
            }
            cycle.reverse();
            self.stats.cycles += 1;
        }
        for &node in &self.forward {
            self.nodes[node as usize].from = NONE;
        }
        if found { Err(Cycle { nodes: cycle }) } else { Ok(()) }
    }

    /// Fills `backward` with what reaches `to` behind the place `place_min`.
    fn search_backward(&mut self, to: u32, place_min: u32) {
        self.backward.clear();
        self.backward.push(to);
        self.nodes[to as usize].seen = true;
        let mut next = 0;
        while next < self.backward.len() {
            let mut edge = self.nodes[self.backward[next] as usize].into;
            next += 1;
            while edge != NONE {
                let Edge { from, next_into, .. } = self.edges[edge as usize];
                let node = &mut self.nodes[from as usize];
                if !node.seen && self.place[from as usize] > place_min {
                    node.seen = true;
                    self.backward.push(from);
                }
                edge = next_into;
            }
        }
        for &node in &self.backward {
            self.nodes[node as usize].seen = false;
        }
    }

    /// Gives the places of both searches' nodes to the backward ones first, each side in its old order.
    fn reorder(&mut self) {
        let place = &mut self.place;
        self.forward.sort_unstable_by_key(|&node| place[node as usize]);
        self.backward.sort_unstable_by_key(|&node| place[node as usize]);
        let moved = || self.backward.iter().chain(&self.forward).copied();
        let mut places: Vec<u32> = moved().map(|node| place[node as usize]).collect();
        places.sort_unstable();
        self.stats.nodes_moved += places.len() as u64;
        for (node, to) in moved().zip(places) {
            place[node as usize] = to;
            self.order[to as usize] = node;
        }
    }
}
