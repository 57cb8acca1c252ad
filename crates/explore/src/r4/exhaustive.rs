//! All orders that differ, for programs all of whose runs end.
//!
//! **Problem.** From the recording, find a run in every class of complete runs, and no two in one
//! class. **Source.** Algorithms 1-3 of the R4 paper, with sleep sets (Godefroid: Partial-Order
//! Methods for the Verification of Concurrent Systems, 1996) and the weaker demand of source sets
//! (Abdulla, Aronis, Jonsson, Sagonas: Optimal Dynamic Partial Order Reduction, POPL 2014).
//! **Guarantee.** Every final state and every failure of full enumeration, if the steps tell all
//! locations and tasks that conflict on none are independent. Each class has exactly one complete
//! run; runs that end because all that could go on sleeps are counted apart. **Method.**
//! Depth-first. At each state of the current run: the tasks whose subtrees are done, those that
//! sleep, and those that wait, each with the whole sequence that it was found with: the run is
//! guided by it. A reversal waits at the state before the first of its pair, unless a task that
//! could begin it waits there already, is done, or sleeps. **Deviations.** (1) A guide loses the
//! tasks that cannot run, so that a disabled front does not make it run the same again (trap 3).
//! (2) One guide is kept for each first task: the others' orders are found again below it.

use super::confirm::confirm;
use super::course::{Course, NoRun, Ran};
use super::crew::{Answer, Crew, Job};
use super::dependence::Graph;
use super::driver::sequence_hash;
use super::explore::Exploration;
use super::ledger::{LostPlan, NewNode, Pair, analyze};
use super::names::{Book, TaskId};
use super::options::Options;
use super::outcome::Limit;
use super::reversal::{Ancestors, Kind, Plan};
use super::sabotage::Sabotage;
use super::sleepers::wake;
use super::step::Done;
use super::store::RunId;
use super::verdict::{Side, compare};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A state of the current run.
#[derive(Default)]
struct Frame {
    asleep: Vec<Arc<Done>>,
    /// What was run here, the subtrees being done.
    done: Vec<Arc<Done>>,
    /// The first tasks of all guides that were ever taken.
    tried: Vec<TaskId>,
    /// What the current run does next.
    current: Option<Arc<Done>>,
    waiting: Vec<Waiting>,
}

/// A sequence that is to be run from a state.
struct Waiting {
    guide: Vec<TaskId>,
    parent: Option<RunId>,
    pair: Pair,
}

impl Frame {
    /// Whether whatever begins with this alternative of a task is seen to already.
    fn knows(&self, task: TaskId) -> bool {
        self.tried.contains(&task)
            || self.waiting.iter().any(|waiting| waiting.guide.first() == Some(&task))
            || self.current.iter().chain(&self.done).chain(&self.asleep).any(|s| s.task == task)
    }

    /// Whether that is so only because it sleeps here: of its other alternatives nothing is said
    /// then.
    fn only_sleeps(&self, task: TaskId) -> bool {
        !self.tried.contains(&task)
            && !self.waiting.iter().any(|waiting| waiting.guide.first() == Some(&task))
            && !self.current.iter().chain(&self.done).any(|step| step.task == task)
    }
}

impl Exploration<'_> {
    /// Explores all classes of runs.
    pub(crate) fn exhaustive(&mut self, crew: &mut dyn Crew) {
        let mut run = self.ledger.store.steps(0);
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
            let Some(ran) = self.follow(crew, &frames[fresh], &run, &next) else { break };
            let Some(ran) = ran else {
                source = None;
                continue;
            };
            run.extend(ran.steps.iter().cloned());
            self.note_alternatives(&ran);
            if self.awaiting.learn(&ran.awaited) {
                run = self.begin_again();
                frames.clear();
                extend(&mut frames, &run);
                (source, fresh) = (Some(0), 0);
                continue;
            }
            extend(&mut frames, &run);
            source = self.note(&run, &ran, &next);
        }
        let all: Vec<RunId> = (0..).take(self.ledger.nodes.len()).collect();
        confirm(self, crew, &all);
    }

    /// Forgets all runs but the recording, and returns that: conflicts were overlooked by what was
    /// not yet known of what tasks wait for.
    fn begin_again(&mut self) -> Vec<Arc<Done>> {
        self.ledger.forget_all_but_the_recording();
        self.ledger.counts.restarts += 1;
        self.ledger.store.steps(0)
    }

    /// Runs a guide. The outer nothing: stopped; the inner: lost.
    fn follow(
        &mut self,
        crew: &mut dyn Crew,
        frame: &Frame,
        run: &[Arc<Done>],
        next: &Waiting,
    ) -> Option<Option<Ran>> {
        if self.control.step(self.ledger.counts.executions, None).is_err() {
            self.stop();
            return None;
        }
        if self.control.limits.executions.is_some_and(|most| self.ledger.counts.executions >= most)
        {
            self.ledger.limits.insert(Limit::Executions);
            return None;
        }
        self.ledger.counts.executions += 1;
        let asleep = frame.asleep.iter().chain(&frame.done).cloned().collect();
        let course = Course { shared: run.len(), rest: next.guide.clone(), asleep };
        self.next_run += 1;
        let (parent, courses) = (Arc::new(run.to_vec()), vec![(0, course)]);
        let answers = crew.work(vec![Job { run: self.next_run, parent, courses, ask: true }]);
        self.book.catch_up();
        let Some(Answer { result, attempts, .. }) = answers.into_iter().next() else {
            return Some(self.give_up(next, "the worker that ran it ended".to_owned()));
        };
        self.ledger.counts.retries += attempts.saturating_sub(1);
        match result {
            Ok(ran) => Some(Some(ran)),
            Err(NoRun::Lost(error)) => Some(self.give_up(next, error)),
            Err(NoRun::Stopped(reason)) => {
                self.ledger.limits.insert(Limit::Stopped(reason));
                None
            }
        }
    }

    fn give_up(&mut self, next: &Waiting, error: String) -> Option<Ran> {
        self.ledger.counts.lost += 1;
        self.ledger.limits.insert(Limit::Lost);
        self.ledger.lost.push(LostPlan { parent: next.parent, pair: Some(next.pair), error });
        None
    }

    /// Takes in a run. Returns its number, if it is complete.
    fn note(&mut self, run: &[Arc<Done>], ran: &Ran, next: &Waiting) -> Option<RunId> {
        self.ledger.counts.tasks += ran.steps.len() as u64;
        if ran.blocked {
            self.ledger.counts.sleep_blocked += 1;
            return None;
        }
        let (_, class) = analyze(&mut self.analyzer, run, &self.book, &self.inputs);
        let parent = next.parent;
        let depth = parent.map_or(0, |parent| self.ledger.nodes[parent as usize].depth) + 1;
        let hash = sequence_hash(&self.book, run);
        let observation = self.ledger.observations.add(ran.observation.clone());
        let (pair, slept, cut) = (Some(next.pair), false, ran.cut);
        let planned: FxHashSet<TaskId> = {
            let shared = &run[..run.len() - ran.steps.len()];
            shared.iter().map(|step| step.task).chain(next.guide.iter().copied()).collect()
        };
        let new = NewNode { parent, pair, depth, slept, cut, observation };
        // Kept whole: runs differ from those before in their ends, and from their parents in much.
        let id = self.ledger.add_whole(new, run, (&planned, &ran.skipped), (class, hash));
        self.ledger.note_cut(cut);
        if self.ledger.nodes[id as usize].equivalent_to.is_some() {
            self.ledger.counts.duplicates += 1;
        }
        if let Some(parent) = parent {
            let parent_steps = self.ledger.store.steps(parent);
            let (hash, seen) = self.ledger.observations.get(observation);
            let child = Side { steps: run, observation: seen, hash };
            let of_parent = self.ledger.nodes[parent as usize].observation;
            let (hash, seen) = self.ledger.observations.get(of_parent);
            let parent = Side { steps: &parent_steps, observation: seen, hash };
            let rest = (&self.book, &self.inputs, self.options);
            let pair = (next.pair.first, next.pair.second);
            let comparison = compare(&parent, &child, pair, rest);
            self.ledger.nodes[id as usize].comparison = Some(comparison);
        }
        Some(id)
    }

    /// Lets the reversals of a run wait at their states; of those in its first `fresh` steps it was
    /// done before. Returns false when there is no room.
    fn wait(
        &mut self,
        frames: &mut [Frame],
        run: &[Arc<Done>],
        (source, fresh): (Option<RunId>, usize),
    ) -> bool {
        let used = self.ledger.memory_bytes();
        if self.control.check_memory(used, Ancestors::memory_bytes(run.len())).is_err() {
            self.ledger.limits.insert(Limit::Memory);
            return false;
        }
        let graph = self.analyzer.graph(run.iter(), &self.book, &self.inputs);
        let places = places(run);
        let forgets = self.options.sabotage() == Sabotage::ForgetSleepers;
        for plan in self.reversals(run, &graph) {
            let (at, resume) = (plan.at as usize, plan.resume as usize);
            if resume <= fresh && at < fresh {
                continue;
            }
            self.ledger.counts.plans += 1;
            let Some(frame) = frames.get_mut(at) else { continue };
            if plan.kind == Kind::Disabling && !forgets {
                let base = self.book.base(plan.second);
                let mut sleepers = frame.asleep.clone();
                sleepers.retain(|step| step.base == base);
                for sleeper in sleepers {
                    self.wait_for_sleeper(frame, run, at, &sleeper);
                }
            }
            let rest = (&mut self.book, self.options, source);
            enter(frame, &plan, run, (&graph, &places), rest);
        }
        true
    }

    /// Lets wait what conflicts with a task that sleeps and was disabled. To begin with the sleeper
    /// is seen to elsewhere, but not to begin with something that wakes it, and then to do both
    /// before what disables it. Had it run after all, as other sleepers do, its conflicts would be
    /// among those of the run.
    fn wait_for_sleeper(
        &mut self,
        frame: &mut Frame,
        run: &[Arc<Done>],
        at: usize,
        sleeper: &Arc<Done>,
    ) {
        let mut awake = run[..at].to_vec();
        awake.push(sleeper.clone());
        awake.extend_from_slice(&run[at..]);
        let graph = self.analyzer.graph(awake.iter(), &self.book, &self.inputs);
        let places = places(&awake);
        for plan in self.reversals(&awake, &graph) {
            let conflicts = matches!(plan.kind, Kind::Conflict | Kind::Waiting);
            if plan.at as usize == at && plan.first == sleeper.task && conflicts {
                let rest = (&mut self.book, self.options, None);
                enter(frame, &plan, &awake, (&graph, &places), rest);
            }
        }
    }
}

fn places(run: &[Arc<Done>]) -> FxHashMap<TaskId, usize> {
    run.iter().enumerate().map(|(at, step)| (step.task, at)).collect()
}

/// Lets a plan wait, unless what could begin it is seen to. Where a task that could begin it
/// sleeps, its alternatives that do not sleep wait instead.
fn enter(
    frame: &mut Frame,
    plan: &Plan,
    run: &[Arc<Done>],
    (graph, places): (&Graph, &FxHashMap<TaskId, usize>),
    (book, options, source): (&mut Book, &Options, Option<RunId>),
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
    let sleeper = known.first().and_then(|task| frame.asleep.iter().find(|s| s.task == *task));
    if let Some(sleeper) = sleeper.cloned() {
        for alternative in 0..sleeper.alternatives.min(alternatives_max) {
            let other = book.alternative(sleeper.base, alternative);
            if !frame.knows(other) {
                let rest = guide.iter().copied().filter(|task| *task != sleeper.task);
                wait(frame, std::iter::once(other).chain(rest).collect());
            }
        }
        return;
    }
    // Here the task may have fewer alternatives than there: the first it has wherever it can run,
    // and the others follow from that.
    if let Some(first) = guide.first().copied() {
        let base = book.base(first);
        if first != base && !frame.knows(base) {
            wait(frame, std::iter::once(base).chain(guide[1..].iter().copied()).collect());
        }
    }
    wait(frame, guide);
}

/// The tasks with which what leads to the second of the pair could begin.
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
fn extend(frames: &mut Vec<Frame>, run: &[Arc<Done>]) {
    let from = frames.len().saturating_sub(1);
    for (at, step) in run.iter().enumerate().skip(from) {
        if at == frames.len() {
            frames.push(Frame::default());
        }
        let frame = &mut frames[at];
        frame.current = Some(step.clone());
        let mut asleep: Vec<Arc<Done>> = frame.asleep.iter().chain(&frame.done).cloned().collect();
        wake(&mut asleep, step);
        frames.push(Frame { asleep, ..Frame::default() });
    }
}

/// Goes back to the last state where something waits, and takes it.
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
