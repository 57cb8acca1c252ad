//! The problem: chains of nodes, given orders, and blocks that exclude one another.

/// An event: a dense number. The nodes of a chain are consecutive numbers, in their order.
pub type Node = u32;

/// The caller's name for a given order. The solver only returns it in explanations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tag(pub u32);

/// A resource that one block at a time can hold: a machine, a lock, an event loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Resource(pub(crate) u32);

/// A part of a chain that holds a resource from its first node to its last one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Block(pub(crate) u32);

impl Block {
    /// Returns the number of the block: blocks are numbered from 0 in order of addition.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The rank of a block in the queue of its resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rank {
    /// It goes before all that entered later with the same level or a higher one.
    Level(u64),
    /// It goes before all blocks with a level that entered later. Two blocks at the front are
    /// unordered.
    Front,
}

impl Rank {
    /// Returns whether a block of rank `first` must hold the resource before one of rank `second`
    /// if it entered before it.
    #[must_use]
    pub const fn keeps(first: Rank, second: Rank) -> bool {
        match (first, second) {
            (Rank::Level(first), Rank::Level(second)) => first <= second,
            (Rank::Front, Rank::Level(_)) => true,
            (_, Rank::Front) => false,
        }
    }
}

/// The node at which a block enters the queue of its resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The node. It comes before the first node of the block, and may be on another chain.
    pub node: Node,
    /// The rank in the queue.
    pub rank: Rank,
    /// The name of the order "entry before the block's first node" in explanations.
    pub tag: Tag,
}

/// Why an addition to a problem was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProblemError {
    /// No chain has this node.
    #[error("there is no node {0}")]
    NoNode(Node),
    /// The first and last node of a block are not in order on one chain.
    #[error("the block from node {first} to node {last} is not a part of one chain")]
    NotAPart {
        /// The first node of the block.
        first: Node,
        /// Its last node.
        last: Node,
    },
    /// A node was ordered before itself.
    #[error("node {0} cannot come before itself")]
    SameNode(Node),
    /// The number of nodes, edges or blocks does not fit into 32 bits.
    #[error("more than 2^31 {0}")]
    TooMany(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) from: Node,
    pub(crate) to: Node,
    pub(crate) tag: Tag,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockData {
    pub(crate) resource: u32,
    pub(crate) first: Node,
    pub(crate) last: Node,
    pub(crate) entry: Option<Entry>,
}

/// Chains of nodes, given orders between them, and blocks that exclude one another.
///
/// Its constraints hold in every solution: every chain is in order, every given order holds, and of
/// any two blocks of one resource, one comes wholly before the other. Where both blocks have an
/// [`Entry`], the order of the entries binds the order of the blocks as [`Rank::keeps`] defines:
/// with equal levels the resource serves first come, first served.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    pub(crate) chain_ends: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) resources: u32,
    pub(crate) blocks: Vec<BlockData>,
    pub(crate) preferred: Option<Vec<u32>>,
}

const MOST: usize = 1 << 31;

impl Problem {
    /// Makes a problem without nodes.
    #[must_use]
    pub fn new() -> Problem {
        Problem::default()
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.chain_ends.last().copied().unwrap_or(0)
    }

    /// Adds a chain of `len` nodes, which get the next free numbers, and returns the first of them.
    ///
    /// # Errors
    ///
    /// Fails when there are too many nodes.
    pub fn chain(&mut self, len: u32) -> Result<Node, ProblemError> {
        let start = self.nodes();
        let end = start.checked_add(len).filter(|end| (*end as usize) < MOST);
        self.chain_ends.push(end.ok_or(ProblemError::TooMany("nodes"))?);
        Ok(start)
    }

    /// Requires that `from` comes before `to`.
    ///
    /// # Errors
    ///
    /// Fails when there is no such node, or there are too many edges.
    pub fn before(&mut self, from: Node, to: Node, tag: Tag) -> Result<(), ProblemError> {
        self.check(from)?;
        self.check(to)?;
        if self.edges.len() >= MOST {
            return Err(ProblemError::TooMany("edges"));
        }
        self.edges.push(Edge { from, to, tag });
        Ok(())
    }

    /// Adds a resource.
    pub fn resource(&mut self) -> Resource {
        self.resources += 1;
        Resource(self.resources - 1)
    }

    /// Adds a block that holds `resource` from `first` to `last`, two nodes of one chain (or one
    /// node twice).
    ///
    /// # Errors
    ///
    /// Fails when a node does not exist, when the nodes are not in order on one chain, or when
    /// there are too many blocks.
    pub fn block(
        &mut self,
        resource: Resource,
        first: Node,
        last: Node,
        entry: Option<Entry>,
    ) -> Result<Block, ProblemError> {
        for node in [Some(first), Some(last), entry.map(|entry| entry.node)].into_iter().flatten() {
            self.check(node)?;
        }
        if first > last || self.chain_of(first) != self.chain_of(last) {
            return Err(ProblemError::NotAPart { first, last });
        }
        if self.blocks.len() >= MOST {
            return Err(ProblemError::TooMany("blocks"));
        }
        assert!(resource.0 < self.resources, "a resource of another problem");
        if let Some(entry) = entry {
            self.before(entry.node, first, entry.tag)?;
        }
        self.blocks.push(BlockData { resource: resource.0, first, last, entry });
        Ok(Block(self.blocks.len() as u32 - 1))
    }

    /// Sets the preferred order of the solution: among the nodes that can come next, the one with
    /// the smallest position comes next. By default, the position of a node is its number. A
    /// preferred order that is a solution and agrees with the solver's decisions is returned
    /// unchanged.
    ///
    /// # Panics
    ///
    /// Panics when there is not one position for each node.
    pub fn prefer(&mut self, positions: Vec<u32>) {
        assert_eq!(positions.len(), self.nodes() as usize, "one position a node");
        self.preferred = Some(positions);
    }

    /// Returns the preferred position of a node.
    #[inline]
    pub(crate) fn position(&self, node: Node) -> u32 {
        self.preferred.as_ref().map_or(node, |positions| positions[node as usize])
    }

    /// Returns an estimate of the memory for this problem, in bytes: the problem itself, and the
    /// tables of condensation for each node.
    pub(crate) fn bytes(&self) -> usize {
        12 * self.nodes() as usize
            + std::mem::size_of::<Edge>() * self.edges.len()
            + std::mem::size_of::<BlockData>() * self.blocks.len()
    }

    /// Returns the index of the chain of a node.
    pub(crate) fn chain_of(&self, node: Node) -> usize {
        self.chain_ends.partition_point(|end| *end <= node)
    }

    pub(crate) fn check(&self, node: Node) -> Result<(), ProblemError> {
        if node < self.nodes() { Ok(()) } else { Err(ProblemError::NoNode(node)) }
    }

    /// Returns the node at which a block enters its queue.
    ///
    /// # Panics
    ///
    /// Panics when it enters none. Where [`Problem::keeps`] holds, both blocks enter one.
    pub(crate) fn entry_node(&self, block: u32) -> Node {
        self.blocks[block as usize].entry.expect("the block enters a queue").node
    }

    /// Returns whether the order of the entries of two blocks of one resource binds them: whether
    /// `first` holds the resource before `second` if it entered before it.
    pub(crate) fn keeps(&self, first: u32, second: u32) -> bool {
        match (self.blocks[first as usize].entry, self.blocks[second as usize].entry) {
            // Two blocks that enter at one node have no order of entry.
            (Some(first), Some(second)) => {
                first.node != second.node && Rank::keeps(first.rank, second.rank)
            }
            _ => false,
        }
    }
}
