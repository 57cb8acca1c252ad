//! The blocks of a problem in terms of keys.

use super::condense::{Key, Keys};
use super::problem::Problem;
use crate::rows::Rows;

/// In place of a key: the block has no entry.
pub(crate) const NO_ENTRY: Key = u32::MAX;

/// The keys where blocks begin, end and enter, and the resources with blocks to order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    pub(crate) first: Vec<Key>,
    pub(crate) last: Vec<Key>,
    pub(crate) entry: Vec<Key>,
    /// For each resource, its blocks, ascending.
    pub(crate) of: Vec<Vec<u32>>,
    /// For each resource, whether all its blocks enter with the same level: first come, first
    /// served.
    pub(crate) fifo: Vec<bool>,
    /// By key, the blocks that begin, end and enter there and share their resource.
    starts: Rows<u32>,
    ends: Rows<u32>,
    enters: Rows<u32>,
}

impl Blocks {
    pub(crate) fn build(problem: &Problem, keys: &Keys) -> Blocks {
        let mut blocks = Blocks::default();
        let mut of = vec![Vec::new(); problem.resources as usize];
        for (index, block) in problem.blocks.iter().enumerate() {
            blocks.first.push(keys.of(block.first));
            blocks.last.push(keys.of(block.last));
            blocks.entry.push(block.entry.map_or(NO_ENTRY, |entry| keys.of(entry.node)));
            of[block.resource as usize].push(index as u32);
        }
        blocks.fifo = of.iter().map(|members| first_come_first_served(problem, members)).collect();
        // A block alone on its resource excludes no other block.
        let used = |block: u32| of[problem.blocks[block as usize].resource as usize].len() > 1;
        let by_key = |at: &[Key]| {
            let at = at.iter().copied().zip(0..);
            Rows::new(keys.len(), at.filter(|&(key, block)| key != NO_ENTRY && used(block)))
        };
        blocks.starts = by_key(&blocks.first);
        blocks.ends = by_key(&blocks.last);
        blocks.enters = by_key(&blocks.entry);
        blocks.of = of;
        blocks
    }

    /// Returns the blocks that begin at a key and share their resource.
    #[inline]
    pub(crate) fn starting(&self, key: Key) -> &[u32] {
        self.starts.row(key)
    }

    /// Returns the blocks that end at a key and share their resource.
    #[inline]
    pub(crate) fn ending(&self, key: Key) -> &[u32] {
        self.ends.row(key)
    }

    /// Returns the blocks that enter at a key and share their resource.
    #[inline]
    pub(crate) fn entering(&self, key: Key) -> &[u32] {
        self.enters.row(key)
    }

    /// Returns the number of pairs of blocks of one resource.
    pub(crate) fn pairs(&self) -> u64 {
        self.of
            .iter()
            .map(|members| members.len() as u64 * (members.len() as u64).saturating_sub(1) / 2)
            .sum()
    }

    pub(crate) fn bytes(&self) -> usize {
        16 * self.first.len() + self.starts.bytes() + self.ends.bytes() + self.enters.bytes()
    }
}

/// Returns whether all these blocks enter, with one level, and no two at one node.
fn first_come_first_served(problem: &Problem, members: &[u32]) -> bool {
    let alike = |pair: &[u32]| problem.keeps(pair[0], pair[1]) && problem.keeps(pair[1], pair[0]);
    let mut nodes: Vec<_> = members
        .iter()
        .filter_map(|&block| Some(problem.blocks[block as usize].entry?.node))
        .collect();
    nodes.sort_unstable();
    members.windows(2).all(alike) && nodes.windows(2).all(|pair| pair[0] != pair[1])
}
