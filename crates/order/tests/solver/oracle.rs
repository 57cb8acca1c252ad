//! The definition: enumerates all total orders, and evaluates conditions in each.

use super::random::Spec;
use anyorder_order::solver::{Node, Rank};

/// An atom whose truth a total order determines, or a free variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Atom {
    Nodes(Node, Node),
    Blocks(u32, u32),
    Free(u32),
}

/// A condition on an order.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Is(Atom, bool),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
}

/// Returns the place of each node.
pub(crate) fn places(order: &[Node]) -> Vec<u32> {
    let mut places = vec![u32::MAX; order.len()];
    for (place, &node) in order.iter().enumerate() {
        assert_eq!(places[node as usize], u32::MAX, "node {node} comes twice");
        places[node as usize] = place as u32;
    }
    places
}

/// Returns the constraint that an order breaks, by the definitions alone.
pub(crate) fn violation(spec: &Spec, places: &[u32]) -> Option<String> {
    if places.len() != spec.nodes() as usize {
        return Some("a node is missing".into());
    }
    let at = |node: Node| places[node as usize];
    let mut start = 0;
    for &len in &spec.lens {
        for node in start + 1..start + len {
            if at(node - 1) > at(node) {
                return Some(format!("chain: {} before {node}", node - 1));
            }
        }
        start += len;
    }
    if let Some(edge) = spec.edges.iter().find(|edge| at(edge.0) >= at(edge.1)) {
        return Some(format!("edge {edge:?}"));
    }
    for (i, a) in spec.blocks.iter().enumerate() {
        if a.entry.is_some_and(|(entry, _)| at(entry) >= at(a.first)) {
            return Some(format!("block {i} begins before it enters"));
        }
        for (j, b) in spec.blocks.iter().enumerate() {
            if i == j || a.resource != b.resource {
                continue;
            }
            if at(a.last) >= at(b.first) && at(b.last) >= at(a.first) {
                return Some(format!("blocks {i} and {j} overlap"));
            }
            if let (Some((enters_a, rank_a)), Some((enters_b, rank_b))) = (a.entry, b.entry)
                && at(enters_a) < at(enters_b)
                && keeps(rank_a, rank_b)
                && at(a.first) > at(b.first)
            {
                return Some(format!("block {j} passes block {i} in the queue"));
            }
        }
    }
    None
}

/// The definition of `Rank::keeps`, written independently.
pub(crate) fn keeps(first: Rank, second: Rank) -> bool {
    match second {
        Rank::Front => false,
        Rank::Level(later) => match first {
            Rank::Front => true,
            Rank::Level(sooner) => sooner <= later,
        },
    }
}

/// Returns all orders in which the problem holds, each as places, or `None` when there are too many
/// to enumerate.
pub(crate) fn orders(spec: &Spec) -> Option<Vec<Vec<u32>>> {
    let mut search = Search {
        spec,
        next: Vec::new(),
        order: Vec::new(),
        placed: vec![false; spec.nodes() as usize],
        found: Vec::new(),
        steps: 0,
    };
    let mut start = 0;
    for &len in &spec.lens {
        search.next.push((start, start + len));
        start += len;
    }
    search.extend().then_some(search.found)
}

struct Search<'a> {
    spec: &'a Spec,
    /// For each chain, its next node and its end.
    next: Vec<(Node, Node)>,
    order: Vec<Node>,
    placed: Vec<bool>,
    found: Vec<Vec<u32>>,
    steps: u32,
}

impl Search<'_> {
    fn extend(&mut self) -> bool {
        self.steps += 1;
        if self.steps > 60_000 || self.found.len() > 6_000 {
            return false;
        }
        if self.order.len() == self.placed.len() {
            let places = places(&self.order);
            if violation(self.spec, &places).is_none() {
                self.found.push(places);
            }
            return true;
        }
        for chain in 0..self.next.len() {
            let (node, end) = self.next[chain];
            if node == end || !self.may_come(node) {
                continue;
            }
            self.next[chain].0 += 1;
            self.order.push(node);
            self.placed[node as usize] = true;
            let fine = self.extend();
            self.placed[node as usize] = false;
            self.order.pop();
            self.next[chain].0 -= 1;
            if !fine {
                return false;
            }
        }
        true
    }

    /// Prunes what `violation` would refuse in any case: edges and two blocks at once.
    fn may_come(&self, node: Node) -> bool {
        let placed = |node: Node| self.placed[node as usize];
        self.spec.edges.iter().all(|&(from, to)| to != node || placed(from))
            && self.spec.blocks.iter().filter(|block| block.first == node).all(|block| {
                self.spec.blocks.iter().all(|other| {
                    other.resource != block.resource || !placed(other.first) || placed(other.last)
                })
            })
    }
}

/// Returns whether a condition holds; bit `i` of `free` is the value of free variable `i`.
pub(crate) fn holds(spec: &Spec, condition: &Condition, places: &[u32], free: u32) -> bool {
    let before = |a: Node, b: Node| places[a as usize] < places[b as usize];
    match condition {
        Condition::Is(atom, value) => {
            let is = match *atom {
                Atom::Nodes(a, b) => before(a, b),
                Atom::Blocks(a, b) => {
                    before(spec.blocks[a as usize].last, spec.blocks[b as usize].first)
                }
                Atom::Free(index) => free >> index & 1 == 1,
            };
            is == *value
        }
        Condition::All(parts) => parts.iter().all(|part| holds(spec, part, places, free)),
        Condition::Any(parts) => parts.iter().any(|part| holds(spec, part, places, free)),
        Condition::Not(part) => !holds(spec, part, places, free),
    }
}

/// Returns whether all conditions hold in an order, with some values of the free variables.
pub(crate) fn all_hold(spec: &Spec, conditions: &[Condition], places: &[u32], frees: u32) -> bool {
    (0..1 << frees)
        .any(|free| conditions.iter().all(|condition| holds(spec, condition, places, free)))
}
