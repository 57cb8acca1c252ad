//! Whether a difference is one: both runs are made again.

use super::course::{Course, Ran};
use super::crew::{Answer, Crew, Job};
use super::explore::Exploration;
use super::outcome::Limit;
use super::sabotage::Sabotage;
use super::store::RunId;
use super::verdict::{Side, Verdict, compare};
use anyorder_system::Hash128;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What a run was, when it was repeated: its tasks, and what it amounted to.
#[derive(Clone, PartialEq, Eq)]
struct Again {
    same_tasks: bool,
    observation: Hash128,
}

/// The most runs that are repeated before it is looked whether to go on.
const PORTION: usize = 64;

/// Repeats the runs of a level that differ from their parents, and these parents. A run that gives
/// something else is made a third time: what two of three say is believed, and the run is reported
/// as unstable.
pub(crate) fn confirm(exploration: &mut Exploration<'_>, crew: &mut dyn Crew, level: &[RunId]) {
    let sabotage = exploration.options.sabotage();
    if !exploration.options.confirm || sabotage == Sabotage::Unconfirmed {
        return;
    }
    // A belief that changed may make other differences.
    for _ in 0..4 {
        let mut wanted: Vec<RunId> = Vec::new();
        for id in level {
            if exploration.is_harmful(*id) {
                wanted.extend(exploration.ledger.nodes[*id as usize].parent);
                wanted.push(*id);
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        wanted.retain(|id| exploration.ledger.nodes[*id as usize].confirmed.is_none());
        if wanted.is_empty() || !exploration.repeat(crew, &wanted) {
            break;
        }
        exploration.compare_again(level);
    }
    for id in level {
        let node = &exploration.ledger.nodes[*id as usize];
        let parent = node.parent.map(|parent| exploration.ledger.nodes[parent as usize].confirmed);
        let shaky = node.confirmed == Some(false) || parent == Some(Some(false));
        if shaky
            && let Some(comparison) = &mut exploration.ledger.nodes[*id as usize].comparison
            && comparison.verdict == Verdict::Different
        {
            comparison.verdict = Verdict::Unstable;
        }
    }
}

impl Exploration<'_> {
    fn is_harmful(&self, id: RunId) -> bool {
        let comparison = &self.ledger.nodes[id as usize].comparison;
        comparison.as_ref().is_some_and(|comparison| comparison.verdict.is_harmful())
    }

    /// Makes runs again, and notes which can be believed. Returns false once the exploration was
    /// stopped.
    fn repeat(&mut self, crew: &mut dyn Crew, wanted: &[RunId]) -> bool {
        let second = self.again(crew, wanted);
        let is_same = |exploration: &Self, id: RunId, again: &Again| {
            let node = &exploration.ledger.nodes[id as usize];
            let was = exploration.ledger.observations.get(node.observation).0;
            again.same_tasks && again.observation == was
        };
        let mut doubtful = Vec::new();
        for id in wanted {
            match second.get(id) {
                Some((again, _)) if is_same(self, *id, again) => {
                    self.ledger.nodes[*id as usize].confirmed = Some(true);
                }
                _ => doubtful.push(*id),
            }
        }
        if self.is_stopped() {
            return false;
        }
        let third = self.again(crew, &doubtful);
        for id in doubtful {
            self.ledger.counts.unstable += 1;
            let mut believed = false;
            if let Some((again, ran)) = third.get(&id) {
                believed = is_same(self, id, again);
                if !believed
                    && again.same_tasks
                    && second.get(&id).map(|(one, _)| one) == Some(again)
                {
                    // The first run was the odd one.
                    let observation = self.ledger.observations.add(ran.observation.clone());
                    self.ledger.nodes[id as usize].observation = observation;
                    believed = true;
                }
            }
            let node = &mut self.ledger.nodes[id as usize];
            node.confirmed = Some(believed);
            node.unstable =
                Some("the same choices gave another result when they were repeated".to_owned());
        }
        !self.is_stopped()
    }

    /// Makes runs once more, from the start.
    fn again(&mut self, crew: &mut dyn Crew, wanted: &[RunId]) -> FxHashMap<RunId, (Again, Ran)> {
        let mut jobs = Vec::new();
        for id in wanted {
            // As it was planned: what was skipped then has to be skipped again.
            let rest = match &self.ledger.nodes[*id as usize].plan {
                Some((of, plan)) => plan.sequence(&self.ledger.store.steps(*of)).collect(),
                None => self.ledger.store.steps(*id).iter().map(|step| step.task).collect(),
            };
            let course = Course { shared: 0, rest, asleep: Vec::new() };
            self.next_run += 1;
            let (run, parent) = (self.next_run, Arc::new(Vec::new()));
            jobs.push(Job { run, parent, courses: vec![(*id as usize, course)], ask: false });
        }
        let mut answers = Vec::with_capacity(jobs.len());
        let mut jobs = jobs.into_iter().peekable();
        while jobs.peek().is_some() {
            let done = self.ledger.counts.executions + self.ledger.counts.confirmations;
            if self.control.step(done, None).is_err() {
                self.stop();
                break;
            }
            let some = crew.work(jobs.by_ref().take(PORTION).collect());
            self.ledger.counts.confirmations += some.len() as u64;
            answers.extend(some);
        }
        self.book.catch_up();
        let mut found = FxHashMap::default();
        for Answer { order, result, attempts } in answers {
            let id = u32::try_from(order).unwrap_or(u32::MAX);
            self.ledger.counts.retries += attempts.saturating_sub(1);
            match result {
                Ok(ran) => {
                    let node = &self.ledger.nodes[order];
                    let hash = super::driver::sequence_hash(&self.book, &ran.steps);
                    let same_failures = super::verdict::failures(&ran.steps) == node.failures;
                    let same_tasks = hash == node.sequence_hash && same_failures;
                    let again = Again { same_tasks, observation: ran.observation.hash() };
                    found.insert(id, (again, ran));
                }
                Err(super::course::NoRun::Stopped(reason)) => {
                    self.ledger.limits.insert(Limit::Stopped(reason));
                }
                Err(super::course::NoRun::Lost(_)) => {}
            }
        }
        found
    }

    /// Compares the runs of a level with their parents once more, where one of the two is seen
    /// differently now.
    fn compare_again(&mut self, level: &[RunId]) {
        for id in level {
            let node = &self.ledger.nodes[*id as usize];
            let of_parent = node.parent.map(|parent| &self.ledger.nodes[parent as usize]);
            if node.unstable.is_some() || of_parent.is_some_and(|node| node.unstable.is_some()) {
                self.compare_with_parent(*id);
            }
        }
    }

    /// Compares a run with its parent.
    pub(crate) fn compare_with_parent(&mut self, id: RunId) {
        let node = &self.ledger.nodes[id as usize];
        let (Some(parent), Some(pair)) = (node.parent, node.pair) else { return };
        let steps = [self.ledger.store.steps(id), self.ledger.store.steps(parent)];
        let [child, parent] = [(id, &steps[0]), (parent, &steps[1])].map(|(id, steps)| {
            let observation = self.ledger.nodes[id as usize].observation;
            let (hash, observation) = self.ledger.observations.get(observation);
            Side { steps, observation, hash }
        });
        let rest = (&self.book, &self.inputs, self.options);
        let comparison = compare(&parent, &child, (pair.first, pair.second), rest);
        self.ledger.nodes[id as usize].comparison = Some(comparison);
    }
}
