//! One level of the exploration: all sequences that reverse one more pair.
//!
//! Plans come in the order of their parents, and for each parent the later pairs first. They are
//! run in batches by all workers and taken in in the order of the plans, so the result is the same
//! for any number of workers.

use super::course::{Course, NoRun, Ran};
use super::crew::{Answer, Crew, Job};
use super::dependence::{Graph, is_linearisation, is_prefix_of_linearisation};
use super::driver::sequence_hash;
use super::explore::Exploration;
use super::ledger::{LostPlan, NO_RUN, NewNode, Pair, analyze};
use super::names::TaskId;
use super::options::Sleep;
use super::outcome::Limit;
use super::reversal::{Ancestors, Plan};
use super::sabotage::Sabotage;
use super::step::Done;
use super::store::RunId;
use super::verdict::{Side, compare};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The most plans that wait for workers at a time.
const BATCH: usize = 1024;

/// A run whose pairs are reversed.
pub(crate) struct Parent {
    pub(crate) id: RunId,
    pub(crate) steps: Arc<Vec<Arc<Done>>>,
    hash: u128,
}

/// A plan that is to be run, unless it sleeps.
pub(crate) struct Pending {
    pub(crate) parent: Arc<Parent>,
    pub(crate) plan: Plan,
    /// The hash of its sequence.
    pub(crate) hash: u128,
    /// The class it would be in if its tasks did what they did in the parent; none where that is
    /// not known of all of them.
    predicted: Option<u128>,
    fate: Fate,
}

/// A run, and runs that vary it, with their places in the batch.
type Share = (Arc<Parent>, Vec<(usize, Course)>);

/// What becomes of a plan.
enum Fate {
    /// It is run.
    Run,
    /// It does the same as another of the batch, or else it is run.
    After(usize),
    /// It does the same as a run.
    Slept(RunId),
    /// It was run.
    Ran(Box<Ran>),
    /// It is given up.
    Lost(String),
    /// It was not run because a limit was reached.
    Cut,
}

impl Exploration<'_> {
    /// Reverses all pairs of some runs of one depth. Returns those whose pairs are to be reversed
    /// next.
    pub(crate) fn level(
        &mut self,
        crew: &mut dyn Crew,
        frontier: &[RunId],
        depth: u32,
    ) -> Vec<RunId> {
        let ask = self.options.bound.is_none_or(|bound| depth + 1 < bound);
        let mut batch: Vec<Pending> = Vec::new();
        let mut next = Vec::new();
        for id in frontier {
            // Many parents may give nothing new: also then it is to be seen how far this is, and it
            // must end when asked to.
            if self.control.step(self.ledger.counts.executions, None).is_err() {
                self.stop();
                return next;
            }
            let Some((parent, found)) = self.plans_of(*id) else { return next };
            for plan in found {
                if let Some(pending) = self.consider(&parent, plan, &mut batch) {
                    batch.push(pending);
                }
                if batch.len() >= BATCH {
                    self.flush(crew, &mut batch, (depth + 1, ask), &mut next);
                    if self.is_stopped() {
                        return next;
                    }
                }
            }
        }
        self.flush(crew, &mut batch, (depth + 1, ask), &mut next);
        next
    }

    /// Returns a run with its plans; nothing when there is no room to compute them.
    pub(crate) fn plans_of(&mut self, id: RunId) -> Option<(Arc<Parent>, Vec<Plan>)> {
        let node = &self.ledger.nodes[id as usize];
        let (hash, length) = (node.sequence_hash, node.length);
        let used = self.ledger.memory_bytes();
        if self.control.check_memory(used, Ancestors::memory_bytes(length)).is_err() {
            self.ledger.limits.insert(Limit::Memory);
            return None;
        }
        let steps = Arc::new(self.ledger.store.steps(id));
        let graph = self.analyzer.graph(steps.iter(), &self.book, &self.inputs);
        let found = self.reversals(&steps, &graph);
        self.note_waiting(&steps, &graph);
        self.ledger.counts.plans += found.len() as u64;
        Some((Arc::new(Parent { id, steps, hash }), found))
    }

    /// Returns the plan if it is a sequence that nobody has planned or run. If it waits in the
    /// batch, the parent that shares more of its beginning keeps it.
    fn consider(
        &mut self,
        parent: &Arc<Parent>,
        plan: Plan,
        batch: &mut [Pending],
    ) -> Option<Pending> {
        let pending = self.pending(parent, plan);
        let hash = pending.hash;
        if !self.is_known(hash) {
            self.ledger.planned.insert(hash, NO_RUN);
            return Some(pending);
        }
        self.ledger.counts.repeated += 1;
        if let Some(other) = batch.iter_mut().find(|other| other.hash == hash)
            && other.plan.at < pending.plan.at
        {
            *other = pending;
        }
        None
    }

    /// Returns whether a sequence was planned or run.
    pub(crate) fn is_known(&self, hash: u128) -> bool {
        self.ledger.planned.contains_key(&hash) || self.ledger.by_sequence.contains_key(&hash)
    }

    pub(crate) fn pending(&self, parent: &Arc<Parent>, plan: Plan) -> Pending {
        let hash = plan.hash(&parent.steps, parent.hash, &self.book);
        Pending { parent: parent.clone(), plan, hash, predicted: None, fate: Fate::Run }
    }

    /// Runs a batch, and takes in what comes of it.
    pub(crate) fn flush(
        &mut self,
        crew: &mut dyn Crew,
        batch: &mut Vec<Pending>,
        (depth, ask): (u32, bool),
        next: &mut Vec<RunId>,
    ) {
        if self.control.step(self.ledger.counts.executions, None).is_err() {
            self.stop();
        }
        let mut leaders = FxHashMap::default();
        for (place, pending) in batch.iter_mut().enumerate() {
            pending.fate = self.fate(pending, place, &mut leaders);
        }
        self.dispatch(crew, batch, ask);
        for place in 0..batch.len() {
            if let Fate::After(leader) = batch[place].fate {
                let same = match &batch[leader].fate {
                    Fate::Ran(ran) if !ran.cut => {
                        let steps = whole(&batch[leader], ran);
                        self.is_unverified() || self.order_in(&steps, &batch[place]).is_some()
                    }
                    _ => false,
                };
                if !same {
                    batch[place].fate = Fate::Run;
                }
            }
        }
        self.dispatch(crew, batch, ask);
        let mut taken: Vec<Pending> = std::mem::take(batch);
        for place in 0..taken.len() {
            let fate = std::mem::replace(&mut taken[place].fate, Fate::Cut);
            // The leader comes earlier, so what came of it is known by now.
            let fate = match fate {
                Fate::After(leader) => match self.ledger.planned.get(&taken[leader].hash) {
                    Some(id) if *id != NO_RUN => Fate::Slept(*id),
                    _ => Fate::Cut,
                },
                other => other,
            };
            let id = self.take_in(&taken[place], fate, depth);
            if let Some(id) = id
                && (self.options.sleep != Sleep::Greedy
                    || self.ledger.nodes[id as usize].equivalent_to.is_none())
            {
                next.push(id);
            }
        }
        if self.control.check_memory(self.ledger.memory_bytes(), 0).is_err() {
            self.ledger.limits.insert(Limit::Memory);
        }
    }

    pub(crate) fn stop(&mut self) {
        if let Some(reason) = self.control.cancel.reason() {
            self.ledger.limits.insert(Limit::Stopped(reason));
        }
    }

    /// Decides whether a plan sleeps.
    fn fate(
        &mut self,
        pending: &mut Pending,
        place: usize,
        leaders: &mut FxHashMap<u128, usize>,
    ) -> Fate {
        if self.options.stop_after_plan && self.options.sleep != Sleep::Off {
            return self.covered(pending).map_or(Fate::Run, Fate::Slept);
        }
        if self.options.sleep == Sleep::Off {
            return Fate::Run;
        }
        let Some(steps) = predicted(&pending.parent.steps, &pending.plan) else { return Fate::Run };
        let (_, class) = analyze(&mut self.analyzer, &steps, &self.book, &self.inputs);
        pending.predicted = Some(class);
        if let Some(id) = self.ledger.by_class.get(&class).copied() {
            let steps = self.ledger.store.steps(id);
            if self.is_unverified() || self.order_in(&steps, pending).is_some() {
                return Fate::Slept(id);
            }
        }
        match leaders.get(&class) {
            Some(leader) => Fate::After(*leader),
            None => {
                leaders.insert(class, place);
                Fate::Run
            }
        }
    }

    fn is_unverified(&self) -> bool {
        self.options.sabotage() == Sabotage::SleepUnverified
    }

    /// Returns the places of a plan's tasks in another run, if doing them in the order of the plan
    /// gives an equivalent run.
    fn order_in(&mut self, steps: &[Arc<Done>], pending: &Pending) -> Option<Vec<u32>> {
        let graph = self.analyzer.graph(steps.iter(), &self.book, &self.inputs);
        let order = places(steps, pending)?;
        is_linearisation(&graph, &order).then_some(order)
    }

    /// Returns a run of which the plan is a beginning, up to the order of independent tasks. Looks
    /// through all runs.
    fn covered(&mut self, pending: &Pending) -> Option<RunId> {
        let count = u32::try_from(self.ledger.store.len()).unwrap_or(u32::MAX);
        (0..count).find(|id| {
            let steps = self.ledger.store.steps(*id);
            let graph: Graph = self.analyzer.graph(steps.iter(), &self.book, &self.inputs);
            places(&steps, pending).is_some_and(|order| is_prefix_of_linearisation(&graph, &order))
        })
    }

    /// Runs what is to be run, as far as the limit on executions allows.
    fn dispatch(&mut self, crew: &mut dyn Crew, batch: &mut [Pending], ask: bool) {
        let limit = self.control.limits.executions.unwrap_or(u64::MAX);
        let mut jobs: Vec<Job> = Vec::new();
        let mut left = limit.saturating_sub(self.ledger.counts.executions);
        let stopped = self.is_stopped();
        let mut of: Option<Share> = None;
        for (place, pending) in batch.iter_mut().enumerate() {
            if !matches!(pending.fate, Fate::Run) {
                continue;
            }
            if left == 0 || stopped {
                if left == 0 {
                    self.ledger.limits.insert(Limit::Executions);
                }
                pending.fate = Fate::Cut;
                continue;
            }
            left -= 1;
            self.ledger.counts.executions += 1;
            let plan = &pending.plan;
            let rest = plan.sequence(&pending.parent.steps).skip(plan.at as usize).collect();
            let course = Course { shared: plan.at as usize, rest, asleep: Vec::new() };
            match &mut of {
                Some((parent, courses)) if parent.id == pending.parent.id => {
                    courses.push((place, course));
                }
                _ => {
                    if let Some((parent, courses)) = of.take() {
                        self.split(courses, &parent, ask, &mut jobs);
                    }
                    of = Some((pending.parent.clone(), vec![(place, course)]));
                }
            }
        }
        if let Some((parent, courses)) = of {
            self.split(courses, &parent, ask, &mut jobs);
        }
        let answers = crew.work(jobs);
        self.book.catch_up();
        for Answer { order, result, attempts } in answers {
            self.ledger.counts.retries += attempts.saturating_sub(1);
            batch[order].fate = match result {
                Ok(ran) => Fate::Ran(Box::new(ran)),
                Err(NoRun::Lost(error)) => Fate::Lost(error),
                Err(NoRun::Stopped(reason)) => {
                    self.ledger.limits.insert(Limit::Stopped(reason));
                    Fate::Cut
                }
            };
        }
        // What no worker answered for is gone with the worker.
        for pending in batch.iter_mut().filter(|pending| matches!(pending.fate, Fate::Run)) {
            pending.fate = Fate::Lost("the worker that ran it ended".to_owned());
        }
    }

    /// Makes jobs of the runs that vary one parent: by where they leave it, so that a worker goes
    /// along it once.
    fn split(
        &self,
        mut courses: Vec<(usize, Course)>,
        parent: &Arc<Parent>,
        ask: bool,
        jobs: &mut Vec<Job>,
    ) {
        courses.sort_by_key(|(place, course)| (course.shared, *place));
        let parts = self.options.workers.max(1);
        let size = courses.len().div_ceil(parts).max(1);
        while !courses.is_empty() {
            let rest = courses.split_off(size.min(courses.len()));
            let (run, parent) = (u64::from(parent.id), parent.steps.clone());
            jobs.push(Job { run, parent, courses, ask });
            courses = rest;
        }
    }

    /// Takes in what became of a plan. Returns the new sequence, if it is one.
    fn take_in(&mut self, pending: &Pending, fate: Fate, depth: u32) -> Option<RunId> {
        let plan = &pending.plan;
        let pair = Pair { first: plan.first, second: plan.second, kind: plan.kind };
        let parent = Some(pending.parent.id);
        // What the plan foretold needs no second look.
        let foretold = match &fate {
            Fate::Ran(ran) => ran.as_known && !ran.cut,
            _ => false,
        };
        let (steps, skipped, observation, cut, slept) = match fate {
            Fate::Ran(ran)
                if self.options.sabotage() == Sabotage::SkippedEnds && !ran.skipped.is_empty() =>
            {
                return None;
            }
            Fate::Ran(ran) => {
                self.note_alternatives(&ran);
                self.awaiting.learn(&ran.awaited);
                self.ledger.counts.tasks += ran.steps.len() as u64;
                let steps = whole(pending, &ran);
                let observation = self.ledger.observations.add(ran.observation);
                (steps, ran.skipped, observation, ran.cut, false)
            }
            Fate::Slept(id) => self.as_in(id, pending)?,
            Fate::Lost(error) => {
                self.ledger.counts.lost += 1;
                self.ledger.limits.insert(Limit::Lost);
                self.ledger.lost.push(LostPlan { parent, pair: Some(pair), error });
                return None;
            }
            Fate::Cut | Fate::Run | Fate::After(_) => return None,
        };
        let hash = if foretold { pending.hash } else { sequence_hash(&self.book, &steps) };
        if let Some(id) = self.ledger.by_sequence.get(&hash) {
            self.ledger.counts.repeated += 1;
            self.ledger.planned.insert(pending.hash, *id);
            return None;
        }
        let class = match pending.predicted {
            Some(class) if foretold => class,
            _ => analyze(&mut self.analyzer, &steps, &self.book, &self.inputs).1,
        };
        let planned: FxHashSet<TaskId> = match foretold {
            true => FxHashSet::default(),
            false => plan.sequence(&pending.parent.steps).collect(),
        };
        let new = NewNode { parent, pair: Some(pair), depth, slept, cut, observation };
        let of = (steps.as_slice(), pending.parent.steps.as_slice());
        let id = self.ledger.add(new, of, (&planned, &skipped), (class, hash));
        self.ledger.planned.insert(pending.hash, id);
        self.ledger.note_cut(cut);
        let node = &mut self.ledger.nodes[id as usize];
        if !(node.skipped.is_empty() && node.late.is_empty() && node.new.is_empty()) {
            node.plan = Some((pending.parent.id, Box::new(plan.clone())));
        }
        if node.equivalent_to.is_some() && !slept {
            self.ledger.counts.duplicates += 1;
        }
        let of_parent = &self.ledger.nodes[pending.parent.id as usize];
        let (hash, observation) = self.ledger.observations.get(observation);
        let child = Side { steps: &steps, observation, hash };
        let (hash, observation) = self.ledger.observations.get(of_parent.observation);
        let parent = Side { steps: &pending.parent.steps, observation, hash };
        let rest = (&self.book, &self.inputs, self.options);
        let comparison = compare(&parent, &child, (plan.first, plan.second), rest);
        self.ledger.nodes[id as usize].comparison = Some(comparison);
        Some(id)
    }

    /// What a plan that sleeps does: the steps of the run that does the same, in the plan's order.
    #[expect(clippy::type_complexity, reason = "it is taken apart at once")]
    fn as_in(
        &mut self,
        id: RunId,
        pending: &Pending,
    ) -> Option<(Vec<Arc<Done>>, Vec<TaskId>, usize, bool, bool)> {
        self.ledger.counts.slept += 1;
        if self.options.stop_after_plan {
            return None;
        }
        let steps = self.ledger.store.steps(id);
        let order = places(&steps, pending)?;
        let steps = order.into_iter().map(|at| steps[at as usize].clone()).collect();
        let node = &self.ledger.nodes[id as usize];
        Some((steps, Vec::new(), node.observation, false, true))
    }
}

/// The steps of a run from its beginning.
fn whole(pending: &Pending, ran: &Ran) -> Vec<Arc<Done>> {
    let shared = &pending.parent.steps[..pending.plan.at as usize];
    shared.iter().chain(&ran.steps).cloned().collect()
}

/// The steps of a plan if its tasks do what they do in the run that it varies; nothing if one of
/// them did not run there.
fn predicted(steps: &[Arc<Done>], plan: &Plan) -> Option<Vec<Arc<Done>>> {
    let (at, resume) = (plan.at as usize, plan.resume as usize);
    let there: FxHashMap<TaskId, &Arc<Done>> =
        steps[at..resume].iter().map(|step| (step.task, step)).collect();
    let mut result = Vec::with_capacity(steps.len());
    result.extend_from_slice(&steps[..at]);
    for task in &plan.window {
        result.push((*there.get(task)?).clone());
    }
    result.extend_from_slice(&steps[resume..]);
    Some(result)
}

/// The places of a plan's tasks in a run; nothing if one of them is not there.
fn places(steps: &[Arc<Done>], pending: &Pending) -> Option<Vec<u32>> {
    let there: FxHashMap<TaskId, u32> =
        steps.iter().zip(0..).map(|(step, at)| (step.task, at)).collect();
    pending.plan.sequence(&pending.parent.steps).map(|task| there.get(&task).copied()).collect()
}
