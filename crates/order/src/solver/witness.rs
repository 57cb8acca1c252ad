//! Extends an order of keys to an order of nodes, as close to the preferred order as the decisions
//! allow.

use super::blocks::Blocks;
use super::condense::{Key, Keys};
use super::fact::Fact;
use super::problem::{Node, Problem};
use crate::rows::Rows;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Returns a total order of all nodes: among those that can come next, always the one with the
/// smallest position. The decided orders are the order of the blocks of each resource and of their
/// entries, as in `accepted`, and `facts`. `O(n log n)`.
pub(crate) fn linearise(
    problem: &Problem,
    keys: &Keys,
    blocks: &Blocks,
    accepted: &[Key],
    facts: impl Iterator<Item = Fact>,
) -> Vec<Node> {
    let decided = decided(problem, keys, blocks, accepted, facts);
    let nodes = problem.nodes() as usize;
    let given =
        problem.edges.iter().map(|edge| (edge.from, edge.to)).chain(decided.iter().copied());
    let targets = Rows::new(nodes, given);
    let mut waits = vec![0_u32; nodes];
    targets.items.iter().for_each(|to| waits[*to as usize] += 1);
    let mut last = vec![false; nodes];
    let mut ready = BinaryHeap::new();
    let mut start = 0;
    for &end in &problem.chain_ends {
        if start == end {
            continue;
        }
        last[end as usize - 1] = true;
        for node in start + 1..end {
            waits[node as usize] += 1;
        }
        if waits[start as usize] == 0 {
            ready.push(Reverse((problem.position(start), start)));
        }
        start = end;
    }
    let mut order = Vec::with_capacity(nodes);
    while let Some(Reverse((_, node))) = ready.pop() {
        order.push(node);
        let along = (!last[node as usize]).then_some(node + 1);
        for other in along.into_iter().chain(targets.row(node).iter().copied()) {
            waits[other as usize] -= 1;
            if waits[other as usize] == 0 {
                ready.push(Reverse((problem.position(other), other)));
            }
        }
    }
    assert_eq!(order.len(), nodes, "an accepted order has no cycle");
    order
}

/// Returns the decided edges.
fn decided(
    problem: &Problem,
    keys: &Keys,
    blocks: &Blocks,
    accepted: &[Key],
    facts: impl Iterator<Item = Fact>,
) -> Vec<(Node, Node)> {
    let mut place = vec![0_u32; keys.len()];
    for (at, &key) in accepted.iter().enumerate() {
        place[key as usize] = at as u32;
    }
    let mut edges = Vec::new();
    for members in &blocks.of {
        let mut order = members.clone();
        order.sort_by_key(|&block| place[blocks.first[block as usize] as usize]);
        for pair in order.windows(2) {
            let (first, second) =
                (&problem.blocks[pair[0] as usize], &problem.blocks[pair[1] as usize]);
            edges.push((first.last, second.first));
        }
        order.retain(|&block| problem.blocks[block as usize].entry.is_some());
        order.sort_by_key(|&block| place[blocks.entry[block as usize] as usize]);
        for pair in order.windows(2) {
            let (first, second) = (problem.entry_node(pair[0]), problem.entry_node(pair[1]));
            if first != second {
                edges.push((first, second));
            }
        }
    }
    for fact in facts {
        if let Fact::Nodes { first, second } = fact {
            edges.push((first, second));
        }
    }
    edges
}
