//! What an exploration has so far: the sequences, what became of them, and what is known already.

use super::dependence::{Analyzer, Graph, class};
use super::names::{Book, TaskId};
use super::options::Inputs;
use super::outcome::{Counts, Limit};
use super::reversal::{Kind, Plan};
use super::step::Done;
use super::store::{RunId, Store};
use super::verdict::Comparison;
use anyorder_system::{Hash128, Observation};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;

/// One sequence.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) parent: Option<RunId>,
    pub(crate) pair: Option<Pair>,
    /// The plan and the run that it varies, where the run is not as planned.
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
    pub(crate) failures: Vec<String>,
    pub(crate) observation: usize,
    pub(crate) comparison: Option<Comparison>,
    pub(crate) confirmed: Option<bool>,
    /// It gave something else when it was repeated; in words.
    pub(crate) unstable: Option<String>,
}

/// The pair that a sequence reverses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pair {
    pub(crate) first: TaskId,
    pub(crate) second: TaskId,
    pub(crate) kind: Kind,
}

/// A plan that never became a run.
#[derive(Debug)]
pub(crate) struct LostPlan {
    pub(crate) parent: Option<RunId>,
    pub(crate) pair: Option<Pair>,
    pub(crate) error: String,
}

/// No run.
pub(crate) const NO_RUN: RunId = RunId::MAX;

/// What runs amounted to; each is kept once.
#[derive(Debug, Default)]
pub(crate) struct Observations {
    ids: FxHashMap<Hash128, usize>,
    all: Vec<(Hash128, Arc<Observation>)>,
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

    pub(crate) fn get(&self, id: usize) -> (Hash128, &Arc<Observation>) {
        (self.all[id].0, &self.all[id].1)
    }
}

/// All that is known.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) store: Store,
    pub(crate) nodes: Vec<Node>,
    pub(crate) observations: Observations,
    /// By the hash of the sequence.
    pub(crate) by_sequence: FxHashMap<u128, RunId>,
    /// By the hash of a sequence that was planned, what came of it; [`NO_RUN`] while it is not
    /// known, and where nothing did.
    pub(crate) planned: FxHashMap<u128, RunId>,
    /// The first of each class, by its hash. Runs that were cut stand for nobody.
    pub(crate) by_class: FxHashMap<u128, RunId>,
    pub(crate) counts: Counts,
    pub(crate) limits: BTreeSet<Limit>,
    pub(crate) lost: Vec<LostPlan>,
}

/// What is known of a new sequence beside its steps.
pub(crate) struct NewNode {
    pub(crate) parent: Option<RunId>,
    pub(crate) pair: Option<Pair>,
    pub(crate) depth: u32,
    pub(crate) slept: bool,
    pub(crate) cut: bool,
    pub(crate) observation: usize,
}

impl Ledger {
    /// Adds a sequence that is not there yet, with the hashes of its class and of itself; `planned`
    /// are the tasks of its plan, and those of them that could not run in their turn.
    pub(crate) fn add(
        &mut self,
        new: NewNode,
        (steps, of_parent): (&[Arc<Done>], &[Arc<Done>]),
        (planned, skipped): (&FxHashSet<TaskId>, &[TaskId]),
        (class, sequence_hash): (u128, u128),
    ) -> RunId {
        let id = self.store.add(new.parent.map(|id| (id, of_parent)), steps);
        self.enter(id, new, steps, (planned, skipped), (class, sequence_hash));
        id
    }

    /// The same for a run that is kept as it is.
    pub(crate) fn add_whole(
        &mut self,
        new: NewNode,
        steps: &[Arc<Done>],
        (planned, skipped): (&FxHashSet<TaskId>, &[TaskId]),
        (class, sequence_hash): (u128, u128),
    ) -> RunId {
        let id = self.store.add(None, steps);
        self.enter(id, new, steps, (planned, skipped), (class, sequence_hash));
        id
    }

    fn enter(
        &mut self,
        id: RunId,
        new: NewNode,
        steps: &[Arc<Done>],
        (planned, skipped): (&FxHashSet<TaskId>, &[TaskId]),
        (class, sequence_hash): (u128, u128),
    ) {
        self.by_sequence.insert(sequence_hash, id);
        let equivalent_to = match (self.by_class.get(&class), new.cut) {
            (Some(first), _) => Some(*first),
            (None, false) => {
                self.by_class.insert(class, id);
                None
            }
            (None, true) => None,
        };
        let (mut late, mut gone) = (Vec::new(), Vec::new());
        if !skipped.is_empty() {
            let ran: FxHashSet<TaskId> = steps.iter().map(|step| step.task).collect();
            (late, gone) = skipped.iter().partition(|task| ran.contains(task));
        }
        let tasks = steps.iter().map(|step| step.task);
        let unplanned = tasks.filter(|task| !planned.is_empty() && !planned.contains(task));
        self.nodes.push(Node {
            parent: new.parent,
            pair: new.pair,
            plan: None,
            depth: new.depth,
            sequence_hash,
            length: steps.len(),
            skipped: gone,
            late,
            new: unplanned.collect(),
            equivalent_to,
            slept: new.slept,
            cut: new.cut,
            failures: super::verdict::failures(steps),
            observation: new.observation,
            comparison: None,
            confirmed: None,
            unstable: None,
        });
    }

    /// Forgets all runs but the first, with what was counted of them; what was executed stays
    /// counted.
    pub(crate) fn forget_all_but_the_recording(&mut self) {
        let steps = self.store.steps(0);
        self.store = Store::default();
        self.store.add(None, &steps);
        self.nodes.truncate(1);
        self.by_sequence.retain(|_, id| *id == 0);
        self.planned.retain(|_, id| *id == 0);
        self.by_class.retain(|_, id| *id == 0);
        self.lost.clear();
        let Counts { executions, retries, lost, tasks, restarts, .. } = self.counts;
        self.counts = Counts { executions, retries, lost, tasks, restarts, ..Counts::default() };
        if self.nodes.iter().all(|node| !node.cut) {
            self.limits.remove(&Limit::Steps);
        } else {
            self.counts.cut = 1;
        }
    }

    /// Notes that a run did not come to its end.
    pub(crate) fn note_cut(&mut self, cut: bool) {
        if cut {
            self.counts.cut += 1;
            self.limits.insert(Limit::Steps);
        }
    }

    /// The bytes that all this takes, about.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let maps = self.by_sequence.len() + self.by_class.len() + self.planned.len();
        let nodes = self.nodes.len() * (size_of::<Node>() + 64);
        self.store.memory_bytes() + self.observations.bytes + (maps * 40 + nodes) as u64
    }
}

/// The graph of a run and its class.
pub(crate) fn analyze(
    analyzer: &mut Analyzer,
    steps: &[Arc<Done>],
    book: &Book,
    inputs: &Inputs,
) -> (Graph, u128) {
    let graph = analyzer.graph(steps.iter(), book, inputs);
    let class = class(&graph, steps.iter(), book);
    (graph, class)
}
