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

use super::ancestors::Ancestors;
use super::candidate::{Candidate, NoRun, RunResult};
use super::confirm::confirm;
use super::dependence::{Graph, sequence_hash};
use super::explore::Exploration;
use super::names::TaskId;
use super::outcome::{Limit, ReversalKind};
use super::pool::{Answer, Job};
use super::reversal::{Pair, Plan};
use super::run_records::Node;
use super::sabotage::Sabotage;
use super::step::{ExecutedStep, Steps, wake};
use super::store::RunId;
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
    /// Whether every sequence that begins with this alternative of a task is covered already, and
    /// not only because the task is in the sleep set.
    fn covers(&self, task: TaskId) -> bool {
        self.tried.contains(&task)
            || self.waiting.iter().any(|waiting| waiting.guide.first() == Some(&task))
            || self.current.iter().chain(&self.done).any(|step| step.task == task)
    }

    /// The step of a task, if the task is in the sleep set.
    fn sleeping(&self, task: TaskId) -> Option<&Arc<ExecutedStep>> {
        self.asleep.iter().find(|step| step.task == task)
    }

    fn knows(&self, task: TaskId) -> bool {
        self.covers(task) || self.sleeping(task).is_some()
    }
}

/// A run, its dependence, and the position of each task.
struct OrderedRun<'a> {
    run: &'a Steps,
    graph: Graph,
    places: FxHashMap<TaskId, usize>,
}

impl Exploration<'_> {
    /// Explores all classes of runs.
    pub(crate) fn exhaustive(&mut self) {
        let mut run = self.records.store.steps(0);
        let mut frames: Vec<Frame> = Vec::new();
        extend(&mut frames, &run);
        let (mut source, mut fresh) = (Some(0), 0);
        loop {
            if !self.wait(&mut frames, &run, (source, fresh)) || self.is_ended() {
                break;
            }
            let Some(next) = backtrack(&mut frames) else {
                self.exhausted = true;
                break;
            };
            fresh = frames.len() - 1;
            run.truncate(fresh);
            let Some(ran) = self.follow(&frames[fresh], &run, &next) else { break };
            let Some(ran) = ran else {
                source = None;
                continue;
            };
            run.extend(ran.steps.iter().cloned());
            self.note_alternatives(&ran);
            if self.awaiting.learn(&ran.awaited) {
                // Conflicts were missed because these waits were unknown: start again.
                self.records.forget_all_but_the_recording();
                self.records.counts.restarts += 1;
                run = self.records.store.steps(0);
                frames.clear();
                extend(&mut frames, &run);
                (source, fresh) = (Some(0), 0);
                continue;
            }
            extend(&mut frames, &run);
            source = self.note(&run, &ran, &next);
        }
        let all: Vec<RunId> = (0..).take(self.records.nodes.len()).collect();
        confirm(self, &all);
    }

    /// Runs a guide. Outer `None`: the exploration was stopped. Inner `None`: the run is lost.
    fn follow(&mut self, frame: &Frame, run: &Steps, next: &Waiting) -> Option<Option<RunResult>> {
        let runs = self.records.counts.runs();
        if !self.goes_on(runs) {
            return None;
        }
        if runs >= self.planned_max() {
            self.records.limits.insert(Limit::Executions);
            return None;
        }
        self.records.counts.executions += 1;
        let asleep = frame.asleep.iter().chain(&frame.done).cloned().collect();
        let candidate = Candidate { shared: run.len(), rest: next.guide.clone(), asleep };
        self.next_run += 1;
        let (parent, candidates) = (Arc::new(run.to_vec()), vec![(0, candidate)]);
        let job = Job { run: self.next_run, parent, candidates, ask: true, repeats: false };
        let error = match self.execute(vec![job]).pop() {
            Some(Answer { result: Ok(ran), .. }) => return Some(Some(ran)),
            Some(Answer { result: Err(NoRun::Stopped(_) | NoRun::Spent), .. }) => return None,
            Some(Answer { result: Err(NoRun::Lost(error)), .. }) => error,
            None => "the worker that ran it ended".to_owned(),
        };
        self.lose(next.parent, next.pair, error);
        Some(None)
    }

    /// Records a run. Returns its number if the run is complete.
    fn note(&mut self, run: &Steps, ran: &RunResult, next: &Waiting) -> Option<RunId> {
        self.records.counts.tasks += ran.steps.len() as u64;
        if ran.blocked {
            self.records.counts.sleep_blocked += 1;
            return None;
        }
        let class = self.class(run);
        let parent = next.parent;
        let node = Node {
            parent,
            pair: Some(next.pair),
            depth: parent.map_or(0, |parent| self.records.nodes[parent as usize].depth) + 1,
            sequence_hash: sequence_hash(&self.name_cache, run),
            observation: self.records.observations.add(ran.observation.clone()),
            cut: ran.cut,
            ..Node::default()
        };
        let shared = run[..run.len() - ran.steps.len()].iter().map(|step| step.task);
        let planned: FxHashSet<TaskId> = shared.chain(next.guide.iter().copied()).collect();
        // Stored whole: a run differs from earlier runs in its end, and from its parent in most
        // steps.
        let id = self.records.add(node, class, (run, None), (&planned, &ran.skipped));
        if let Some(parent) = parent {
            self.compare(id, run, &self.records.store.steps(parent));
        }
        Some(id)
    }

    /// Adds the reversals of a run to the waiting sequences at their states. The reversals in its
    /// first `fresh` steps were added before. Returns false if a limit on memory was reached.
    fn wait(
        &mut self,
        frames: &mut [Frame],
        run: &Steps,
        (source, fresh): (Option<RunId>, usize),
    ) -> bool {
        if !self.has_room(Ancestors::memory_bytes(run.len())) {
            return false;
        }
        let ordered = self.ordered(run);
        let forgets = self.options.sabotage() == Sabotage::ForgetSleepingConflicts;
        for plan in self.reversals(run, &ordered.graph) {
            let (at, resume) = (plan.at as usize, plan.resume as usize);
            if resume <= fresh && at < fresh {
                continue;
            }
            self.records.counts.plans += 1;
            let Some(frame) = frames.get_mut(at) else { continue };
            if plan.pair.kind == ReversalKind::Disabling && !forgets {
                let base = self.name_cache.base(plan.pair.second);
                let mut disabled = frame.asleep.clone();
                disabled.retain(|step| step.base == base);
                for sleeping in disabled {
                    self.add_conflicts_of_sleeping(frame, run, at, &sleeping);
                }
            }
            self.enter(frame, &plan, &ordered, source);
        }
        true
    }

    fn ordered<'r>(&mut self, run: &'r Steps) -> OrderedRun<'r> {
        let places = run.iter().zip(0..).map(|(step, at)| (step.task, at)).collect();
        OrderedRun { run, graph: self.graph(run), places }
    }

    /// Adds the sequences that conflict with a sleeping task that was disabled. Sequences that
    /// begin with the sleeping task are covered elsewhere. Sequences that begin with a task that
    /// wakes it, and run both before the task that disables it, are not. If the sleeping task had
    /// run later, its conflicts would be among those of the run.
    fn add_conflicts_of_sleeping(
        &mut self,
        frame: &mut Frame,
        run: &Steps,
        at: usize,
        sleeping: &Arc<ExecutedStep>,
    ) {
        let mut awake = run.to_vec();
        awake.insert(at, sleeping.clone());
        let ordered = self.ordered(&awake);
        for plan in self.reversals(&awake, &ordered.graph) {
            let kind = plan.pair.kind;
            let conflicts = matches!(kind, ReversalKind::Conflict | ReversalKind::Waiting);
            if plan.at as usize == at && plan.pair.first == sleeping.task && conflicts {
                self.enter(frame, &plan, &ordered, None);
            }
        }
    }

    /// Adds a plan to the waiting sequences, unless some task that could begin it is covered. If a
    /// task that could begin it sleeps, its alternatives that do not sleep are added instead.
    fn enter(
        &mut self,
        frame: &mut Frame,
        plan: &Plan,
        ordered: &OrderedRun<'_>,
        parent: Option<RunId>,
    ) {
        let wait = |frame: &mut Frame, guide| {
            frame.waiting.push(Waiting { guide, parent, pair: plan.pair });
        };
        let mut known = beginnings(plan, ordered);
        known.retain(|task| frame.knows(*task));
        let forgets = self.options.sabotage() == Sabotage::SleepAlternatives && !known.is_empty();
        if forgets || known.iter().any(|task| frame.covers(*task)) {
            return;
        }
        let guide: Vec<TaskId> = plan.sequence(ordered.run).skip(plan.at as usize).collect();
        let sleeping = known.first().and_then(|task| frame.sleeping(*task)).cloned();
        if let Some(sleeping) = sleeping {
            let most = self.options.alternatives_max.max(1);
            for alternative in 0..sleeping.alternatives.min(most) {
                let other = self.name_cache.alternative(sleeping.base, alternative);
                if !frame.knows(other) {
                    let rest = guide.iter().copied().filter(|task| *task != sleeping.task);
                    wait(frame, std::iter::once(other).chain(rest).collect());
                }
            }
            return;
        }
        // The task may have fewer alternatives here than there. Its first alternative exists
        // wherever it can run; running that one reveals the others.
        if let Some(first) = guide.first().copied() {
            let base = self.name_cache.base(first);
            if first != base && !frame.knows(base) {
                wait(frame, std::iter::once(base).chain(guide[1..].iter().copied()).collect());
            }
        }
        wait(frame, guide);
    }
}

/// The tasks with which the steps that lead to the leader of the plan could begin.
fn beginnings(plan: &Plan, ordered: &OrderedRun<'_>) -> Vec<TaskId> {
    let second = plan.pair.second;
    if matches!(plan.pair.kind, ReversalKind::Disabling | ReversalKind::Alternative(_)) {
        return vec![second];
    }
    let end = plan.window.iter().position(|task| *task == plan.leader).unwrap_or(0);
    let needed = &plan.window[..=end];
    let places = &ordered.places;
    let inside: FxHashSet<usize> =
        needed.iter().filter_map(|task| places.get(task).copied()).collect();
    let first = |task: &&TaskId| {
        places.get(task).is_some_and(|at| {
            !ordered.graph.before(*at).iter().any(|before| inside.contains(&(before.at as usize)))
        })
    };
    needed.iter().filter(first).copied().collect()
}

/// Makes frames for the rest of a run.
fn extend(frames: &mut Vec<Frame>, run: &Steps) {
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
