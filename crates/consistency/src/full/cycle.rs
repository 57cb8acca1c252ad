//! A cycle with few orders between messages.

use super::express::{Edge, Express, Node};
use crate::answer::{Fact, Link, Why};
use crate::partial::Relation;
use std::collections::VecDeque;

/// After this many steps, no search from another start begins; the shortest cycle so far is the
/// answer.
const STEPS_MAX: u64 = 20_000_000;

/// A node not reached yet.
const FAR: u32 = u32::MAX;

/// Finds a cycle, given for each node the number of its unfinished predecessors (see
/// [`order`](super::order::order)). It has the fewest orders between messages, unless the bound on
/// steps ended the search.
pub(super) fn short_cycle(express: &Express<'_>, waits: &[u32]) -> Vec<Link> {
    let mut search = Search {
        express,
        waits,
        distance: vec![FAR; waits.len()],
        parent: vec![(0, Edge::Ride); waits.len()],
        touched: Vec::new(),
        steps: 0,
    };
    let mut best: Option<(u32, Vec<Link>)> = None;
    let first = on_a_cycle(express, waits);
    let rest = (0..waits.len() as Node).filter(|&node| waits[node as usize] > 0);
    for start in first.into_iter().chain(rest) {
        if best.is_some() && search.steps > STEPS_MAX {
            break;
        }
        let limit = best.as_ref().map_or(FAR, |&(length, _)| length);
        if let Some(found) = search.from(start, limit) {
            best = Some(found);
        }
    }
    best.map_or(Vec::new(), |(_, cycle)| cycle)
}

/// A node on a cycle: a node visited twice on a walk against the unfinished edges.
fn on_a_cycle(express: &Express<'_>, waits: &[u32]) -> Option<Node> {
    let mut before: Vec<Option<Node>> = vec![None; waits.len()];
    for node in (0..waits.len() as Node).filter(|&node| waits[node as usize] > 0) {
        express.after(node, |to, _| before[to as usize] = Some(node));
    }
    let mut at = (0..waits.len() as Node).find(|&node| waits[node as usize] > 0)?;
    let mut seen = vec![false; waits.len()];
    while !std::mem::replace(&mut seen[at as usize], true) {
        at = before[at as usize]?;
    }
    Some(at)
}

struct Search<'e> {
    express: &'e Express<'e>,
    waits: &'e [u32],
    distance: Vec<u32>,
    parent: Vec<(Node, Edge)>,
    touched: Vec<Node>,
    steps: u64,
}

impl Search<'_> {
    /// The shortest cycle through a node that is shorter than a limit, with its length.
    fn from(&mut self, start: Node, limit: u32) -> Option<(u32, Vec<Link>)> {
        for node in self.touched.drain(..) {
            self.distance[node as usize] = FAR;
        }
        // The start has no distance: a node that reaches it closes a cycle.
        let mut queue = VecDeque::from([(start, 0)]);
        let (waits, parent, distance) = (self.waits, &mut self.parent, &mut self.distance);
        while let Some((node, length)) = queue.pop_front() {
            let done = distance[start as usize] <= length;
            if done || length >= limit {
                break;
            }
            if node != start && length > distance[node as usize] {
                continue;
            }
            self.express.after(node, |to, edge| {
                self.steps += 1;
                let cost = cost(self.express, node, to, edge);
                if waits[to as usize] > 0 && length + cost < distance[to as usize] {
                    distance[to as usize] = length + cost;
                    parent[to as usize] = (node, edge);
                    self.touched.push(to);
                    match cost {
                        _ if to == start => {}
                        0 => queue.push_front((to, length)),
                        _ => queue.push_back((to, length + cost)),
                    }
                }
            });
        }
        let length = self.distance[start as usize];
        (length < limit).then(|| (length, self.links(start)))
    }

    /// The links of the cycle that leads back to the start.
    fn links(&self, start: Node) -> Vec<Link> {
        let mut edges = Vec::new();
        let mut at = start;
        loop {
            let (from, edge) = self.parent[at as usize];
            edges.push((from, at, edge));
            at = from;
            if at == start {
                break;
            }
        }
        edges.reverse();
        // Express nodes alone form no cycle; it begins where one is entered or a slot is left.
        let slot =
            edges.iter().position(|&(from, ..)| self.express.slot(from).is_some()).unwrap_or(0);
        edges.rotate_left(slot);
        let mut links = Vec::new();
        let mut entered = (0, 0);
        for (from, to, edge) in edges {
            match edge {
                Edge::Direct(why) => links.push(Link { from, to, why }),
                Edge::Enter(message) => entered = (from, message),
                Edge::Ride => {}
                Edge::Leave(second) => {
                    let why = Why::Decided(Fact::Runs { first: entered.1, second });
                    links.push(Link { from: entered.0, to, why });
                }
            }
        }
        let mut links = self.express.graph.joined(&links);
        if links.len() > 2 {
            links.rotate_right(1);
            links = self.express.graph.joined(&links);
        }
        links
    }
}

/// The cost of an edge: 0 for program order inside a message, 1 for using the express line.
fn cost(express: &Express<'_>, from: Node, to: Node, edge: Edge) -> u32 {
    match edge {
        Edge::Direct(Why::Given(Relation::Program)) => {
            u32::from(express.graph.message(from) != express.graph.message(to))
        }
        Edge::Direct(_) | Edge::Enter(_) => 1,
        Edge::Ride | Edge::Leave(_) => 0,
    }
}
