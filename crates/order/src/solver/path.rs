//! Shortest paths, where the length of a path is the number of decisions on it.

use super::condense::{CHAIN, Key, Keys};
use super::graph::Graph;
use std::collections::VecDeque;

/// One edge of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hop {
    pub(crate) from: Key,
    pub(crate) to: Key,
    pub(crate) kind: HopKind,
}

/// The kind of an edge on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HopKind {
    /// From one key of a chain to the next.
    Chain,
    /// A given edge of the problem.
    Given(u32),
    /// An added edge, with its label in the graph.
    Added(u32),
    /// The first block before the second, as a candidate assumed.
    Assumed(u32, u32),
}

/// The edges that a path may use, and their costs.
pub(crate) trait PathRules {
    /// Returns whether the path may go through a key.
    fn passes(&self, _key: Key) -> bool {
        true
    }

    /// Returns the cost of an added edge (0 or 1), or `None` if the path may not use it. `index`
    /// counts the added edges.
    fn cost(&self, index: u32, label: u32) -> Option<bool>;

    /// Calls `visit` for further edges from a key, at cost 1 each.
    fn assumed(&self, _key: Key, _visit: &mut dyn FnMut(Key, u32, u32)) {}
}

/// Paths over the given edges and those added before this one.
pub(crate) struct AddedBefore(pub(crate) u32);

impl PathRules for AddedBefore {
    fn cost(&self, index: u32, _: u32) -> Option<bool> {
        (index < self.0).then_some(true)
    }
}

/// Search buffers, reused so that a search costs only what it visits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    /// For each key: the last search that reached it, its distance there, whether that is final,
    /// and the edge that reached it.
    seen: Vec<Seen>,
    stamp: u32,
    queue: VecDeque<(Key, u32)>,
    /// Keys and given edges visited so far.
    pub(crate) visited: u64,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    stamp: u32,
    distance: u32,
    closed: bool,
    hop: Hop,
}

const NOWHERE: Seen = Seen {
    stamp: 0,
    distance: 0,
    closed: false,
    hop: Hop { from: 0, to: 0, kind: HopKind::Chain },
};

impl Paths {
    /// Returns a path of least cost, or `None`; among equals, the first one found. Time linear in
    /// the visited keys and edges.
    pub(crate) fn shortest(
        &mut self,
        keys: &Keys,
        graph: &Graph,
        from: Key,
        to: Key,
        rules: &impl PathRules,
    ) -> Option<Vec<Hop>> {
        self.seen.resize(keys.len(), NOWHERE);
        self.stamp += 1;
        self.queue.clear();
        self.queue.push_back((from, 0));
        let start = Seen { stamp: self.stamp, ..NOWHERE };
        self.seen[from as usize] = start;
        while let Some((key, distance)) = self.queue.pop_front() {
            let seen = &mut self.seen[key as usize];
            if seen.closed || seen.distance < distance {
                continue;
            }
            seen.closed = true;
            self.visited += 1 + keys.out.keys(key).len() as u64;
            if key == to {
                return Some(self.trace_back(from, to));
            }
            for (other, edge) in keys.out.iter(key) {
                if rules.passes(other) {
                    let kind = if edge == CHAIN { HopKind::Chain } else { HopKind::Given(edge) };
                    self.reach(Hop { from: key, to: other, kind }, distance, false);
                }
            }
            for (index, added) in graph.added_out(key) {
                if let Some(cost) = rules.cost(index, added.label)
                    && rules.passes(added.to)
                {
                    let kind = HopKind::Added(added.label);
                    self.reach(Hop { from: key, to: added.to, kind }, distance, cost);
                }
            }
            rules.assumed(key, &mut |other, first, second| {
                let kind = HopKind::Assumed(first, second);
                self.reach(Hop { from: key, to: other, kind }, distance, true);
            });
        }
        None
    }

    fn reach(&mut self, hop: Hop, distance: u32, cost: bool) {
        let distance = distance + u32::from(cost);
        let seen = &mut self.seen[hop.to as usize];
        if seen.stamp == self.stamp && (seen.closed || seen.distance <= distance) {
            return;
        }
        *seen = Seen { stamp: self.stamp, distance, closed: false, hop };
        if cost {
            self.queue.push_back((hop.to, distance));
        } else {
            self.queue.push_front((hop.to, distance));
        }
    }

    fn trace_back(&self, from: Key, to: Key) -> Vec<Hop> {
        let mut hops = Vec::new();
        let mut key = to;
        while key != from {
            let hop = self.seen[key as usize].hop;
            hops.push(hop);
            key = hop.from;
        }
        hops.reverse();
        hops
    }

    pub(crate) fn bytes(&self) -> usize {
        self.seen.capacity() * std::mem::size_of::<Seen>()
    }
}
