//! The paper's order: depth first, next the sequence that shares the longest beginning with the one
//! run last.
//!
//! **Source.** Algorithms 1, 3 and 4 of the R4 paper. **Deviations.** (1) The recording and what
//! goes on unchanged do not grow deeper by being looked at (trap 1); a sequence has the depth of
//! its plan whatever was skipped (trap 2), and the smallest of all its plans: one that is reached
//! by fewer reversals later is varied again (trap 8). (2) Plans are known by their sequences, not
//! by first events, so a disabled or empty front ends nothing (traps 3 and 4). The set of sequences
//! is that of the exploration by levels.

use super::confirm::confirm;
use super::crew::Crew;
use super::explore::Exploration;
use super::ledger::{NO_RUN, Pair};
use super::levels::Pending;
use super::names::TaskId;
use super::sabotage::Sabotage;
use super::store::RunId;

/// A plan that waits.
struct Waiting {
    pending: Pending,
    sequence: Vec<TaskId>,
    depth: u32,
}

impl Exploration<'_> {
    /// Explores in the paper's order, up to a bound.
    pub(crate) fn depth_first(&mut self, crew: &mut dyn Crew, bound: u32) {
        let mut waiting: Vec<Waiting> = Vec::new();
        let mut last: Vec<TaskId> = self.tasks(0);
        let mut open = vec![0];
        loop {
            while let Some(id) = open.pop() {
                if !self.open(id, bound, &mut waiting, &mut open) {
                    return;
                }
            }
            let Some(place) = nearest(&waiting, &last) else {
                self.exhausted = self.ledger.nodes.iter().all(|node| node.depth < bound);
                break;
            };
            let Waiting { pending, depth, .. } = waiting.remove(place);
            let (hash, mut fresh) = (pending.hash, Vec::new());
            let by = origin(&pending);
            self.flush(crew, &mut vec![pending], (depth, true), &mut fresh);
            if self.is_stopped() {
                break;
            }
            match self.ledger.planned.get(&hash) {
                Some(id) if *id != NO_RUN => {
                    let id = *id;
                    last = self.tasks(id);
                    if self.lower(id, depth, by) || fresh.contains(&id) {
                        open.push(id);
                    }
                }
                _ => {}
            }
        }
        let all: Vec<RunId> = (0..).take(self.ledger.nodes.len()).collect();
        confirm(self, crew, &all);
    }

    fn tasks(&self, id: RunId) -> Vec<TaskId> {
        self.ledger.store.steps(id).iter().map(|step| step.task).collect()
    }

    /// Lets the plans of a run wait. Returns false when there is no room.
    fn open(
        &mut self,
        id: RunId,
        bound: u32,
        waiting: &mut Vec<Waiting>,
        open: &mut Vec<RunId>,
    ) -> bool {
        let depth = self.ledger.nodes[id as usize].depth + 1;
        if depth > bound {
            return true;
        }
        let Some((parent, found)) = self.plans_of(id) else { return false };
        for plan in found {
            let pending = self.pending(&parent, plan);
            let hash = pending.hash;
            let known = self.ledger.planned.get(&hash).or(self.ledger.by_sequence.get(&hash));
            match known.copied() {
                None => {
                    self.ledger.planned.insert(hash, NO_RUN);
                    let sequence = pending.plan.sequence(&parent.steps).collect();
                    waiting.push(Waiting { pending, sequence, depth });
                }
                Some(NO_RUN) => {
                    self.ledger.counts.repeated += 1;
                    if let Some(other) = waiting.iter_mut().find(|other| other.pending.hash == hash)
                        && depth < other.depth
                    {
                        *other = Waiting { pending, depth, sequence: other.sequence.clone() };
                    }
                }
                Some(known) => {
                    self.ledger.counts.repeated += 1;
                    if self.lower(known, depth, origin(&pending)) {
                        open.push(known);
                    }
                }
            }
        }
        true
    }

    /// Gives a run a smaller depth, if this is one.
    fn lower(&mut self, id: RunId, depth: u32, (parent, pair): (RunId, Pair)) -> bool {
        if depth >= self.ledger.nodes[id as usize].depth
            || self.options.sabotage() == Sabotage::FirstDepth
        {
            return false;
        }
        let node = &mut self.ledger.nodes[id as usize];
        (node.depth, node.parent, node.pair) = (depth, Some(parent), Some(pair));
        self.compare_with_parent(id);
        true
    }
}

/// The run that a plan varies, and the pair that it reverses.
fn origin(pending: &Pending) -> (RunId, Pair) {
    let plan = &pending.plan;
    let pair = Pair { first: plan.first, second: plan.second, kind: plan.kind };
    (pending.parent.id, pair)
}

/// The place of the plan that shares the longest beginning with the last run; of these the one with
/// fewest reversals, then the first.
fn nearest(waiting: &[Waiting], last: &[TaskId]) -> Option<usize> {
    let shared =
        |waiting: &Waiting| waiting.sequence.iter().zip(last).take_while(|(a, b)| a == b).count();
    let best = |(place, one): (usize, &Waiting)| (std::cmp::Reverse(shared(one)), one.depth, place);
    waiting.iter().enumerate().map(best).min().map(|(_, _, place)| place)
}
