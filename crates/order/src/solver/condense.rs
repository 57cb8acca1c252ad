//! Condensation: keeps only nodes where an edge arrives or leaves, and merges runs of them.
//!
//! Within a chain, arrivals followed by departures become one *key*: every arrival comes before
//! every departure, so a path through the key is a path of the chain. A new key begins at an
//! arrival after a departure. Reachability between arrivals and departures is therefore exactly
//! that of the chains.

use super::problem::{Node, Problem};
use crate::rows::Rows;

/// The number of a key. The keys of a chain have consecutive numbers, in its order.
pub(crate) type Key = u32;

/// In `edge` arrays: the edge from one key of a chain to the next.
pub(crate) const CHAIN: u32 = u32::MAX;

const NO_KEY: Key = u32::MAX;
const ARRIVES: u8 = 1;
const LEAVES: u8 = 2;

/// The keys of a problem and the given orders between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    key_of: Vec<Key>,
    /// The nodes of atoms, ascending.
    loose: Vec<Node>,
    /// The smallest node of each key.
    pub(crate) start: Vec<Node>,
    pub(crate) out: Adjacency,
    pub(crate) into: Adjacency,
}

/// For each key, its neighbours and the edge of the problem that leads there ([`CHAIN`] for none).
#[derive(Clone, Debug, Default)]
pub(crate) struct Adjacency {
    keys: Rows<Key>,
    edges: Vec<u32>,
}

impl Adjacency {
    #[inline]
    pub(crate) fn keys(&self, key: Key) -> &[Key] {
        self.keys.row(key)
    }

    pub(crate) fn iter(&self, key: Key) -> impl Iterator<Item = (Key, u32)> + '_ {
        self.keys(key).iter().copied().zip(self.edges[self.keys.range(key)].iter().copied())
    }

    /// Builds the lists of `keys` keys from edges, each with its two ends.
    fn new(keys: usize, edges: impl Iterator<Item = (Key, Key, u32)> + Clone) -> Adjacency {
        let rows = Rows::new(keys, edges.map(|(own, other, edge)| (own, (other, edge))));
        let edges = rows.items.iter().map(|(_, edge)| *edge).collect();
        Adjacency { keys: rows.map(|(other, _)| other), edges }
    }

    fn bytes(&self) -> usize {
        self.keys.bytes() + 4 * self.edges.len()
    }
}

impl Keys {
    /// Condenses a problem. `loose` are the nodes of atoms, whose order the search decides. Time
    /// and memory linear in nodes and edges.
    ///
    /// # Errors
    ///
    /// Fails with the index of an edge that goes backward within its chain.
    pub(crate) fn build(
        problem: &Problem,
        loose: impl Iterator<Item = Node>,
    ) -> Result<Keys, usize> {
        let mut flags = vec![0_u8; problem.nodes() as usize];
        let mut chain_of = vec![0_u32; problem.nodes() as usize];
        let mut start = 0;
        for (chain, &end) in problem.chain_ends.iter().enumerate() {
            chain_of[start as usize..end as usize].fill(chain as u32);
            start = end;
        }
        for (index, edge) in problem.edges.iter().enumerate() {
            if chain_of[edge.from as usize] == chain_of[edge.to as usize] {
                if edge.from >= edge.to {
                    return Err(index);
                }
                continue;
            }
            flags[edge.from as usize] |= LEAVES;
            flags[edge.to as usize] |= ARRIVES;
        }
        for block in &problem.blocks {
            flags[block.first as usize] |= ARRIVES;
            flags[block.last as usize] |= LEAVES;
            if let Some(entry) = block.entry {
                flags[entry.node as usize] |= ARRIVES | LEAVES;
            }
        }
        let mut loose: Vec<Node> = loose.collect();
        loose.sort_unstable();
        loose.dedup();
        for &node in &loose {
            flags[node as usize] |= ARRIVES | LEAVES;
        }
        let mut keys = Keys { key_of: vec![NO_KEY; flags.len()], loose, ..Keys::default() };
        let mut pairs = keys.number(problem, &flags);
        drop(flags);
        for (index, edge) in problem.edges.iter().enumerate() {
            if chain_of[edge.from as usize] != chain_of[edge.to as usize] {
                pairs.push((keys.of(edge.from), keys.of(edge.to), index as u32));
            }
        }
        let parallel = Adjacency::new(keys.len(), pairs.iter().copied());
        let mut seen = vec![NO_KEY; keys.len()];
        pairs.clear();
        for from in 0..keys.len() as u32 {
            for (to, edge) in parallel.iter(from) {
                if seen[to as usize] != from {
                    seen[to as usize] = from;
                    pairs.push((from, to, edge));
                }
            }
        }
        keys.out = Adjacency::new(keys.len(), pairs.iter().copied());
        let reversed = pairs.iter().map(|&(from, to, edge)| (to, from, edge));
        keys.into = Adjacency::new(keys.len(), reversed);
        Ok(keys)
    }

    /// Assigns keys to nodes, and returns the edges along chains.
    fn number(&mut self, problem: &Problem, flags: &[u8]) -> Vec<(Key, Key, u32)> {
        let mut pairs = Vec::new();
        let mut begin = 0;
        for &end in &problem.chain_ends {
            let mut left = true;
            let mut in_chain = 0;
            for node in begin..end {
                let flag = flags[node as usize];
                if flag == 0 {
                    continue;
                }
                if in_chain == 0 || (flag & ARRIVES != 0 && left) {
                    if in_chain > 0 {
                        let last = self.start.len() as u32 - 1;
                        pairs.push((last, last + 1, CHAIN));
                    }
                    self.start.push(node);
                    in_chain += 1;
                    left = false;
                }
                left |= flag & LEAVES != 0;
                self.key_of[node as usize] = self.start.len() as u32 - 1;
            }
            begin = end;
        }
        pairs
    }

    /// Returns the number of keys.
    pub(crate) fn len(&self) -> usize {
        self.start.len()
    }

    /// Returns the key of a node where an edge arrives or leaves.
    #[inline]
    pub(crate) fn of(&self, node: Node) -> Key {
        let key = self.key_of[node as usize];
        debug_assert_ne!(key, NO_KEY, "node {node} was not condensed");
        key
    }

    /// Returns whether an order between this node and others can be decided: whether it was in
    /// `loose`.
    pub(crate) fn is_loose(&self, node: Node) -> bool {
        self.loose.binary_search(&node).is_ok()
    }

    pub(crate) fn bytes(&self) -> usize {
        4 * (self.key_of.len() + self.start.len()) + self.out.bytes() + self.into.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::problem::Tag;
    use super::*;

    #[test]
    fn arrivals_and_the_departures_after_them_are_one_key() {
        let mut problem = Problem::new();
        let a = problem.chain(6).unwrap();
        let b = problem.chain(3).unwrap();
        // Arrivals at a+1, a+2; departure at a+3; arrival at a+4.
        for (from, to) in [(b, a + 1), (b, a + 2), (a + 3, b + 1), (b + 2, a + 4)] {
            problem.before(from, to, Tag(0)).unwrap();
        }
        let keys = Keys::build(&problem, std::iter::empty()).unwrap();
        assert_eq!(keys.of(a + 1), keys.of(a + 3));
        assert_ne!(keys.of(a + 3), keys.of(a + 4));
        // b leaves, b+1 arrives: two keys; b+2 leaves: the same as b+1.
        assert_ne!(keys.of(b), keys.of(b + 1));
        assert_eq!(keys.of(b + 1), keys.of(b + 2));
        assert_eq!(keys.len(), 4);
        assert!(keys.key_of[a as usize] == NO_KEY && keys.key_of[a as usize + 5] == NO_KEY);
        // Both edges from b to a's first key are one.
        assert_eq!(keys.out.keys(keys.of(b)).len(), 2);
    }

    #[test]
    fn a_backward_edge_is_named() {
        let mut problem = Problem::new();
        let a = problem.chain(2).unwrap();
        problem.before(a, a + 1, Tag(0)).unwrap();
        problem.before(a + 1, a, Tag(0)).unwrap();
        assert_eq!(Keys::build(&problem, std::iter::empty()).unwrap_err(), 1);
    }

    #[test]
    fn nodes_of_atoms_stay_apart() {
        let mut problem = Problem::new();
        let a = problem.chain(3).unwrap();
        let keys = Keys::build(&problem, a..a + 3).unwrap();
        assert_eq!(keys.len(), 3);
    }
}
