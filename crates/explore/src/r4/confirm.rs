//! Confirms differences: both runs are executed again.

use super::candidate::{Candidate, RunResult};
use super::explore::Exploration;
use super::outcome::Limit;
use super::pool::{Answer, Job, RunPool};
use super::sabotage::Sabotage;
use super::store::RunId;
use super::verdict::{ComparedRun, Verdict, compare};
use anyorder_system::Hash128;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The result of a repeated run: its tasks, observation and failures.
#[derive(Clone, PartialEq, Eq)]
struct Repetition {
    same_tasks: bool,
    observation: Hash128,
}

/// The most runs repeated before the limits are checked.
const REPEAT_BATCH: usize = 64;

/// Repeats the runs of a level that differ from their parents, and these parents. If a repeated run
/// gives another result, it is executed a third time. The result that occurred twice is taken, and
/// the run is reported as unstable.
pub(crate) fn confirm(exploration: &mut Exploration<'_>, pool: &mut dyn RunPool, level: &[RunId]) {
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
        if wanted.is_empty() || !exploration.repeat(pool, &wanted) {
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
    fn repeat(&mut self, pool: &mut dyn RunPool, wanted: &[RunId]) -> bool {
        let second = self.rerun(pool, wanted);
        let is_same = |exploration: &Self, id: RunId, rerun: &Repetition| {
            let node = &exploration.records.nodes[id as usize];
            let was = exploration.records.observations.get(node.observation).0;
            rerun.same_tasks && rerun.observation == was
        };
        let mut doubtful = Vec::new();
        for id in wanted {
            match second.get(id) {
                Some((rerun, _)) if is_same(self, *id, rerun) => {
                    self.records.nodes[*id as usize].confirmed = Some(true);
                }
                _ => doubtful.push(*id),
            }
        }
        if self.is_stopped() {
            return false;
        }
        let third = self.rerun(pool, &doubtful);
        for id in doubtful {
            self.records.counts.unstable += 1;
            let mut believed = false;
            if let Some((rerun, ran)) = third.get(&id) {
                believed = is_same(self, id, rerun);
                if !believed
                    && rerun.same_tasks
                    && second.get(&id).map(|(one, _)| one) == Some(rerun)
                {
                    // The first run was the exception.
                    let observation = self.records.observations.add(ran.observation.clone());
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

    /// Executes runs once more, from the start.
    fn rerun(
        &mut self,
        pool: &mut dyn RunPool,
        wanted: &[RunId],
    ) -> FxHashMap<RunId, (Repetition, RunResult)> {
        let mut jobs = Vec::new();
        for id in wanted {
            // Follow the plan: tasks that were skipped in the first run must be skipped again.
            let rest = match &self.records.nodes[*id as usize].plan {
                Some((of, plan)) => plan.sequence(&self.records.store.steps(*of)).collect(),
                None => self.records.store.steps(*id).iter().map(|step| step.task).collect(),
            };
            let candidate = Candidate { shared: 0, rest, asleep: Vec::new() };
            self.next_run += 1;
            let (run, parent) = (self.next_run, Arc::new(Vec::new()));
            jobs.push(Job { run, parent, candidates: vec![(*id as usize, candidate)], ask: false });
        }
        let mut answers = Vec::with_capacity(jobs.len());
        let mut jobs = jobs.into_iter().peekable();
        while jobs.peek().is_some() {
            let done = self.records.counts.executions + self.records.counts.confirmations;
            if self.control.step(done, None).is_err() {
                self.stop();
                break;
            }
            let some = pool.work(jobs.by_ref().take(REPEAT_BATCH).collect());
            self.records.counts.confirmations += some.len() as u64;
            answers.extend(some);
        }
        self.name_cache.catch_up();
        let mut found = FxHashMap::default();
        for Answer { order, result, attempts } in answers {
            let id = u32::try_from(order).unwrap_or(u32::MAX);
            self.records.counts.retries += attempts.saturating_sub(1);
            match result {
                Ok(ran) => {
                    let node = &self.records.nodes[order];
                    let hash = super::driver::sequence_hash(&self.name_cache, &ran.steps);
                    let same_failures = super::verdict::failures(&ran.steps) == node.failures;
                    let same_tasks = hash == node.sequence_hash && same_failures;
                    let rerun = Repetition { same_tasks, observation: ran.observation.hash() };
                    found.insert(id, (rerun, ran));
                }
                Err(super::candidate::NoRun::Stopped(reason)) => {
                    self.records.limits.insert(Limit::Stopped(reason));
                }
                Err(super::candidate::NoRun::Lost(_)) => {}
            }
        }
        found
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
        let node = &self.records.nodes[id as usize];
        let (Some(parent), Some(pair)) = (node.parent, node.pair) else { return };
        let steps = [self.records.store.steps(id), self.records.store.steps(parent)];
        let [child, parent] = [(id, &steps[0]), (parent, &steps[1])].map(|(id, steps)| {
            let observation = self.records.nodes[id as usize].observation;
            let (hash, observation) = self.records.observations.get(observation);
            ComparedRun { steps, observation, hash }
        });
        let rest = (&self.name_cache, &self.inputs, self.options);
        let comparison = compare(&parent, &child, (pair.first, pair.second), rest);
        self.records.nodes[id as usize].comparison = Some(comparison);
    }
}
