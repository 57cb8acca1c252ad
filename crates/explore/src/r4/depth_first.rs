//! The paper's order: depth first. The next sequence shares the longest prefix with the last run.
//!
//! **Source.** Algorithms 1, 3 and 4 of the R4 paper. **Deviations.** (1) Depth does not grow when
//! a sequence is considered: the recording and unchanged continuations keep theirs (trap 1). A
//! sequence has the depth of its plan, whatever was skipped (trap 2), and the smallest depth of all
//! its plans. If a later plan reaches it with fewer reversals, its pairs are reversed again (trap
//! 8). (2) Plans are identified by their sequences, not by first events, so a disabled or empty
//! front ends nothing (traps 3 and 4). The set of sequences is the same as in the exploration by
//! levels.

use super::confirm::confirm;
use super::explore::Exploration;
use super::levels::Pending;
use super::names::TaskId;
use super::reversal::Pair;
use super::run_records::NO_RUN;
use super::sabotage::Sabotage;
use super::store::RunId;

/// A plan that has not run yet.
struct Waiting {
    pending: Pending,
    sequence: Vec<TaskId>,
    depth: u32,
}

impl Exploration<'_> {
    /// Explores in the paper's order, up to a bound.
    pub(crate) fn depth_first(&mut self, bound: u32) {
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
                self.exhausted = self.records.nodes.iter().all(|node| node.depth < bound);
                break;
            };
            let Waiting { pending, depth, .. } = waiting.remove(place);
            let (hash, mut fresh) = (pending.hash, Vec::new());
            let by = origin(&pending);
            self.flush(&mut vec![pending], (depth, true), &mut fresh);
            if self.is_ended() {
                break;
            }
            if let Some(id) = self.known(hash).filter(|id| *id != NO_RUN) {
                last = self.tasks(id);
                if self.lower(id, depth, by) || fresh.contains(&id) {
                    open.push(id);
                }
            }
        }
        let all: Vec<RunId> = (0..).take(self.records.nodes.len()).collect();
        confirm(self, &all);
    }

    fn tasks(&self, id: RunId) -> Vec<TaskId> {
        self.records.store.steps(id).iter().map(|step| step.task).collect()
    }

    /// Adds the plans of a run to the waiting plans. Returns false if a limit on memory was
    /// reached.
    fn open(
        &mut self,
        id: RunId,
        bound: u32,
        waiting: &mut Vec<Waiting>,
        open: &mut Vec<RunId>,
    ) -> bool {
        let depth = self.records.nodes[id as usize].depth + 1;
        if depth > bound {
            return true;
        }
        let Some((parent, found)) = self.plans_of(id) else { return false };
        for plan in found {
            let pending = self.pending(&parent, plan);
            let hash = pending.hash;
            match self.known(hash) {
                None => {
                    self.records.planned.insert(hash, NO_RUN);
                    let sequence = pending.plan.sequence(&parent.steps).collect();
                    waiting.push(Waiting { pending, sequence, depth });
                }
                Some(NO_RUN) => {
                    self.records.counts.repeated += 1;
                    if let Some(other) = waiting.iter_mut().find(|other| other.pending.hash == hash)
                        && depth < other.depth
                    {
                        *other = Waiting { pending, depth, sequence: other.sequence.clone() };
                    }
                }
                Some(known) => {
                    self.records.counts.repeated += 1;
                    if self.lower(known, depth, origin(&pending)) {
                        open.push(known);
                    }
                }
            }
        }
        true
    }

    /// Lowers the depth of a run. Returns false if the new depth is not smaller.
    fn lower(&mut self, id: RunId, depth: u32, (parent, pair): (RunId, Pair)) -> bool {
        if depth >= self.records.nodes[id as usize].depth
            || self.options.sabotage() == Sabotage::FirstDepth
        {
            return false;
        }
        let node = &mut self.records.nodes[id as usize];
        (node.depth, node.parent, node.pair) = (depth, Some(parent), Some(pair));
        self.compare_with_parent(id);
        true
    }
}

/// The parent run of a plan, and the pair that the plan reverses.
fn origin(pending: &Pending) -> (RunId, Pair) {
    (pending.parent.id, pending.plan.pair)
}

/// The index of the plan that shares the longest prefix with the last run. Ties go to the plan with
/// the fewest reversals, then to the first.
fn nearest(waiting: &[Waiting], last: &[TaskId]) -> Option<usize> {
    let shared =
        |waiting: &Waiting| waiting.sequence.iter().zip(last).take_while(|(a, b)| a == b).count();
    let best = |(place, one): (usize, &Waiting)| (std::cmp::Reverse(shared(one)), one.depth, place);
    waiting.iter().enumerate().map(best).min().map(|(_, _, place)| place)
}
