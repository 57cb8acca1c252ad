//! One level of the exploration: all sequences that reverse one more pair.
//!
//! Plans are in the order of their parents, and for each parent the later pairs come first. All
//! workers run a batch of plans; the results are recorded in the order of the plans. So the result
//! is the same for any number of workers.

use super::ancestors::Ancestors;
use super::candidate::{Candidate, NoRun, RunResult};
use super::dependence::{is_linearisation, is_prefix_of_linearisation, sequence_hash};
use super::explore::Exploration;
use super::names::TaskId;
use super::options::Sleep;
use super::outcome::Limit;
use super::pool::{Answer, Job};
use super::reversal::Plan;
use super::run_records::{NO_RUN, Node};
use super::sabotage::Sabotage;
use super::step::{ExecutedStep, Steps};
use super::store::RunId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The most plans in a batch.
const BATCH: usize = 1024;

/// A run whose pairs are reversed.
pub(crate) struct Parent {
    pub(crate) id: RunId,
    pub(crate) steps: Arc<Vec<Arc<ExecutedStep>>>,
    hash: u128,
}

/// A plan to run, unless it sleeps.
pub(crate) struct Pending {
    pub(crate) parent: Arc<Parent>,
    pub(crate) plan: Plan,
    /// The hash of its sequence.
    pub(crate) hash: u128,
    /// The predicted class: that of the plan if its tasks behave as in the parent; `None` if some
    /// task has no known behaviour.
    predicted: Option<u128>,
    decision: Decision,
}

/// A parent run, and the candidates that vary it, with their indices in the batch.
type ParentBatch = (Arc<Parent>, Vec<(usize, Candidate)>);

/// The decision about a plan, and its result.
enum Decision {
    /// It has to run.
    Run,
    /// It is equivalent to another plan of the batch, or else it has to run.
    After(usize),
    /// It is equivalent to a run.
    Slept(RunId),
    /// It ran.
    RunResult(Box<RunResult>),
    /// All attempts failed.
    Lost(String),
    /// It did not run because a limit was reached.
    Cut,
}

impl Exploration<'_> {
    /// Reverses all pairs of some runs of one depth. Returns the runs of the next depth.
    pub(crate) fn level(&mut self, frontier: &[RunId], depth: u32) -> Vec<RunId> {
        let ask = self.options.bound.is_none_or(|bound| depth + 1 < bound);
        let mut batch: Vec<Pending> = Vec::new();
        let mut next = Vec::new();
        for id in frontier {
            // Many parents may give nothing new. Progress and cancellation must work then as well.
            if !self.goes_on(self.records.counts.executions) {
                return next;
            }
            let Some((parent, found)) = self.plans_of(*id) else { return next };
            for plan in found {
                if let Some(pending) = self.consider(&parent, plan, &mut batch) {
                    batch.push(pending);
                }
                if batch.len() >= BATCH {
                    self.flush(&mut batch, (depth + 1, ask), &mut next);
                    if self.is_ended() {
                        return next;
                    }
                }
            }
        }
        self.flush(&mut batch, (depth + 1, ask), &mut next);
        next
    }

    /// Returns a run with its plans; `None` if the memory limit leaves no room to compute them, or
    /// if the job is stopped.
    pub(crate) fn plans_of(&mut self, id: RunId) -> Option<(Arc<Parent>, Vec<Plan>)> {
        let node = &self.records.nodes[id as usize];
        let (hash, length) = (node.sequence_hash, node.length);
        if !self.has_room(Ancestors::memory_bytes(length)) {
            return None;
        }
        let steps = Arc::new(self.records.store.steps(id));
        let graph = self.graph(&steps);
        let found = self.reversals(&steps, &graph);
        self.note_waiting(&steps, &graph);
        // Pairs may be missing after a stop.
        if self.control.check().is_err() && !self.step(self.records.counts.executions) {
            return None;
        }
        self.records.counts.plans += found.len() as u64;
        Some((Arc::new(Parent { id, steps, hash }), found))
    }

    /// Returns the plan if its sequence was neither planned nor run before. If another parent in
    /// the batch planned the same sequence, the parent with the longer shared prefix keeps it.
    fn consider(
        &mut self,
        parent: &Arc<Parent>,
        plan: Plan,
        batch: &mut [Pending],
    ) -> Option<Pending> {
        let pending = self.pending(parent, plan);
        let hash = pending.hash;
        if self.known(hash).is_none() {
            self.records.planned.insert(hash, NO_RUN);
            return Some(pending);
        }
        self.records.counts.repeated += 1;
        if let Some(other) = batch.iter_mut().find(|other| other.hash == hash)
            && other.plan.at < pending.plan.at
        {
            *other = pending;
        }
        None
    }

    /// Returns the run of a sequence that was planned or run; [`NO_RUN`] if it has not run.
    pub(crate) fn known(&self, hash: u128) -> Option<RunId> {
        let known = self.records.planned.get(&hash);
        known.or_else(|| self.records.by_sequence.get(&hash)).copied()
    }

    pub(crate) fn pending(&self, parent: &Arc<Parent>, plan: Plan) -> Pending {
        let hash = plan.hash(&parent.steps, parent.hash, &self.name_cache);
        Pending { parent: parent.clone(), plan, hash, predicted: None, decision: Decision::Run }
    }

    /// Runs a batch, and records its results.
    pub(crate) fn flush(
        &mut self,
        batch: &mut Vec<Pending>,
        (depth, ask): (u32, bool),
        next: &mut Vec<RunId>,
    ) {
        self.step(self.records.counts.executions);
        let mut leaders = FxHashMap::default();
        for (place, pending) in batch.iter_mut().enumerate() {
            pending.decision = self.decision(pending, place, &mut leaders);
        }
        self.dispatch(batch, ask);
        for place in 0..batch.len() {
            if let Decision::After(leader) = batch[place].decision {
                let same = match &batch[leader].decision {
                    Decision::RunResult(ran) if !ran.cut => {
                        let steps = whole(&batch[leader], ran);
                        self.is_equivalent(&steps, &batch[place])
                    }
                    _ => false,
                };
                if !same {
                    batch[place].decision = Decision::Run;
                }
            }
        }
        self.dispatch(batch, ask);
        let mut taken: Vec<Pending> = std::mem::take(batch);
        for place in 0..taken.len() {
            let decision = std::mem::replace(&mut taken[place].decision, Decision::Cut);
            // The leader comes earlier in the batch, so its result is known here.
            let decision = match decision {
                Decision::After(leader) => match self.known(taken[leader].hash) {
                    None | Some(NO_RUN) => Decision::Cut,
                    Some(id) => Decision::Slept(id),
                },
                other => other,
            };
            let id = self.take_in(&taken[place], decision, depth);
            if let Some(id) = id
                && (self.options.sleep != Sleep::Greedy
                    || self.records.nodes[id as usize].equivalent_to.is_none())
            {
                next.push(id);
            }
        }
        self.has_room(0);
    }

    /// Decides whether a plan sleeps.
    fn decision(
        &mut self,
        pending: &mut Pending,
        place: usize,
        leaders: &mut FxHashMap<u128, usize>,
    ) -> Decision {
        if self.options.stop_after_plan && self.options.sleep != Sleep::Off {
            return self.covered(pending).map_or(Decision::Run, Decision::Slept);
        }
        if self.options.sleep == Sleep::Off {
            return Decision::Run;
        }
        let Some(steps) = predicted(&pending.parent.steps, &pending.plan) else {
            return Decision::Run;
        };
        let class = self.class(&steps);
        pending.predicted = Some(class);
        if let Some(id) = self.records.by_class.get(&class).copied() {
            let steps = self.records.store.steps(id);
            if self.is_equivalent(&steps, pending) {
                return Decision::Slept(id);
            }
        }
        match leaders.get(&class) {
            Some(leader) => Decision::After(*leader),
            None => {
                leaders.insert(class, place);
                Decision::Run
            }
        }
    }

    /// Returns whether a run is equivalent to a plan.
    fn is_equivalent(&mut self, steps: &Steps, pending: &Pending) -> bool {
        let graph = self.graph(steps);
        self.options.sabotage() == Sabotage::SleepUnverified
            || places(steps, pending).is_some_and(|order| is_linearisation(&graph, &order))
    }

    /// Returns a run that begins with the plan, up to the order of independent tasks. Searches all
    /// runs.
    fn covered(&mut self, pending: &Pending) -> Option<RunId> {
        let count = u32::try_from(self.records.store.len()).unwrap_or(u32::MAX);
        (0..count).find(|id| {
            let steps = self.records.store.steps(*id);
            let graph = self.graph(&steps);
            places(&steps, pending).is_some_and(|order| is_prefix_of_linearisation(&graph, &order))
        })
    }

    /// Runs the plans that have to run, up to the limit on executions.
    fn dispatch(&mut self, batch: &mut [Pending], ask: bool) {
        let mut left = self.planned_max().saturating_sub(self.records.counts.runs());
        let stopped = self.is_ended();
        let mut groups: Vec<ParentBatch> = Vec::new();
        for (place, pending) in batch.iter_mut().enumerate() {
            if !matches!(pending.decision, Decision::Run) {
                continue;
            }
            if left == 0 || stopped {
                if left == 0 {
                    self.records.limits.insert(Limit::Executions);
                }
                pending.decision = Decision::Cut;
                continue;
            }
            left -= 1;
            self.records.counts.executions += 1;
            let plan = &pending.plan;
            let rest = plan.sequence(&pending.parent.steps).skip(plan.at as usize).collect();
            let candidate = Candidate { shared: plan.at as usize, rest, asleep: Vec::new() };
            match groups.last_mut() {
                Some((parent, candidates)) if parent.id == pending.parent.id => {
                    candidates.push((place, candidate));
                }
                _ => groups.push((pending.parent.clone(), vec![(place, candidate)])),
            }
        }
        let mut jobs = Vec::new();
        for (parent, candidates) in groups {
            self.split(candidates, &parent, ask, &mut jobs);
        }
        for Answer { order, result, .. } in self.execute(jobs) {
            batch[order].decision = match result {
                Ok(ran) => Decision::RunResult(Box::new(ran)),
                Err(NoRun::Lost(error)) => Decision::Lost(error),
                Err(NoRun::Stopped(_) | NoRun::Spent) => Decision::Cut,
            };
        }
        // A plan without an answer is lost together with its worker.
        for pending in batch.iter_mut().filter(|pending| matches!(pending.decision, Decision::Run))
        {
            pending.decision = Decision::Lost("the worker that ran it ended".to_owned());
        }
    }

    /// Splits the runs that vary one parent into jobs, sorted by the position where they leave the
    /// parent. So a worker follows the parent once.
    fn split(
        &self,
        mut candidates: Vec<(usize, Candidate)>,
        parent: &Arc<Parent>,
        ask: bool,
        jobs: &mut Vec<Job>,
    ) {
        candidates.sort_by_key(|(place, candidate)| (candidate.shared, *place));
        let parts = self.options.workers.max(1);
        let size = candidates.len().div_ceil(parts).max(1);
        while !candidates.is_empty() {
            let rest = candidates.split_off(size.min(candidates.len()));
            let (run, parent) = (u64::from(parent.id), parent.steps.clone());
            jobs.push(Job { run, parent, candidates, ask, repeats: false });
            candidates = rest;
        }
    }

    /// Records the result of a plan. Returns the new sequence, if there is one.
    fn take_in(&mut self, pending: &Pending, decision: Decision, depth: u32) -> Option<RunId> {
        let plan = &pending.plan;
        let parent = Some(pending.parent.id);
        // If the run followed the prediction, its class is known.
        let as_predicted = match &decision {
            Decision::RunResult(ran) => ran.as_known && !ran.cut,
            _ => false,
        };
        let (steps, skipped, node) = match decision {
            Decision::RunResult(ran)
                if self.options.sabotage() == Sabotage::SkippedEnds && !ran.skipped.is_empty() =>
            {
                return None;
            }
            Decision::RunResult(ran) => {
                self.note_alternatives(&ran);
                self.awaiting.learn(&ran.awaited);
                self.records.counts.tasks += ran.steps.len() as u64;
                let steps = whole(pending, &ran);
                let observation = self.records.observations.add(ran.observation);
                (steps, ran.skipped, Node { observation, cut: ran.cut, ..Node::default() })
            }
            Decision::Slept(id) => {
                self.records.counts.slept += 1;
                let steps = self.as_in(id, pending)?;
                let observation = self.records.nodes[id as usize].observation;
                (steps, Vec::new(), Node { observation, slept: true, ..Node::default() })
            }
            Decision::Lost(error) => {
                self.lose(parent, plan.pair, error);
                return None;
            }
            Decision::Cut | Decision::Run | Decision::After(_) => return None,
        };
        let sequence_hash =
            if as_predicted { pending.hash } else { sequence_hash(&self.name_cache, &steps) };
        if let Some(id) = self.records.by_sequence.get(&sequence_hash) {
            self.records.counts.repeated += 1;
            self.records.planned.insert(pending.hash, *id);
            return None;
        }
        let predicted = pending.predicted.filter(|_| as_predicted);
        let class = predicted.unwrap_or_else(|| self.class(&steps));
        let mut planned: FxHashSet<TaskId> = FxHashSet::default();
        if !as_predicted {
            planned.extend(plan.sequence(&pending.parent.steps));
        }
        let node = Node { parent, pair: Some(plan.pair), depth, sequence_hash, ..node };
        let of_parent = pending.parent.steps.as_slice();
        let id = self.records.add(node, class, (&steps, Some(of_parent)), (&planned, &skipped));
        self.records.planned.insert(pending.hash, id);
        let node = &mut self.records.nodes[id as usize];
        if !(node.skipped.is_empty() && node.late.is_empty() && node.new.is_empty()) {
            node.plan = Some((pending.parent.id, Box::new(plan.clone())));
        }
        self.compare(id, &steps, of_parent);
        Some(id)
    }

    /// The steps of a sleeping plan: those of the equivalent run, in the order of the plan.
    fn as_in(&self, id: RunId, pending: &Pending) -> Option<Vec<Arc<ExecutedStep>>> {
        if self.options.stop_after_plan {
            return None;
        }
        let steps = self.records.store.steps(id);
        let order = places(&steps, pending)?;
        Some(order.into_iter().map(|at| steps[at as usize].clone()).collect())
    }
}

/// All steps of a run.
fn whole(pending: &Pending, ran: &RunResult) -> Vec<Arc<ExecutedStep>> {
    let shared = &pending.parent.steps[..pending.plan.at as usize];
    shared.iter().chain(&ran.steps).cloned().collect()
}

/// The tasks that are posted to each queue, in the order of the posts.
fn posts(steps: &Steps) -> FxHashMap<u64, Vec<TaskId>> {
    let mut posts: FxHashMap<u64, Vec<TaskId>> = FxHashMap::default();
    for (task, queue, _) in steps.iter().flat_map(|step| &step.queued) {
        posts.entry(*queue).or_default().push(*task);
    }
    posts
}

/// The steps of a plan if its tasks behave as in the parent run; `None` if a task did not run
/// there, or if other tasks may have to wait in their queues than there.
fn predicted(steps: &Steps, plan: &Plan) -> Option<Vec<Arc<ExecutedStep>>> {
    let (at, resume) = (plan.at as usize, plan.resume as usize);
    let there: FxHashMap<TaskId, &Arc<ExecutedStep>> =
        steps[at..resume].iter().map(|step| (step.task, step)).collect();
    let mut result = Vec::with_capacity(steps.len());
    result.extend_from_slice(&steps[..at]);
    for task in &plan.window {
        result.push((*there.get(task)?).clone());
    }
    if posts(&result[at..]) != posts(&steps[at..resume]) {
        return None;
    }
    result.extend_from_slice(&steps[resume..]);
    Some(result)
}

/// The positions of a plan's tasks in a run; `None` if a task did not run there.
fn places(steps: &Steps, pending: &Pending) -> Option<Vec<u32>> {
    let there: FxHashMap<TaskId, u32> =
        steps.iter().zip(0..).map(|(step, at)| (step.task, at)).collect();
    pending.plan.sequence(&pending.parent.steps).map(|task| there.get(&task).copied()).collect()
}
