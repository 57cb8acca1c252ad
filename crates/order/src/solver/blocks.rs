//! The blocks of a problem in terms of keys.

use super::condense::{Key, Keys};
use super::problem::Problem;

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
    starts: Lists,
    ends: Lists,
    enters: Lists,
}

#[derive(Clone, Debug, Default)]
struct Lists {
    offset: Vec<u32>,
    item: Vec<u32>,
}

impl Lists {
    fn build(keys: usize, of: &[Key], used: impl Fn(usize) -> bool) -> Lists {
        let mut offset = vec![0_u32; keys + 1];
        for (block, &key) in of.iter().enumerate() {
            if key != NO_ENTRY && used(block) {
                offset[key as usize + 1] += 1;
            }
        }
        for i in 0..keys {
            offset[i + 1] += offset[i];
        }
        let mut next = offset.clone();
        let mut item = vec![0; offset[keys] as usize];
        for (block, &key) in of.iter().enumerate() {
            if key != NO_ENTRY && used(block) {
                item[next[key as usize] as usize] = block as u32;
                next[key as usize] += 1;
            }
        }
        Lists { offset, item }
    }

    #[inline]
    fn at(&self, key: Key) -> &[u32] {
        &self.item[self.offset[key as usize] as usize..self.offset[key as usize + 1] as usize]
    }
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
        let used = |block: usize| of[problem.blocks[block].resource as usize].len() > 1;
        blocks.starts = Lists::build(keys.len(), &blocks.first, used);
        blocks.ends = Lists::build(keys.len(), &blocks.last, used);
        blocks.enters = Lists::build(keys.len(), &blocks.entry, used);
        blocks.of = of;
        blocks
    }

    /// Returns the blocks that begin at a key and share their resource.
    #[inline]
    pub(crate) fn starting(&self, key: Key) -> &[u32] {
        self.starts.at(key)
    }

    /// Returns the blocks that end at a key and share their resource.
    #[inline]
    pub(crate) fn ending(&self, key: Key) -> &[u32] {
        self.ends.at(key)
    }

    /// Returns the blocks that enter at a key and share their resource.
    #[inline]
    pub(crate) fn entering(&self, key: Key) -> &[u32] {
        self.enters.at(key)
    }

    /// Returns the number of pairs of blocks of one resource.
    pub(crate) fn pairs(&self) -> u64 {
        self.of
            .iter()
            .map(|members| members.len() as u64 * (members.len() as u64).saturating_sub(1) / 2)
            .sum()
    }

    pub(crate) fn bytes(&self) -> usize {
        let lists = [&self.starts, &self.ends, &self.enters];
        16 * self.first.len()
            + 4 * lists.iter().map(|list| list.offset.len() + list.item.len()).sum::<usize>()
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
