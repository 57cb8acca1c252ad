//! The records of an exploration: its sequences, their results, and the tables that find them.

use super::names::TaskId;
use super::outcome::{Counts, Limit};
use super::reversal::{Pair, Plan};
use super::step::Steps;
use super::store::{RunId, Store};
use super::verdict::Comparison;
use anyorder_system::{Failure, Hash128, Observation};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;

/// One sequence.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) parent: Option<RunId>,
    pub(crate) pair: Option<Pair>,
    /// The plan and the parent run, if the run did not follow the plan.
    pub(crate) plan: Option<(RunId, Box<Plan>)>,
    pub(crate) depth: u32,
    pub(crate) sequence_hash: u128,
    pub(crate) length: usize,
    pub(crate) skipped: Vec<TaskId>,
    pub(crate) late: Vec<TaskId>,
    pub(crate) new: Vec<TaskId>,
    pub(crate) equivalent_to: Option<RunId>,
    pub(crate) slept: bool,
    pub(crate) cut: bool,
    pub(crate) failures: Vec<Failure>,
    pub(crate) observation: usize,
    pub(crate) comparison: Option<Comparison>,
    pub(crate) confirmed: Option<bool>,
    /// The run gave another result when it was repeated; a description.
    pub(crate) unstable: Option<String>,
}

/// A plan that never became a run.
#[derive(Debug)]
pub(crate) struct LostPlan {
    pub(crate) parent: Option<RunId>,
    pub(crate) pair: Pair,
    pub(crate) error: String,
}

/// No run.
pub(crate) const NO_RUN: RunId = RunId::MAX;

/// The observations of runs; each is stored once.
#[derive(Debug, Default)]
pub(crate) struct Observations {
    ids: FxHashMap<Hash128, usize>,
    pub(crate) all: Vec<(Hash128, Arc<Observation>)>,
    bytes: u64,
}

impl Observations {
    /// Adds an observation, and returns its number.
    pub(crate) fn add(&mut self, observation: Observation) -> usize {
        let hash = observation.hash();
        if let Some(id) = self.ids.get(&hash) {
            return *id;
        }
        let parts = observation.parts();
        let bytes: usize = parts
            .map(|(path, part)| {
                let names: usize = path.names().iter().map(|name| name.len() + 24).sum();
                names + part.text.as_ref().map_or(0, String::len) + 96
            })
            .sum();
        self.bytes += bytes as u64;
        self.ids.insert(hash, self.all.len());
        self.all.push((hash, Arc::new(observation)));
        self.all.len() - 1
    }
}

/// All records.
#[derive(Debug, Default)]
pub(crate) struct RunRecords {
    pub(crate) store: Store,
    pub(crate) nodes: Vec<Node>,
    pub(crate) observations: Observations,
    /// Runs by the hash of their sequence.
    pub(crate) by_sequence: FxHashMap<u128, RunId>,
    /// Runs by the hash of a planned sequence. [`NO_RUN`] if the plan has not run yet, or gave no
    /// run.
    pub(crate) planned: FxHashMap<u128, RunId>,
    /// The first run of each class, by the hash of the class. Cut runs represent no class.
    pub(crate) by_class: FxHashMap<u128, RunId>,
    pub(crate) counts: Counts,
    pub(crate) limits: BTreeSet<Limit>,
    pub(crate) lost: Vec<LostPlan>,
}

impl RunRecords {
    /// Adds a sequence of a class. `node` holds its origin and its result; the rest is computed
    /// here. The store keeps its difference from `of_parent`, if given. `planned` holds the tasks
    /// of its plan, `skipped` the planned tasks that could not run at their turn.
    pub(crate) fn add(
        &mut self,
        node: Node,
        class: u128,
        (steps, of_parent): (&Steps, Option<&Steps>),
        (planned, skipped): (&FxHashSet<TaskId>, &[TaskId]),
    ) -> RunId {
        let id = self.store.add(node.parent.zip(of_parent), steps);
        self.by_sequence.insert(node.sequence_hash, id);
        let equivalent_to = self.by_class.get(&class).copied();
        if equivalent_to.is_none() && !node.cut {
            self.by_class.insert(class, id);
        }
        self.counts.duplicates += u64::from(equivalent_to.is_some() && !node.slept);
        if node.cut {
            self.counts.cut += 1;
            self.limits.insert(Limit::Steps);
        }
        let (mut late, mut gone) = (Vec::new(), Vec::new());
        if !skipped.is_empty() {
            let ran: FxHashSet<TaskId> = steps.iter().map(|step| step.task).collect();
            (late, gone) = skipped.iter().partition(|task| ran.contains(task));
        }
        let tasks = steps.iter().map(|step| step.task);
        let unplanned = tasks.filter(|task| !planned.is_empty() && !planned.contains(task));
        self.nodes.push(Node {
            length: steps.len(),
            skipped: gone,
            late,
            new: unplanned.collect(),
            equivalent_to,
            failures: super::verdict::failures(steps),
            ..node
        });
        id
    }

    /// Returns the observation of a run, with its hash.
    pub(crate) fn observation(&self, id: RunId) -> (Hash128, &Arc<Observation>) {
        let (hash, observation) = &self.observations.all[self.nodes[id as usize].observation];
        (*hash, observation)
    }

    /// Removes all runs but the first, and their counts. The number of executions
    /// stays.
    pub(crate) fn forget_all_but_the_recording(&mut self) {
        let steps = self.store.steps(0);
        self.store = Store::default();
        self.store.add(None, &steps);
        self.nodes.truncate(1);
        self.by_sequence.retain(|_, id| *id == 0);
        self.planned.retain(|_, id| *id == 0);
        self.by_class.retain(|_, id| *id == 0);
        self.lost.clear();
        let Counts { executions, retries, lost, tasks, all_tasks, restarts, .. } = self.counts;
        let kept =
            Counts { executions, retries, lost, tasks, all_tasks, restarts, ..Counts::default() };
        self.counts = kept;
        if self.nodes.iter().all(|node| !node.cut) {
            self.limits.remove(&Limit::Steps);
        } else {
            self.counts.cut = 1;
        }
    }

    /// The approximate memory of all records, in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let maps = self.by_sequence.len() + self.by_class.len() + self.planned.len();
        let nodes = self.nodes.len() * (size_of::<Node>() + 64);
        self.store.memory_bytes() + self.observations.bytes + (maps * 40 + nodes) as u64
    }
}
