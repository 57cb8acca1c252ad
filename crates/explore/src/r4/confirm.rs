//! Confirms differences: both runs are executed again.

use super::candidate::Candidate;
use super::dependence::sequence_hash;
use super::explore::Exploration;
use super::outcome::Limit;
use super::pool::{Answer, Job};
use super::sabotage::Sabotage;
use super::store::RunId;
use super::verdict::{Verdict, failures};
use anyorder_system::Observation;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The most runs repeated before the limits are checked.
const REPEAT_BATCH: usize = 64;

/// Repeats the runs of a level that differ from their parents, and these parents. If a repeated run
/// gives another result, it is executed a third time. The result that occurred twice is taken, and
/// the run is reported as unstable.
pub(crate) fn confirm(exploration: &mut Exploration<'_>, level: &[RunId]) {
    let sabotage = exploration.options.sabotage();
    if !exploration.options.confirm || sabotage == Sabotage::Unconfirmed {
        return;
    }
    // A changed result may cause further differences.
    for _ in 0..4 {
        let mut wanted: Vec<RunId> = Vec::new();
        for id in level {
            if exploration.is_harmful(*id) {
                wanted.extend(exploration.records.nodes[*id as usize].parent);
                wanted.push(*id);
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        wanted.retain(|id| exploration.records.nodes[*id as usize].confirmed.is_none());
        if wanted.is_empty() || !exploration.repeat(&wanted) {
            break;
        }
        exploration.compare_updated(level);
    }
    for id in level {
        let node = &exploration.records.nodes[*id as usize];
        let parent = node.parent.map(|parent| exploration.records.nodes[parent as usize].confirmed);
        let shaky = node.confirmed == Some(false) || parent == Some(Some(false));
        if shaky
            && let Some(comparison) = &mut exploration.records.nodes[*id as usize].comparison
            && comparison.verdict == Verdict::Different
        {
            comparison.verdict = Verdict::Unstable;
        }
    }
}

impl Exploration<'_> {
    fn is_harmful(&self, id: RunId) -> bool {
        let comparison = &self.records.nodes[id as usize].comparison;
        comparison.as_ref().is_some_and(|comparison| comparison.verdict.is_harmful())
    }

    /// Repeats runs, and records which results are reliable. Returns false once the exploration was
    /// stopped.
    fn repeat(&mut self, wanted: &[RunId]) -> bool {
        let second = self.rerun(wanted);
        let is_same = |exploration: &Self, id: RunId, seen: &Observation| {
            exploration.records.observation(id).0 == seen.hash()
        };
        let mut doubtful = Vec::new();
        for id in wanted {
            if second.get(id).is_some_and(|seen| is_same(self, *id, seen)) {
                self.records.nodes[*id as usize].confirmed = Some(true);
            } else {
                doubtful.push(*id);
            }
        }
        if self.is_stopped() {
            return false;
        }
        let third = self.rerun(&doubtful);
        for id in doubtful {
            self.records.counts.unstable += 1;
            let mut believed = false;
            if let Some(seen) = third.get(&id) {
                believed = is_same(self, id, seen);
                if !believed && second.get(&id).is_some_and(|other| other.hash() == seen.hash()) {
                    // The first run was the exception.
                    let observation = self.records.observations.add(seen.clone());
                    self.records.nodes[id as usize].observation = observation;
                    believed = true;
                }
            }
            let node = &mut self.records.nodes[id as usize];
            node.confirmed = Some(believed);
            node.unstable =
                Some("the same choices gave another result when they were repeated".to_owned());
        }
        !self.is_stopped()
    }

    /// Executes runs once more, from the start. Returns the observations of those that had the same
    /// tasks and failures.
    fn rerun(&mut self, wanted: &[RunId]) -> FxHashMap<RunId, Observation> {
        let mut found = FxHashMap::default();
        for batch in wanted.chunks(REPEAT_BATCH) {
            let counts = self.records.counts;
            if !self.step(counts.runs()) {
                break;
            }
            let left = self.control.limits.executions.unwrap_or(u64::MAX);
            let left = left.saturating_sub(counts.runs());
            if left < batch.len() as u64 {
                self.records.limits.insert(Limit::Executions);
            }
            let left = usize::try_from(left).unwrap_or(usize::MAX);
            let batch = &batch[..batch.len().min(left)];
            let jobs = batch.iter().map(|id| self.repetition(*id)).collect();
            let answers = self.execute(jobs);
            self.records.counts.confirmations += answers.len() as u64;
            for Answer { order, result, .. } in answers {
                let (Ok(ran), node) = (result, &self.records.nodes[order]) else { continue };
                let is_same = sequence_hash(&self.name_cache, &ran.steps) == node.sequence_hash
                    && failures(&ran.steps) == node.failures;
                if is_same {
                    found.insert(order as RunId, ran.observation);
                }
            }
        }
        found
    }

    /// The job that executes a run once more.
    fn repetition(&mut self, id: RunId) -> Job {
        // Follow the plan: tasks that were skipped in the first run must be skipped again.
        let rest = match &self.records.nodes[id as usize].plan {
            Some((of, plan)) => plan.sequence(&self.records.store.steps(*of)).collect(),
            None => self.records.store.steps(id).iter().map(|step| step.task).collect(),
        };
        let candidate = Candidate { shared: 0, rest, asleep: Vec::new() };
        self.next_run += 1;
        let (run, parent) = (self.next_run, Arc::new(Vec::new()));
        Job { run, parent, candidates: vec![(id as usize, candidate)], ask: false, repeats: true }
    }

    /// Compares runs of a level with their parents again, where the result of either changed.
    fn compare_updated(&mut self, level: &[RunId]) {
        for id in level {
            let node = &self.records.nodes[*id as usize];
            let of_parent = node.parent.map(|parent| &self.records.nodes[parent as usize]);
            if node.unstable.is_some() || of_parent.is_some_and(|node| node.unstable.is_some()) {
                self.compare_with_parent(*id);
            }
        }
    }

    /// Compares a run with its parent.
    pub(crate) fn compare_with_parent(&mut self, id: RunId) {
        if let Some(parent) = self.records.nodes[id as usize].parent {
            let [steps, of_parent] = [id, parent].map(|id| self.records.store.steps(id));
            self.compare(id, &steps, &of_parent);
        }
    }
}
