//! Which threads have to be tried in a state.

use super::behaviour::{Behaviours, NodeId};
use super::footprint::Touch;
use super::kind::{Kind, conflicts_of};
use super::sabotage::Sabotage;
use super::state::State;
use crate::ids::{ObjectId, ThreadId};
use crate::object::Object;
use crate::op::{Act, Patience};

/// Finds sets of threads such that, whatever the others do, it does not touch what these are about
/// to do: persistent sets, from the futures of all threads.
///
/// A set is closed: with a thread whose operation `a` is possible it contains every thread whose
/// future has an operation in conflict with `a`; with a thread that waits, threads without which
/// its operation cannot become possible (P. Godefroid, *Partial-Order Methods for the Verification
/// of Concurrent Systems*, 1996, chapters 4 and 5: conflicting transitions and stubborn sets).
#[derive(Debug, Default)]
pub(crate) struct Persistent {
    best: Vec<usize>,
    set: Vec<usize>,
    is_in: Vec<bool>,
    sabotage: Sabotage,
}

impl Persistent {
    /// Returns the positions of the threads to try: those of a smallest closed set around one
    /// thread. `ways` are the ways in which each can go on.
    pub(crate) fn find(
        &mut self,
        state: &State,
        known: &Behaviours,
        ways: &[u32],
        sabotage: Sabotage,
    ) -> &[usize] {
        self.sabotage = sabotage;
        let able = ways.iter().filter(|ways| **ways > 0).count();
        self.best.clear();
        let mut least = usize::MAX;
        for seed in (0..ways.len()).filter(|seed| ways[*seed] > 0) {
            let count = self.close(seed, state, known, ways, least);
            if count < least {
                least = count;
                std::mem::swap(&mut self.best, &mut self.set);
                if count == 1 || able == 1 {
                    break;
                }
            }
        }
        self.best.retain(|at| ways[*at] > 0);
        self.best.sort_unstable();
        &self.best
    }

    /// Closes the set around a thread. Returns the number of its threads that can go on; gives up
    /// once that is `most`.
    fn close(
        &mut self,
        seed: usize,
        state: &State,
        known: &Behaviours,
        ways: &[u32],
        most: usize,
    ) -> usize {
        self.set.clear();
        self.is_in.clear();
        self.is_in.resize(ways.len(), false);
        self.set.push(seed);
        self.is_in[seed] = true;
        let (mut next, mut able) = (0, 0);
        while let Some(at) = self.set.get(next).copied() {
            next += 1;
            able += usize::from(ways[at] > 0);
            if able >= most {
                return most;
            }
            self.need(at, state, known, ways[at] > 0);
        }
        able
    }

    /// Adds what a thread of the set needs.
    fn need(&mut self, at: usize, state: &State, known: &Behaviours, is_able: bool) {
        let (thread, node) = state.live[at];
        if !is_able && self.sabotage == Sabotage::WaitingNeedsNobody {
            return;
        }
        if is_able && is_alone(state, known, thread, node) {
            return;
        }
        if !is_able && let Some(holder) = holder(state, known, node) {
            let position = state.live.binary_search_by_key(&holder, |live| live.0);
            if let Ok(position) = position
                && position != at
            {
                self.add(position);
            }
            return;
        }
        let sabotage = self.sabotage;
        for touch in known.footprints.get(known.node(node).own) {
            let against = match is_able {
                true => conflicts_of(touch.kinds, self.sabotage),
                false => Kind::ENABLING,
            };
            let needs = |other: &Touch| {
                other.kinds & against != 0 && !(is_able && is_specified(touch, other, sabotage))
            };
            for (other, live) in state.live.iter().enumerate() {
                let future = known.node(live.1).future;
                if !self.is_in[other]
                    && known.footprints.of_object(future, touch.object).iter().any(needs)
                {
                    self.is_in[other] = true;
                    self.set.push(other);
                }
            }
        }
    }

    fn add(&mut self, thread: usize) {
        if !self.is_in[thread] {
            self.is_in[thread] = true;
            self.set.push(thread);
        }
    }
}

fn is_specified(touch: &Touch, other: &Touch, sabotage: Sabotage) -> bool {
    let is_in_any = touch.owner != ObjectId::NONE && other.owner != ObjectId::NONE;
    touch.is_specified_with(other) || (sabotage == Sabotage::OwnersForgotten && is_in_any)
}

/// Whether nothing that others do can matter to an operation that is possible now.
fn is_alone(state: &State, known: &Behaviours, thread: ThreadId, node: NodeId) -> bool {
    let op = known.op(node);
    match (&op.act, state.world.get(op.object)) {
        // It has been notified: others cannot take that away.
        (Act::Wake(_), Some(Object::Condition { notified, .. })) => notified.contains(&thread),
        _ => false,
    }
}

/// The thread without which a waiting operation cannot become possible, if there is one.
fn holder(state: &State, known: &Behaviours, node: NodeId) -> Option<ThreadId> {
    let op = known.op(node);
    match (&op.act, state.world.get(op.object)) {
        (Act::Lock(_, Patience::Wait), Some(Object::Lock { exclusive, .. })) => *exclusive,
        _ => None,
    }
}
