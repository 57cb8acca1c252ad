//! All inequivalent orders, for programs whose runs all end.
//!
//! **Problem.** From the recording, find a run in every class of complete runs, and no two in one
//! class. **Source.** Algorithms 1-3 of the R4 paper, with sleep sets (Godefroid: Partial-Order
//! Methods for the Verification of Concurrent Systems, 1996) and the weaker demand of source sets
//! (Abdulla, Aronis, Jonsson, Sagonas: Optimal Dynamic Partial Order Reduction, POPL 2014).
//! **Guarantee.** The exploration finds every final state and every failure of full enumeration, if
//! steps report all locations and tasks without a conflict are independent. Each class has exactly
//! one complete run. Runs that end because all enabled tasks sleep are counted apart. **Method.**
//! Depth-first. Each state of the current run holds three sets of tasks: those whose subtrees are
//! done, the sleep set, and those that wait. A waiting task keeps the whole sequence that it was
//! found with, and this sequence guides its run. A reversal waits at the state before the first
//! task of its pair, unless a task that could begin it waits there already, is done, or sleeps.
//! **Deviations.** (1) A guide loses the tasks that cannot run, so that a disabled front does not
//! cause the same run twice (trap 3). (2) Only one guide is kept for each first task; the orders of
//! the others are found again below it.

use super::candidate::{Candidate, NoRun, RunResult};
use super::confirm::confirm;
use super::dependence::Graph;
use super::driver::sequence_hash;
use super::explore::Exploration;
use super::names::{NameCache, TaskId};
use super::options::Options;
use super::outcome::Limit;
use super::pool::{Answer, Job, RunPool};
use super::reversal::{Ancestors, Kind, Plan};
use super::run_records::{LostPlan, NewNode, Pair, analyze};
use super::sabotage::Sabotage;
use super::sleep_sets::wake;
use super::step::ExecutedStep;
use super::store::RunId;
use super::verdict::{ComparedRun, compare};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A state of the current run.
#[derive(Default)]
struct Frame {
    asleep: Vec<Arc<ExecutedStep>>,
    /// The tasks executed here; their subtrees are done.
    done: Vec<Arc<ExecutedStep>>,
    /// The first tasks of all guides taken so far.
    tried: Vec<TaskId>,
    /// The next step of the current run.
    current: Option<Arc<ExecutedStep>>,
    waiting: Vec<Waiting>,
}

/// A sequence to run from a state.
struct Waiting {
    guide: Vec<TaskId>,
    parent: Option<RunId>,
    pair: Pair,
}

impl Frame {
    /// Whether every sequence that begins with this alternative of a task is covered already.
    fn knows(&self, task: TaskId) -> bool {
        self.tried.contains(&task)
            || self.waiting.iter().any(|waiting| waiting.guide.first() == Some(&task))
            || self.current.iter().chain(&self.done).chain(&self.asleep).any(|s| s.task == task)
    }

    /// Whether the task is covered only because it is in the sleep set here. Then its other
    /// alternatives are not covered.
    fn only_sleeps(&self, task: TaskId) -> bool {
        !self.tried.contains(&task)
            && !self.waiting.iter().any(|waiting| waiting.guide.first() == Some(&task))
            && !self.current.iter().chain(&self.done).any(|step| step.task == task)
    }
}

impl Exploration<'_> {
    /// Explores all classes of runs.
    pub(crate) fn exhaustive(&mut self, pool: &mut dyn RunPool) {
        let mut run = self.records.store.steps(0);
        let mut frames: Vec<Frame> = Vec::new();
        extend(&mut frames, &run);
        let (mut source, mut fresh) = (Some(0), 0);
        loop {
            if !self.wait(&mut frames, &run, (source, fresh)) || self.is_stopped() {
                break;
            }
            let Some(next) = backtrack(&mut frames) else {
                self.exhausted = true;
                break;
            };
            fresh = frames.len() - 1;
            run.truncate(fresh);
            let Some(ran) = self.follow(pool, &frames[fresh], &run, &next) else { break };
            let Some(ran) = ran else {
                source = None;
                continue;
            };
            run.extend(ran.steps.iter().cloned());
            self.note_alternatives(&ran);
            if self.awaiting.learn(&ran.awaited) {
                run = self.restart();
                frames.clear();
                extend(&mut frames, &run);
                (source, fresh) = (Some(0), 0);
                continue;
            }
            extend(&mut frames, &run);
            source = self.note(&run, &ran, &next);
        }
        let all: Vec<RunId> = (0..).take(self.records.nodes.len()).collect();
        confirm(self, pool, &all);
    }

    /// Forgets all runs but the recording, and returns the recording. Conflicts were missed because
    /// the waits of some tasks were unknown.
    fn restart(&mut self) -> Vec<Arc<ExecutedStep>> {
        self.records.forget_all_but_the_recording();
        self.records.counts.restarts += 1;
        self.records.store.steps(0)
    }

    /// Runs a guide. Outer `None`: the exploration was stopped. Inner `None`: the run is lost.
    fn follow(
        &mut self,
        pool: &mut dyn RunPool,
        frame: &Frame,
        run: &[Arc<ExecutedStep>],
        next: &Waiting,
    ) -> Option<Option<RunResult>> {
        if self.control.step(self.records.counts.executions, None).is_err() {
            self.stop();
            return None;
        }
        if self.control.limits.executions.is_some_and(|most| self.records.counts.executions >= most)
        {
            self.records.limits.insert(Limit::Executions);
            return None;
        }
        self.records.counts.executions += 1;
        let asleep = frame.asleep.iter().chain(&frame.done).cloned().collect();
        let candidate = Candidate { shared: run.len(), rest: next.guide.clone(), asleep };
        self.next_run += 1;
        let (parent, candidates) = (Arc::new(run.to_vec()), vec![(0, candidate)]);
        let answers = pool.work(vec![Job { run: self.next_run, parent, candidates, ask: true }]);
        self.name_cache.catch_up();
        let Some(Answer { result, attempts, .. }) = answers.into_iter().next() else {
            return Some(self.give_up(next, "the worker that ran it ended".to_owned()));
        };
        self.records.counts.retries += attempts.saturating_sub(1);
        match result {
            Ok(ran) => Some(Some(ran)),
            Err(NoRun::Lost(error)) => Some(self.give_up(next, error)),
            Err(NoRun::Stopped(reason)) => {
                self.records.limits.insert(Limit::Stopped(reason));
                None
            }
        }
    }

    fn give_up(&mut self, next: &Waiting, error: String) -> Option<RunResult> {
        self.records.counts.lost += 1;
        self.records.limits.insert(Limit::Lost);
        self.records.lost.push(LostPlan { parent: next.parent, pair: Some(next.pair), error });
        None
    }

    /// Records a run. Returns its number if the run is complete.
    fn note(
        &mut self,
        run: &[Arc<ExecutedStep>],
        ran: &RunResult,
        next: &Waiting,
    ) -> Option<RunId> {
        self.records.counts.tasks += ran.steps.len() as u64;
        if ran.blocked {
            self.records.counts.sleep_blocked += 1;
            return None;
        }
        let (_, class) = analyze(&mut self.analyzer, run, &self.name_cache, &self.inputs);
        let parent = next.parent;
        let depth = parent.map_or(0, |parent| self.records.nodes[parent as usize].depth) + 1;
        let hash = sequence_hash(&self.name_cache, run);
        let observation = self.records.observations.add(ran.observation.clone());
        let (pair, slept, cut) = (Some(next.pair), false, ran.cut);
        let planned: FxHashSet<TaskId> = {
            let shared = &run[..run.len() - ran.steps.len()];
            shared.iter().map(|step| step.task).chain(next.guide.iter().copied()).collect()
        };
        let new = NewNode { parent, pair, depth, slept, cut, observation };
        // Stored whole: a run differs from earlier runs in its end, and from its parent in most
        // steps.
        let id = self.records.add_whole(new, run, (&planned, &ran.skipped), (class, hash));
        self.records.note_cut(cut);
        if self.records.nodes[id as usize].equivalent_to.is_some() {
            self.records.counts.duplicates += 1;
        }
        if let Some(parent) = parent {
            let parent_steps = self.records.store.steps(parent);
            let (hash, seen) = self.records.observations.get(observation);
            let child = ComparedRun { steps: run, observation: seen, hash };
            let of_parent = self.records.nodes[parent as usize].observation;
            let (hash, seen) = self.records.observations.get(of_parent);
            let parent = ComparedRun { steps: &parent_steps, observation: seen, hash };
            let rest = (&self.name_cache, &self.inputs, self.options);
            let pair = (next.pair.first, next.pair.second);
            let comparison = compare(&parent, &child, pair, rest);
            self.records.nodes[id as usize].comparison = Some(comparison);
        }
        Some(id)
    }

    /// Adds the reversals of a run to the waiting sequences at their states. The reversals in its
    /// first `fresh` steps were added before. Returns false if a limit on memory was reached.
    fn wait(
        &mut self,
        frames: &mut [Frame],
        run: &[Arc<ExecutedStep>],
        (source, fresh): (Option<RunId>, usize),
    ) -> bool {
        let used = self.records.memory_bytes();
        if self.control.check_memory(used, Ancestors::memory_bytes(run.len())).is_err() {
            self.records.limits.insert(Limit::Memory);
            return false;
        }
        let graph = self.analyzer.graph(run.iter(), &self.name_cache, &self.inputs);
        let places = places(run);
        let forgets = self.options.sabotage() == Sabotage::ForgetSleepingConflicts;
        for plan in self.reversals(run, &graph) {
            let (at, resume) = (plan.at as usize, plan.resume as usize);
            if resume <= fresh && at < fresh {
                continue;
            }
            self.records.counts.plans += 1;
            let Some(frame) = frames.get_mut(at) else { continue };
            if plan.kind == Kind::Disabling && !forgets {
                let base = self.name_cache.base(plan.second);
                let mut sleep_sets = frame.asleep.clone();
                sleep_sets.retain(|step| step.base == base);
                for sleeping in sleep_sets {
                    self.add_conflicts_of_sleeping(frame, run, at, &sleeping);
                }
            }
            let rest = (&mut self.name_cache, self.options, source);
            enter(frame, &plan, run, (&graph, &places), rest);
        }
        true
    }

    /// Adds the sequences that conflict with a sleeping task that was disabled. Sequences that
    /// begin with the sleeping task are covered elsewhere. Sequences that begin with a task that
    /// wakes it, and run both before the task that disables it, are not. If the sleeping task had
    /// run later, its conflicts would be among those of the run.
    fn add_conflicts_of_sleeping(
        &mut self,
        frame: &mut Frame,
        run: &[Arc<ExecutedStep>],
        at: usize,
        sleeping: &Arc<ExecutedStep>,
    ) {
        let mut awake = run[..at].to_vec();
        awake.push(sleeping.clone());
        awake.extend_from_slice(&run[at..]);
        let graph = self.analyzer.graph(awake.iter(), &self.name_cache, &self.inputs);
        let places = places(&awake);
        for plan in self.reversals(&awake, &graph) {
            let conflicts = matches!(plan.kind, Kind::Conflict | Kind::Waiting);
            if plan.at as usize == at && plan.first == sleeping.task && conflicts {
                let rest = (&mut self.name_cache, self.options, None);
                enter(frame, &plan, &awake, (&graph, &places), rest);
            }
        }
    }
}

fn places(run: &[Arc<ExecutedStep>]) -> FxHashMap<TaskId, usize> {
    run.iter().enumerate().map(|(at, step)| (step.task, at)).collect()
}

/// Adds a plan to the waiting sequences, unless some task that could begin it is covered. If a task
/// that could begin it sleeps, its alternatives that do not sleep are added instead.
fn enter(
    frame: &mut Frame,
    plan: &Plan,
    run: &[Arc<ExecutedStep>],
    (graph, places): (&Graph, &FxHashMap<TaskId, usize>),
    (name_cache, options, source): (&mut NameCache, &Options, Option<RunId>),
) {
    let (alternatives_max, sabotage) = (options.alternatives_max.max(1), options.sabotage());
    let pair = Pair { first: plan.first, second: plan.second, kind: plan.kind };
    let wait = |frame: &mut Frame, guide| {
        frame.waiting.push(Waiting { guide, parent: source, pair });
    };
    let known = beginnings(plan, graph, places).into_iter().filter(|task| frame.knows(*task));
    let known: Vec<TaskId> = known.collect();
    let forgets = sabotage == Sabotage::SleepAlternatives && !known.is_empty();
    if forgets || known.iter().any(|task| !frame.only_sleeps(*task)) {
        return;
    }
    let guide: Vec<TaskId> = plan.sequence(run).skip(plan.at as usize).collect();
    let sleeping = known.first().and_then(|task| frame.asleep.iter().find(|s| s.task == *task));
    if let Some(sleeping) = sleeping.cloned() {
        for alternative in 0..sleeping.alternatives.min(alternatives_max) {
            let other = name_cache.alternative(sleeping.base, alternative);
            if !frame.knows(other) {
                let rest = guide.iter().copied().filter(|task| *task != sleeping.task);
                wait(frame, std::iter::once(other).chain(rest).collect());
            }
        }
        return;
    }
    // The task may have fewer alternatives here than there. Its first alternative exists wherever
    // it can run; running that one reveals the others.
    if let Some(first) = guide.first().copied() {
        let base = name_cache.base(first);
        if first != base && !frame.knows(base) {
            wait(frame, std::iter::once(base).chain(guide[1..].iter().copied()).collect());
        }
    }
    wait(frame, guide);
}

/// The tasks with which the steps that lead to the second of the pair could begin.
fn beginnings(plan: &Plan, graph: &Graph, places: &FxHashMap<TaskId, usize>) -> Vec<TaskId> {
    if matches!(plan.kind, Kind::Disabling | Kind::Alternative) {
        return vec![plan.second];
    }
    let end = plan.window.iter().position(|task| *task == plan.second).unwrap_or(0);
    let needed = &plan.window[..=end];
    let inside: FxHashSet<usize> =
        needed.iter().filter_map(|task| places.get(task).copied()).collect();
    let first = |task: &&TaskId| {
        places.get(task).is_some_and(|at| {
            !graph.before(*at).iter().any(|before| inside.contains(&(before.at as usize)))
        })
    };
    needed.iter().filter(first).copied().collect()
}

/// Makes frames for the rest of a run.
fn extend(frames: &mut Vec<Frame>, run: &[Arc<ExecutedStep>]) {
    let from = frames.len().saturating_sub(1);
    for (at, step) in run.iter().enumerate().skip(from) {
        if at == frames.len() {
            frames.push(Frame::default());
        }
        let frame = &mut frames[at];
        frame.current = Some(step.clone());
        let mut asleep: Vec<Arc<ExecutedStep>> =
            frame.asleep.iter().chain(&frame.done).cloned().collect();
        wake(&mut asleep, step);
        frames.push(Frame { asleep, ..Frame::default() });
    }
}

/// Goes back to the last state with a waiting sequence, and takes that sequence.
fn backtrack(frames: &mut Vec<Frame>) -> Option<Waiting> {
    while let Some(frame) = frames.last_mut() {
        frame.done.extend(frame.current.take());
        while !frame.waiting.is_empty() {
            let next = frame.waiting.remove(0);
            let Some(first) = next.guide.first().copied() else { continue };
            let seen = frame.done.iter().chain(&frame.asleep).any(|step| step.task == first);
            if !seen && !frame.tried.contains(&first) {
                frame.tried.push(first);
                return Some(next);
            }
        }
        frames.pop();
    }
    None
}
