//! A cycle with few orders between messages.

use super::Full;
use crate::answer::{Link, Why};
use crate::partial::{Relation, Slot};
use std::collections::VecDeque;

/// After this many steps, no search from another start begins; the shortest cycle so far is the
/// answer.
const STEPS_MAX: u64 = 20_000_000;

/// A slot not reached yet.
const FAR: u32 = u32::MAX;

/// Finds a cycle, given for each slot the number of its unfinished predecessors. It has the fewest
/// orders between messages, unless the bound on steps ended the search.
pub(super) fn short_cycle(full: &Full<'_>, waits: &[u32]) -> Vec<Link> {
    let mut search = Search {
        full,
        waits,
        distance: vec![FAR; waits.len()],
        parent: vec![None; waits.len()],
        touched: Vec::new(),
        steps: 0,
    };
    let mut best: Option<(u32, Vec<Link>)> = None;
    let first = on_a_cycle(full, waits);
    let rest = (0..waits.len() as Slot).filter(|&slot| waits[slot as usize] > 0);
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

/// A slot on a cycle: one visited twice on a walk against the unfinished edges.
fn on_a_cycle(full: &Full<'_>, waits: &[u32]) -> Option<Slot> {
    let mut before: Vec<Option<Slot>> = vec![None; waits.len()];
    for slot in (0..waits.len() as Slot).filter(|&slot| waits[slot as usize] > 0) {
        full.after(slot, |to, _| before[to as usize] = Some(slot));
    }
    let mut at = (0..waits.len() as Slot).find(|&slot| waits[slot as usize] > 0)?;
    let mut seen = vec![false; waits.len()];
    while !std::mem::replace(&mut seen[at as usize], true) {
        at = before[at as usize]?;
    }
    Some(at)
}

struct Search<'e> {
    full: &'e Full<'e>,
    waits: &'e [u32],
    distance: Vec<u32>,
    parent: Vec<Option<Link>>,
    touched: Vec<Slot>,
    steps: u64,
}

impl Search<'_> {
    /// The shortest cycle through a slot that is shorter than a limit, with its length.
    fn from(&mut self, start: Slot, limit: u32) -> Option<(u32, Vec<Link>)> {
        for slot in self.touched.drain(..) {
            self.distance[slot as usize] = FAR;
        }
        // The start has no distance: a slot that reaches it closes a cycle.
        let mut queue = VecDeque::from([(start, 0)]);
        let (waits, parent, distance) = (self.waits, &mut self.parent, &mut self.distance);
        while let Some((slot, length)) = queue.pop_front() {
            let done = distance[start as usize] <= length;
            if done || length >= limit {
                break;
            }
            if slot != start && length > distance[slot as usize] {
                continue;
            }
            self.full.after(slot, |to, why| {
                self.steps += 1;
                let link = Link { from: slot, to, why };
                let cost = cost(self.full, link);
                if waits[to as usize] > 0 && length + cost < distance[to as usize] {
                    distance[to as usize] = length + cost;
                    parent[to as usize] = Some(link);
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
    fn links(&self, start: Slot) -> Vec<Link> {
        let mut links = Vec::new();
        let mut at = start;
        while let Some(link) = self.parent[at as usize] {
            links.push(link);
            at = link.from;
            if at == start {
                break;
            }
        }
        links.reverse();
        let mut links = self.full.graph.joined(&links);
        if links.len() > 2 {
            links.rotate_right(1);
            links = self.full.graph.joined(&links);
        }
        links
    }
}

/// The cost of a link: 0 for program order inside a message, 1 for any other.
fn cost(full: &Full<'_>, link: Link) -> u32 {
    let message = |slot| full.graph.message(slot);
    let is_inside = link.why == Why::Given(Relation::Program);
    u32::from(!is_inside || message(link.from) != message(link.to))
}
