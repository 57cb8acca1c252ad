//! Decided orders, and the edges that follow from them.

use super::problem::{Block, Node};
use crate::sat::Lit;

/// A decidable order: of two blocks of one resource, or of two nodes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fact {
    /// The first block holds the resource before the second.
    Blocks {
        /// The block that comes first.
        first: Block,
        /// The block that comes later.
        second: Block,
    },
    /// The first node comes before the second.
    Nodes {
        /// The node that comes first.
        first: Node,
        /// The node that comes later.
        second: Node,
    },
}

impl Fact {
    pub(crate) const fn of_blocks(first: u32, second: u32) -> Fact {
        Fact::Blocks { first: Block(first), second: Block(second) }
    }

    /// Returns the opposite order of the same two.
    #[must_use]
    pub fn opposite(self) -> Fact {
        match self {
            Fact::Blocks { first, second } => Fact::Blocks { first: second, second: first },
            Fact::Nodes { first, second } => Fact::Nodes { first: second, second: first },
        }
    }
}

/// The cause of an added edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Info {
    pub(crate) from: Node,
    pub(crate) to: Node,
    pub(crate) fact: Fact,
    /// The literal that added the edge; `None` for edges forced by saturation.
    pub(crate) lit: Option<Lit>,
}
