//! A total order of all slots: among those that can come next, the smallest comes next.

use super::express::{Express, Node};
use crate::partial::Slot;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Orders all slots.
///
/// # Errors
///
/// Fails with the number of unfinished predecessors of each node: all nodes with a number above 0
/// are on a cycle or after one.
pub(super) fn order(express: &Express<'_>) -> Result<Vec<Slot>, Vec<u32>> {
    let nodes = express.nodes() as Node;
    let mut waits = vec![0_u32; nodes as usize];
    for node in 0..nodes {
        express.after(node, |to, _| waits[to as usize] += 1);
    }
    let mut slots: BinaryHeap<Reverse<Slot>> = BinaryHeap::new();
    // Express nodes are no events: they run as soon as they can.
    let mut ready: Vec<Node> = (0..nodes).filter(|&node| waits[node as usize] == 0).collect();
    let mut order = Vec::with_capacity(express.graph.slots());
    let mut done = 0;
    loop {
        while let Some(node) = ready.pop() {
            match express.slot(node) {
                Some(slot) => slots.push(Reverse(slot)),
                None => {
                    done += 1;
                    release(express, node, &mut waits, &mut ready);
                }
            }
        }
        let Some(Reverse(slot)) = slots.pop() else { break };
        order.push(slot);
        done += 1;
        release(express, slot, &mut waits, &mut ready);
    }
    if done == nodes { Ok(order) } else { Err(waits) }
}

fn release(express: &Express<'_>, node: Node, waits: &mut [u32], ready: &mut Vec<Node>) {
    express.after(node, |to, _| {
        waits[to as usize] -= 1;
        if waits[to as usize] == 0 {
            ready.push(to);
        }
    });
}
