//! Pairs of blocks as variables.
//!
//! Consider a first-come-first-served queue and two blocks that were entered from within two other
//! blocks, which exclude one another. Both pairs have the same order, so they share one variable:
//! that of the outermost pair (the *root*). A literal adds the edges of its root pair and of the
//! pairs below it. Among the pairs below, the edge from the last to the first block of each queue
//! suffices.

use super::blocks::Blocks;
use super::fact::{Fact, Info};
use super::problem::Problem;
use crate::sat::Lit;

const NONE: u32 = u32::MAX;

/// A literal adds at most this many edges of pairs below its root; the others are found when
/// needed.
const MOST_BELOW: usize = 4096;

/// For each block, the block from within which it was entered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    parent: Vec<u32>,
    kids: Vec<Vec<u32>>,
}

impl Pairs {
    /// Finds the parents; `O(b log b)` for `b` blocks. The entries must come before their blocks in
    /// an order without cycles.
    pub(crate) fn build(problem: &Problem, blocks: &Blocks) -> Pairs {
        let mut only: Vec<u32> = vec![NONE; problem.chain_ends.len()];
        let mut several = vec![false; problem.chain_ends.len()];
        for (index, block) in problem.blocks.iter().enumerate() {
            let chain = problem.chain_of(block.first);
            several[chain] |= only[chain] != NONE;
            only[chain] = index as u32;
        }
        let mut parent = vec![NONE; problem.blocks.len()];
        let mut kids = vec![Vec::new(); problem.blocks.len()];
        for (index, block) in problem.blocks.iter().enumerate() {
            let (Some(entry), true) = (block.entry, blocks.fifo[block.resource as usize]) else {
                continue;
            };
            let chain = problem.chain_of(entry.node);
            let around = only[chain];
            if around == NONE || several[chain] {
                continue;
            }
            let outer = &problem.blocks[around as usize];
            if outer.first <= entry.node && entry.node <= outer.last {
                parent[index] = around;
                kids[around as usize].push(index as u32);
            }
        }
        for kids in &mut kids {
            kids.sort_by_key(|&kid: &u32| {
                let block = &problem.blocks[kid as usize];
                (block.resource, block.entry.map(|entry| entry.node))
            });
        }
        Pairs { parent, kids }
    }

    /// Returns the enclosing pair, which has the same order, if there is one.
    pub(crate) fn above(&self, problem: &Problem, first: u32, second: u32) -> Option<(u32, u32)> {
        let (outer, other) = (self.parent[first as usize], self.parent[second as usize]);
        let joint = outer != NONE
            && other != NONE
            && outer != other
            && problem.blocks[outer as usize].resource == problem.blocks[other as usize].resource;
        joint.then_some((outer, other))
    }

    /// Returns the outermost pair with the same order.
    pub(crate) fn root(&self, problem: &Problem, mut first: u32, mut second: u32) -> (u32, u32) {
        while let Some((outer, other)) = self.above(problem, first, second) {
            (first, second) = (outer, other);
        }
        (first, second)
    }

    /// Returns the edges implied by `first` before `second`, a root pair.
    pub(crate) fn edges(
        &self,
        problem: &Problem,
        (first, second): (u32, u32),
        lit: Lit,
    ) -> Vec<Info> {
        let mut edges = Vec::new();
        let (a, b) = (&problem.blocks[first as usize], &problem.blocks[second as usize]);
        let fact = Fact::of_blocks(first, second);
        edges.push(Info { from: a.last, to: b.first, fact, lit: Some(lit) });
        if problem.keeps(second, first) {
            let (from, to) = (problem.entry_node(first), problem.entry_node(second));
            edges.push(Info { from, to, fact, lit: Some(lit) });
        }
        self.below(problem, first, second, lit, &mut edges);
        edges
    }

    /// Adds the edges below a pair, recursively: on each queue, blocks entered from within the
    /// first come before blocks entered from within the second.
    fn below(&self, problem: &Problem, first: u32, second: u32, lit: Lit, edges: &mut Vec<Info>) {
        // Every block of one list comes before every block of the other, all on one resource.
        let mut todo = vec![(vec![first], vec![second])];
        while let Some((firsts, seconds)) = todo.pop() {
            let mut after = self.by_resource(problem, &seconds).into_iter().peekable();
            for (resource, mine) in self.by_resource(problem, &firsts) {
                while after.next_if(|&(other, _)| other < resource).is_some() {}
                let Some((_, theirs)) = after.next_if(|&(other, _)| other == resource) else {
                    continue;
                };
                if edges.len() >= MOST_BELOW {
                    return;
                }
                let (last, first) = (mine[mine.len() - 1], theirs[0]);
                edges.push(Info {
                    from: problem.blocks[last as usize].last,
                    to: problem.blocks[first as usize].first,
                    fact: Fact::of_blocks(last, first),
                    lit: Some(lit),
                });
                todo.push((mine, theirs));
            }
        }
    }

    /// Collects the blocks entered from within the given ordered blocks, by resource.
    fn by_resource(&self, problem: &Problem, outer: &[u32]) -> Vec<(u32, Vec<u32>)> {
        let mut all: Vec<(u32, u32)> = Vec::new();
        for &block in outer {
            let kids = &self.kids[block as usize];
            all.extend(kids.iter().map(|&kid| (problem.blocks[kid as usize].resource, kid)));
        }
        // The sort is stable: it keeps the order of the outer blocks, and within one that of the
        // entries.
        all.sort_by_key(|&(resource, _)| resource);
        all.chunk_by(|a, b| a.0 == b.0)
            .map(|chunk| (chunk[0].0, chunk.iter().map(|&(_, kid)| kid).collect()))
            .collect()
    }
}
