//! When a graph is consistent: the axioms of RC11 (Lahav and others, PLDI 2017, definition 1),
//! with the release sequences of C++20.
//!
//! - *Coherence*: no event happens before itself, and none that happens before another one is after
//!   it by reads-from, modification order and read-before. Kept by where reads and writes may be
//!   added, see [`bound`].
//! - *Atomicity*: nothing is between a read-modify-write and what it reads from.
//! - *No thin air*: program order and reads-from have no circle. Kept by the search: a read gets a
//!   later write for a source only if the write does not depend on the read.
//! - *SC*: the relation `psc` of sequentially consistent accesses and fences has no circle.

use super::graph::{Clock, Event, Graph, Id, Kind, NOBODY, NOWHERE};
use super::sabotage::Sabotage;

/// Returns the rank of the last write of an object that a new event of a thread has to know: writes
/// that happen before it, and those read by what happens before it. It cannot read from an earlier
/// one, nor write before this one.
pub(super) fn bound(graph: &Graph, object: u32, thread: u32) -> usize {
    let Some(last) = graph.last(thread) else { return 0 };
    bound_after(graph, object, last)
}

pub(super) fn bound_after(graph: &Graph, object: u32, last: Id) -> usize {
    let Some(accesses) = graph.accesses(object) else { return 0 };
    let is_known = |id: &&Id| graph.precedes(**id, last, Clock::Before);
    let written = accesses.order.iter().rev().find(is_known).map_or(0, |id| graph.rank(*id));
    let read = accesses.reads.iter().filter(is_known);
    let read = read.map(|id| graph.rank(graph.event(*id).source)).max();
    written.max(read.unwrap_or(0))
}

/// Whether a write can come at a place in the order of its object without parting a
/// read-modify-write from what it reads from.
pub(super) fn is_free(graph: &Graph, object: u32, place: usize) -> bool {
    graph.order(object).get(place).is_none_or(|next| !graph.event(*next).is_exclusive)
}

/// Whether `psc` has no circle. It had none before some events were added.
pub(super) fn has_sc_order(graph: &Graph, added: &[Id], sabotage: Sabotage) -> bool {
    if sabotage == Sabotage::CirclesOfAccesses && graph.sc_fences == 0
        || sabotage == Sabotage::CirclesOfFences && graph.sc_fences > 0
    {
        return true;
    }
    if graph.sc_accesses + graph.sc_fences < 2 {
        return true;
    }
    if graph.sc_fences > 0 {
        return Psc { graph, sabotage }.has_no_circle();
    }
    let is_in_circle =
        |id: &Id| graph.event(*id).is_sc && Psc { graph, sabotage }.is_in_circle(*id);
    !added.iter().any(is_in_circle)
}

/// The relation `psc` of a graph.
struct Psc<'g> {
    graph: &'g Graph,
    sabotage: Sabotage,
}

impl Psc<'_> {
    /// Whether an access is in a circle. Without fences, `psc` is `scb` on accesses: no circle of
    /// other accesses is new.
    fn is_in_circle(&self, id: Id) -> bool {
        let mut left: Vec<Id> = Vec::with_capacity(self.graph.sc_accesses as usize);
        let all = 0..self.graph.events.len() as Id;
        left.extend(all.filter(|other| *other != id && self.graph.event(*other).is_sc));
        let mut todo = vec![id];
        while let Some(at) = todo.pop() {
            if at != id && self.scb(at, id) {
                return true;
            }
            left.retain(|next| {
                let is_next = self.scb(at, *next);
                if is_next {
                    todo.push(*next);
                }
                !is_next
            });
        }
        false
    }

    fn is_before(&self, a: Id, b: Id) -> bool {
        a != b && self.graph.precedes(a, b, Clock::Before)
    }

    /// Whether there is no circle, by the definition: of any two events that are related by `scb`
    /// or `eco`, the nodes that come before the first are before those that come after the second.
    fn has_no_circle(&self) -> bool {
        let count = self.graph.events.len() as Id;
        let nodes: Vec<Id> = (0..count).filter(|id| self.graph.event(*id).is_sc).collect();
        let is_fence = |at: &usize| self.graph.event(nodes[*at]).kind == Kind::Fence;
        let fences: Vec<usize> = (0..nodes.len()).filter(is_fence).collect();
        let of_fences = |related: &dyn Fn(Id) -> bool| -> Vec<usize> {
            fences.iter().copied().filter(|at| related(nodes[*at])).collect()
        };
        let before: Vec<Vec<usize>> =
            (0..count).map(|c| of_fences(&|fence| self.is_before(fence, c))).collect();
        let after: Vec<Vec<usize>> =
            (0..count).map(|d| of_fences(&|fence| self.is_before(d, fence))).collect();
        let mut rows = vec![vec![false; nodes.len()]; nodes.len()];
        for c in 0..count {
            let own = nodes.binary_search(&c).ok();
            if own.is_none() && before[c as usize].is_empty() {
                continue;
            }
            for d in (0..count).filter(|d| *d != c) {
                let other = nodes.binary_search(&d).ok();
                if other.is_none() && after[d as usize].is_empty() {
                    continue;
                }
                if self.scb(c, d) {
                    for a in before[c as usize].iter().copied().chain(own) {
                        let targets = after[d as usize].iter().copied().chain(other);
                        targets.for_each(|b| rows[a][b] = true);
                    }
                } else if self.eco(c, d) {
                    for a in &before[c as usize] {
                        after[d as usize].iter().for_each(|b| rows[*a][*b] = true);
                    }
                }
            }
        }
        for a in &fences {
            let later = fences.iter().filter(|b| self.is_before(nodes[*a], nodes[**b]));
            later.for_each(|b| rows[*a][*b] = true);
        }
        is_acyclic(&rows)
    }

    /// Modification order or read-before.
    fn overtakes(&self, a: &Event, b: &Event) -> bool {
        if a.object != b.object || b.kind != Kind::Write {
            return false;
        }
        match a.kind {
            Kind::Write => a.place < b.place,
            Kind::Read => self.graph.rank(a.source) <= b.place as usize,
            _ => false,
        }
    }

    /// The transitive closure of reads-from, modification order and read-before.
    fn eco(&self, a: Id, b: Id) -> bool {
        let (from, to) = (self.graph.event(a), self.graph.event(b));
        if from.object != to.object {
            return false;
        }
        match (from.kind, to.kind) {
            (Kind::Write | Kind::Read, Kind::Write) => self.overtakes(from, to),
            _ if self.sabotage == Sabotage::FencesWithoutReadsFrom => false,
            (Kind::Write, Kind::Read) => self.graph.rank(a) <= self.graph.rank(to.source),
            (Kind::Read, Kind::Read) => self.graph.rank(from.source) < self.graph.rank(to.source),
            _ => false,
        }
    }

    fn scb(&self, a: Id, b: Id) -> bool {
        let (from, to) = (self.graph.event(a), self.graph.event(b));
        let is_access = |event: &Event| matches!(event.kind, Kind::Read | Kind::Write);
        (from.thread == to.thread && from.index < to.index)
            || self.overtakes(from, to)
            || (is_access(from)
                && is_access(to)
                && from.object == to.object
                && self.is_before(a, b))
            || (self.sabotage != Sabotage::CirclesThroughOthers && self.through_others(from, to))
    }

    /// `sb|≠loc; hb; sb|≠loc`.
    fn through_others(&self, from: &Event, to: &Event) -> bool {
        let log = |event: &Event| &self.graph.logs[event.thread as usize];
        let differs = |object: u32| {
            move |id: &&Id| {
                let other = self.graph.event(**id).object;
                object == NOWHERE || other != object
            }
        };
        let next = log(from)[from.index as usize + 1..].iter().find(differs(from.object));
        let last = log(to)[..to.index as usize].iter().rev().find(differs(to.object));
        match (next, last) {
            (Some(next), Some(last)) => self.is_before(*next, *last),
            // The beginning of a thread, which its spawn happens before, is no event here.
            (Some(next), None) => {
                let spawn = self.graph.spawns[to.thread as usize];
                spawn < NOBODY && self.graph.precedes(*next, spawn, Clock::Before)
            }
            (None, _) => false,
        }
    }
}

/// Removes what has nothing before it, again and again.
fn is_acyclic(rows: &[Vec<bool>]) -> bool {
    let mut left: Vec<usize> = (0..rows.len()).collect();
    loop {
        let is_after = |b: &usize| left.iter().any(|a| rows[*a][*b]);
        let rest: Vec<usize> = left.iter().copied().filter(is_after).collect();
        if rest.is_empty() {
            return true;
        }
        if rest.len() == left.len() {
            return false;
        }
        left = rest;
    }
}
