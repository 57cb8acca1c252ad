//! One level of the exploration: all sequences that reverse one more pair.
//!
//! Plans are in the order of their parents, and for each parent the later pairs come first. All
//! workers run a batch of plans; the results are recorded in the order of the plans. So the result
//! is the same for any number of workers.

use super::candidate::{Candidate, NoRun, RunResult};
use super::dependence::{Graph, is_linearisation, is_prefix_of_linearisation};
use super::driver::sequence_hash;
use super::explore::Exploration;
use super::names::TaskId;
use super::options::Sleep;
use super::outcome::Limit;
use super::pool::{Answer, Job, RunPool};
use super::reversal::{Ancestors, Plan};
use super::run_records::{LostPlan, NO_RUN, NewNode, Pair, analyze};
use super::sabotage::Sabotage;
use super::step::ExecutedStep;
use super::store::RunId;
use super::verdict::{ComparedRun, compare};
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
    pub(crate) fn level(
        &mut self,
        pool: &mut dyn RunPool,
        frontier: &[RunId],
        depth: u32,
    ) -> Vec<RunId> {
        let ask = self.options.bound.is_none_or(|bound| depth + 1 < bound);
        let mut batch: Vec<Pending> = Vec::new();
        let mut next = Vec::new();
        for id in frontier {
            // Many parents may give nothing new. Progress and cancellation must work then as well.
            if self.control.step(self.records.counts.executions, None).is_err() {
                self.stop();
                return next;
            }
            let Some((parent, found)) = self.plans_of(*id) else { return next };
            for plan in found {
                if let Some(pending) = self.consider(&parent, plan, &mut batch) {
                    batch.push(pending);
                }
                if batch.len() >= BATCH {
                    self.flush(pool, &mut batch, (depth + 1, ask), &mut next);
                    if self.is_stopped() {
                        return next;
                    }
                }
            }
        }
        self.flush(pool, &mut batch, (depth + 1, ask), &mut next);
        next
    }

    /// Returns a run with its plans; `None` if the memory limit leaves no room to compute them.
    pub(crate) fn plans_of(&mut self, id: RunId) -> Option<(Arc<Parent>, Vec<Plan>)> {
        let node = &self.records.nodes[id as usize];
        let (hash, length) = (node.sequence_hash, node.length);
        let used = self.records.memory_bytes();
        if self.control.check_memory(used, Ancestors::memory_bytes(length)).is_err() {
            self.records.limits.insert(Limit::Memory);
            return None;
        }
        let steps = Arc::new(self.records.store.steps(id));
        let graph = self.analyzer.graph(steps.iter(), &self.name_cache, &self.inputs);
        let found = self.reversals(&steps, &graph);
        self.note_waiting(&steps, &graph);
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
        if !self.is_known(hash) {
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

    /// Returns whether a sequence was planned or run.
    pub(crate) fn is_known(&self, hash: u128) -> bool {
        self.records.planned.contains_key(&hash) || self.records.by_sequence.contains_key(&hash)
    }

    pub(crate) fn pending(&self, parent: &Arc<Parent>, plan: Plan) -> Pending {
        let hash = plan.hash(&parent.steps, parent.hash, &self.name_cache);
        Pending { parent: parent.clone(), plan, hash, predicted: None, decision: Decision::Run }
    }

    /// Runs a batch, and records its results.
    pub(crate) fn flush(
        &mut self,
        pool: &mut dyn RunPool,
        batch: &mut Vec<Pending>,
        (depth, ask): (u32, bool),
        next: &mut Vec<RunId>,
    ) {
        if self.control.step(self.records.counts.executions, None).is_err() {
            self.stop();
        }
        let mut leaders = FxHashMap::default();
        for (place, pending) in batch.iter_mut().enumerate() {
            pending.decision = self.decision(pending, place, &mut leaders);
        }
        self.dispatch(pool, batch, ask);
        for place in 0..batch.len() {
            if let Decision::After(leader) = batch[place].decision {
                let same = match &batch[leader].decision {
                    Decision::RunResult(ran) if !ran.cut => {
                        let steps = whole(&batch[leader], ran);
                        self.is_unverified() || self.order_in(&steps, &batch[place]).is_some()
                    }
                    _ => false,
                };
                if !same {
                    batch[place].decision = Decision::Run;
                }
            }
        }
        self.dispatch(pool, batch, ask);
        let mut taken: Vec<Pending> = std::mem::take(batch);
        for place in 0..taken.len() {
            let decision = std::mem::replace(&mut taken[place].decision, Decision::Cut);
            // The leader comes earlier in the batch, so its result is known here.
            let decision = match decision {
                Decision::After(leader) => match self.records.planned.get(&taken[leader].hash) {
                    Some(id) if *id != NO_RUN => Decision::Slept(*id),
                    _ => Decision::Cut,
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
        if self.control.check_memory(self.records.memory_bytes(), 0).is_err() {
            self.records.limits.insert(Limit::Memory);
        }
    }

    pub(crate) fn stop(&mut self) {
        if let Some(reason) = self.control.cancel.reason() {
            self.records.limits.insert(Limit::Stopped(reason));
        }
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
        let (_, class) = analyze(&mut self.analyzer, &steps, &self.name_cache, &self.inputs);
        pending.predicted = Some(class);
        if let Some(id) = self.records.by_class.get(&class).copied() {
            let steps = self.records.store.steps(id);
            if self.is_unverified() || self.order_in(&steps, pending).is_some() {
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

    fn is_unverified(&self) -> bool {
        self.options.sabotage() == Sabotage::SleepUnverified
    }

    /// Returns the positions of a plan's tasks in another run, if that run is equivalent to the
    /// plan.
    fn order_in(&mut self, steps: &[Arc<ExecutedStep>], pending: &Pending) -> Option<Vec<u32>> {
        let graph = self.analyzer.graph(steps.iter(), &self.name_cache, &self.inputs);
        let order = places(steps, pending)?;
        is_linearisation(&graph, &order).then_some(order)
    }

    /// Returns a run that begins with the plan, up to the order of independent tasks. Searches all
    /// runs.
    fn covered(&mut self, pending: &Pending) -> Option<RunId> {
        let count = u32::try_from(self.records.store.len()).unwrap_or(u32::MAX);
        (0..count).find(|id| {
            let steps = self.records.store.steps(*id);
            let graph: Graph = self.analyzer.graph(steps.iter(), &self.name_cache, &self.inputs);
            places(&steps, pending).is_some_and(|order| is_prefix_of_linearisation(&graph, &order))
        })
    }

    /// Runs the plans that have to run, up to the limit on executions.
    fn dispatch(&mut self, pool: &mut dyn RunPool, batch: &mut [Pending], ask: bool) {
        let limit = self.control.limits.executions.unwrap_or(u64::MAX);
        let mut jobs: Vec<Job> = Vec::new();
        let mut left = limit.saturating_sub(self.records.counts.executions);
        let stopped = self.is_stopped();
        let mut of: Option<ParentBatch> = None;
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
            match &mut of {
                Some((parent, candidates)) if parent.id == pending.parent.id => {
                    candidates.push((place, candidate));
                }
                _ => {
                    if let Some((parent, candidates)) = of.take() {
                        self.split(candidates, &parent, ask, &mut jobs);
                    }
                    of = Some((pending.parent.clone(), vec![(place, candidate)]));
                }
            }
        }
        if let Some((parent, candidates)) = of {
            self.split(candidates, &parent, ask, &mut jobs);
        }
        let answers = pool.work(jobs);
        self.name_cache.catch_up();
        for Answer { order, result, attempts } in answers {
            self.records.counts.retries += attempts.saturating_sub(1);
            batch[order].decision = match result {
                Ok(ran) => Decision::RunResult(Box::new(ran)),
                Err(NoRun::Lost(error)) => Decision::Lost(error),
                Err(NoRun::Stopped(reason)) => {
                    self.records.limits.insert(Limit::Stopped(reason));
                    Decision::Cut
                }
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
            jobs.push(Job { run, parent, candidates, ask });
            candidates = rest;
        }
    }

    /// Records the result of a plan. Returns the new sequence, if there is one.
    fn take_in(&mut self, pending: &Pending, decision: Decision, depth: u32) -> Option<RunId> {
        let plan = &pending.plan;
        let pair = Pair { first: plan.first, second: plan.second, kind: plan.kind };
        let parent = Some(pending.parent.id);
        // If the run followed the prediction, its class is known.
        let as_predicted = match &decision {
            Decision::RunResult(ran) => ran.as_known && !ran.cut,
            _ => false,
        };
        let (steps, skipped, observation, cut, slept) = match decision {
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
                (steps, ran.skipped, observation, ran.cut, false)
            }
            Decision::Slept(id) => self.as_in(id, pending)?,
            Decision::Lost(error) => {
                self.records.counts.lost += 1;
                self.records.limits.insert(Limit::Lost);
                self.records.lost.push(LostPlan { parent, pair: Some(pair), error });
                return None;
            }
            Decision::Cut | Decision::Run | Decision::After(_) => return None,
        };
        let hash =
            if as_predicted { pending.hash } else { sequence_hash(&self.name_cache, &steps) };
        if let Some(id) = self.records.by_sequence.get(&hash) {
            self.records.counts.repeated += 1;
            self.records.planned.insert(pending.hash, *id);
            return None;
        }
        let class = match pending.predicted {
            Some(class) if as_predicted => class,
            _ => analyze(&mut self.analyzer, &steps, &self.name_cache, &self.inputs).1,
        };
        let planned: FxHashSet<TaskId> = match as_predicted {
            true => FxHashSet::default(),
            false => plan.sequence(&pending.parent.steps).collect(),
        };
        let new = NewNode { parent, pair: Some(pair), depth, slept, cut, observation };
        let of = (steps.as_slice(), pending.parent.steps.as_slice());
        let id = self.records.add(new, of, (&planned, &skipped), (class, hash));
        self.records.planned.insert(pending.hash, id);
        self.records.note_cut(cut);
        let node = &mut self.records.nodes[id as usize];
        if !(node.skipped.is_empty() && node.late.is_empty() && node.new.is_empty()) {
            node.plan = Some((pending.parent.id, Box::new(plan.clone())));
        }
        if node.equivalent_to.is_some() && !slept {
            self.records.counts.duplicates += 1;
        }
        let of_parent = &self.records.nodes[pending.parent.id as usize];
        let (hash, observation) = self.records.observations.get(observation);
        let child = ComparedRun { steps: &steps, observation, hash };
        let (hash, observation) = self.records.observations.get(of_parent.observation);
        let parent = ComparedRun { steps: &pending.parent.steps, observation, hash };
        let rest = (&self.name_cache, &self.inputs, self.options);
        let comparison = compare(&parent, &child, (plan.first, plan.second), rest);
        self.records.nodes[id as usize].comparison = Some(comparison);
        Some(id)
    }

    /// The steps of a sleeping plan: those of the equivalent run, in the order of the plan.
    #[expect(clippy::type_complexity, reason = "it is taken apart at once")]
    fn as_in(
        &mut self,
        id: RunId,
        pending: &Pending,
    ) -> Option<(Vec<Arc<ExecutedStep>>, Vec<TaskId>, usize, bool, bool)> {
        self.records.counts.slept += 1;
        if self.options.stop_after_plan {
            return None;
        }
        let steps = self.records.store.steps(id);
        let order = places(&steps, pending)?;
        let steps = order.into_iter().map(|at| steps[at as usize].clone()).collect();
        let node = &self.records.nodes[id as usize];
        Some((steps, Vec::new(), node.observation, false, true))
    }
}

/// All steps of a run.
fn whole(pending: &Pending, ran: &RunResult) -> Vec<Arc<ExecutedStep>> {
    let shared = &pending.parent.steps[..pending.plan.at as usize];
    shared.iter().chain(&ran.steps).cloned().collect()
}

/// The steps of a plan if its tasks behave as in the parent run; `None` if a task did not run
/// there.
fn predicted(steps: &[Arc<ExecutedStep>], plan: &Plan) -> Option<Vec<Arc<ExecutedStep>>> {
    let (at, resume) = (plan.at as usize, plan.resume as usize);
    let there: FxHashMap<TaskId, &Arc<ExecutedStep>> =
        steps[at..resume].iter().map(|step| (step.task, step)).collect();
    let mut result = Vec::with_capacity(steps.len());
    result.extend_from_slice(&steps[..at]);
    for task in &plan.window {
        result.push((*there.get(task)?).clone());
    }
    result.extend_from_slice(&steps[resume..]);
    Some(result)
}

/// The positions of a plan's tasks in a run; `None` if a task did not run there.
fn places(steps: &[Arc<ExecutedStep>], pending: &Pending) -> Option<Vec<u32>> {
    let there: FxHashMap<TaskId, u32> =
        steps.iter().zip(0..).map(|(step, at)| (step.task, at)).collect();
    pending.plan.sequence(&pending.parent.steps).map(|task| there.get(&task).copied()).collect()
}
