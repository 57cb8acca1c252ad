//! Finds the cycles behind orders and conflicts, on request.

use super::{Conflict, Entry, Reason, Saturation};
use crate::answer::{Fact, Link, Why};
use crate::partial::{MessageId, Slot};
use std::collections::VecDeque;

/// A node not reached yet.
const FAR: u32 = u32::MAX;

impl Saturation<'_> {
    /// The cycle of a conflict. `None` would mean that the closure has a wrong bit.
    pub(crate) fn conflict_cycle(&self, conflict: Conflict) -> Option<Vec<Link>> {
        self.cycle(conflict.path, conflict.closing, conflict.limit)
    }

    /// The cycle that the opposite of an entry of the trail would close; only for entries that a
    /// path forced.
    pub(crate) fn entry_cycle(&self, index: usize) -> Option<Vec<Link>> {
        let Entry { reason: Reason::Path(from, to), .. } = self.trail[index] else { return None };
        self.cycle((from, to), self.trail[index].fact().opposite(), index)
    }

    /// The index of a fact in the trail.
    pub(crate) fn index(&self, fact: Fact) -> Option<usize> {
        let Fact::Runs { first, second } = fact else { return None };
        let found = self.outgoing[first as usize]
            .iter()
            .find(|&&index| self.trail[index as usize].second == second);
        found.map(|&index| index as usize)
    }

    fn cycle(&self, path: (Slot, Slot), closing: Fact, limit: usize) -> Option<Vec<Link>> {
        let mut links = self.path(path, limit)?;
        links.push(Link { from: path.1, to: path.0, why: Why::Decided(closing) });
        let mut links = self.graph.joined(&links);
        // The closing link may also replace the first one.
        if links.len() > 2 {
            links.rotate_right(1);
            links = self.graph.joined(&links);
        }
        Some(links)
    }

    /// A path with as few decided orders as possible, all among the first entries of the trail.
    fn path(&self, (from, to): (Slot, Slot), limit: usize) -> Option<Vec<Link>> {
        let slots = self.graph.slots();
        let mut distance = vec![FAR; slots];
        let mut parent: Vec<Option<Link>> = vec![None; slots];
        let mut queue = VecDeque::from([(from, 0)]);
        distance[from as usize] = 0;
        while let Some((slot, length)) = queue.pop_front() {
            if slot == to {
                break;
            }
            if length > distance[slot as usize] {
                continue;
            }
            let mut step = |next: Slot, why: Why, cost: u32| {
                if length + cost < distance[next as usize] {
                    distance[next as usize] = length + cost;
                    parent[next as usize] = Some(Link { from: slot, to: next, why });
                    match cost {
                        0 => queue.push_front((next, length)),
                        _ => queue.push_back((next, length + cost)),
                    }
                }
            };
            for (next, relation) in self.graph.after(slot) {
                step(next, Why::Given(relation), 0);
            }
            let later = |first: MessageId| {
                let early = self.outgoing[first as usize].iter().map(|&index| index as usize);
                early.take_while(|&index| index < limit).map(|index| self.trail[index].second)
            };
            self.graph.decided_after(slot, self.rules, later, |next, why| step(next, why, 1));
        }
        let mut links = Vec::new();
        let mut at = to;
        while at != from {
            let link = parent[at as usize]?;
            at = link.from;
            links.push(link);
        }
        links.reverse();
        Some(links)
    }
}
