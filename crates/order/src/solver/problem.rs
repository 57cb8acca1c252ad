//! The question: chains of nodes, orders that are given, and blocks that exclude one another.

/// An event: a dense number. The nodes of a chain are consecutive numbers, in their order.
pub type Node = u32;

/// What a given order is called in explanations; the solver only hands it back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tag(pub u32);

/// Something that one block at a time can hold: a machine, a lock, an event loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Resource(pub(crate) u32);

/// A part of a chain that holds a resource from its first node to its last one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Block(pub(crate) u32);

impl Block {
    /// Returns the number of the block: blocks count from 0 in the order in which they were added.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a block queues up for its resource, compared with others of the resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rank {
    /// It goes before all that entered later with the same level or a higher one.
    Level(u64),
    /// It goes before all with a level that entered later; nothing is said of two at the front.
    Front,
}

impl Rank {
    /// Returns whether a block of rank `first` must hold the resource before one of rank `second`
    /// whenever it entered before it.
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
    /// The node; it need not be on the chain of the block. It comes before the first node of the
    /// block.
    pub node: Node,
    /// How it queues up.
    pub rank: Rank,
    /// What explanations call the order of the entry and the block's first node.
    pub tag: Tag,
}

/// Why a part of a problem was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProblemError {
    /// A node was named that no chain has.
    #[error("there is no node {0}")]
    NoNode(Node),
    /// The first node of a block does not come before its last one on one chain.
    #[error("the block from node {first} to node {last} is not a part of one chain")]
    NotAPart {
        /// The first node of the block.
        first: Node,
        /// Its last node.
        last: Node,
    },
    /// A node was to come before itself.
    #[error("node {0} cannot come before itself")]
    SameNode(Node),
    /// There are more nodes, edges or blocks than 32 bits count.
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
/// It says what must hold whatever is decided: every chain is in order, every given order holds,
/// and any two blocks of one resource are one wholly before the other. Where both blocks have an
/// [`Entry`], the order of the entries binds the order of the blocks as [`Rank::keeps`] says: with
/// equal levels the resource serves first come, first served.
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

    /// Says that `from` comes before `to`.
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
    /// Fails when there are no such nodes, or they are not in order on one chain, or there are too
    /// many blocks.
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

    /// Asks for a witness close to an order: among the nodes that can come next, the one with the
    /// smallest position comes next. Without it, the position of a node is its number. An order
    /// that is itself a solution and agrees with what the solver decides comes back unchanged.
    ///
    /// # Panics
    ///
    /// Panics when there is not one position for each node.
    pub fn prefer(&mut self, positions: Vec<u32>) {
        assert_eq!(positions.len(), self.nodes() as usize, "one position a node");
        self.preferred = Some(positions);
    }

    /// Returns the place of a node in the order asked for.
    #[inline]
    pub(crate) fn position(&self, node: Node) -> u32 {
        self.preferred.as_ref().map_or(node, |positions| positions[node as usize])
    }

    /// Returns what it takes to look at this problem, in bytes: itself, and what condensation needs
    /// for each node.
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

    /// Returns whether the order of the entries of two blocks of one resource binds: whether
    /// `first` holds the resource before `second` whenever it entered before it.
    pub(crate) fn keeps(&self, first: u32, second: u32) -> bool {
        match (self.blocks[first as usize].entry, self.blocks[second as usize].entry) {
            // Two that enter at one node enter in no order.
            (Some(first), Some(second)) => {
                first.node != second.node && Rank::keeps(first.rank, second.rank)
            }
            _ => false,
        }
    }
}
