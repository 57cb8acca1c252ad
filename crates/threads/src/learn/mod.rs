//! Exploration by learning: what each thread does is learnt from executions, and all ways in which
//! the threads can meet are explored on what was learnt.
//!
//! What a thread does next is a function of the results that it got. So the trees of the threads,
//! by result, describe the whole program, and the search needs no program: its states are the
//! places of the threads in their trees, and the objects. Where the search meets a result after
//! which a thread was never seen, the program runs, along the way found and on to its end, and all
//! threads' trees grow. Every execution begins with something never seen: no two are equal in what
//! their threads saw. The executions are as many as there is to learn about single threads, not as
//! many as there are ways in which threads can meet.
//!
//! The search forgets what can no longer matter: two states are one if their threads have equal
//! futures and the objects that these futures touch are equal. It tries only a persistent set of
//! threads in each state. Both rest on the futures known so far, so the search is repeated until it
//! learns nothing: then they rested on everything. There are no cycles, since places in trees only
//! go down.

pub use behaviour::Divergence;
pub(crate) use kind::conflict;
pub(crate) use sabotage::Sabotage;

use crate::execution::{Ending, Execution, SPINS_MAX, Step};
use crate::ids::{SiteId, ThreadId};
use crate::op::{Act, Op};
use crate::program::ThreadProgram;
use crate::races::{Race, Slots};
use anyorder_common::cancel::{Cancel, StopReason};
use anyorder_common::hash::Hash128;
use anyorder_common::random::{Random, SplitMix64};
use behaviour::{Behaviours, NodeId};
use persistent::Persistent;
use rustc_hash::{FxHashMap, FxHashSet};
use state::{State, Successor};

mod behaviour;
mod footprint;
mod hash;
mod kind;
mod persistent;
mod sabotage;
mod shortest;
mod state;

/// Options of an exploration.
#[derive(Clone, Debug)]
pub struct LearnOptions {
    /// The most steps of one execution.
    pub steps_max: usize,
    /// The most executions.
    pub executions_max: u64,
    /// How often in a row threads may spin in vain.
    pub spins_max: u32,
    /// Whether every complete class is told apart: what all threads saw, in every combination.
    /// Otherwise each thread is known to see what it can see, not together with what.
    pub classes: bool,
    /// How many places may be searched to shorten the way to one fault.
    pub shorten_max: usize,
    /// Stops the exploration.
    pub cancel: Cancel,
}

impl Default for LearnOptions {
    fn default() -> LearnOptions {
        LearnOptions {
            steps_max: 100_000,
            spins_max: SPINS_MAX,
            executions_max: u64::MAX,
            classes: false,
            shorten_max: 100_000,
            cancel: Cancel::new(),
        }
    }
}

/// A thread that cannot go on, with the operation that it waits for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Blocked {
    /// The thread.
    pub thread: ThreadId,
    /// The operation.
    pub op: Op,
    /// Its position.
    pub site: SiteId,
}

/// A fault of the program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A failure with this number of the program's.
    Failure(u32),
    /// No thread can go on, and some have not ended.
    Deadlock(Vec<Blocked>),
    /// Threads spin for something that does not come.
    Livelock(Vec<Blocked>),
    /// Two accesses of plain data that nothing orders.
    Race(Race),
    /// An execution had more steps than allowed.
    StepLimit,
}

/// A fault and how to reach it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The fault.
    pub fault: Fault,
    /// The steps from the start that show it.
    pub steps: Vec<Step>,
    /// Whether no other way has fewer switches between threads.
    pub is_shortest: bool,
}

/// Why an exploration is not complete.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Incomplete {
    /// The limit of executions was reached.
    Executions,
    /// It was stopped.
    Stopped(StopReason),
    /// The program is not a function of the results.
    Diverged(Box<Divergence>),
    /// An execution was longer than allowed.
    Steps,
}

/// What an exploration found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Learnt {
    /// The executions of the program.
    pub executions: u64,
    /// The steps of all executions.
    pub steps: u64,
    /// The places in the trees of all threads.
    pub behaviours: u64,
    /// The states in which the last search had a choice, and the steps between its states.
    pub states: u64,
    /// See `states`.
    pub transitions: u64,
    /// The complete classes, if they were asked for.
    pub classes: u64,
    /// The searches.
    pub searches: u64,
    /// The faults, each once, in the order in which they were found.
    pub faults: Vec<Found>,
    /// Why it is not complete, if it is not.
    pub incomplete: Option<Incomplete>,
}

/// Explores a program by learning.
///
/// Complete: every result that a thread can get in any execution, it got, and with `classes` every
/// combination; every failure and every deadlock is among the faults. Exponential in the number of
/// threads at worst. Memory: 16 bytes and more for each state with a choice, and the trees.
pub fn explore_by_learning<P: ThreadProgram + ?Sized>(
    program: &mut P,
    options: &LearnOptions,
) -> Learnt {
    explore_with_fault(program, options, Sabotage::None)
}

pub(crate) fn explore_with_fault<P: ThreadProgram + ?Sized>(
    program: &mut P,
    options: &LearnOptions,
    sabotage: Sabotage,
) -> Learnt {
    let mut learner = Learner::new(program, options);
    learner.sabotage = sabotage;
    learner.learnt.incomplete = learner.explore().err();
    learner.shorten();
    learner.learnt.behaviours = learner.known.len() as u64;
    learner.learnt
}

struct Learner<'p, P: ThreadProgram + ?Sized> {
    execution: Execution<'p, P>,
    options: LearnOptions,
    sabotage: Sabotage,
    known: Behaviours,
    learnt: Learnt,
    faults: FxHashSet<Fault>,
    visited: FxHashSet<Hash128>,
    classes: FxHashSet<Hash128>,
    persistent: Persistent,
    slots: Slots,
    /// By thread, where it is in the execution.
    places: FxHashMap<ThreadId, NodeId>,
    has_learnt: bool,
    /// After how many steps in vain a search that has learnt something begins anew: then more
    /// states are one.
    patience: u64,
}

/// How many random walks in a row may end where the program does.
const WALKS_IN_VAIN: u32 = 100;

/// A state of the search and the steps to try there.
struct Frame {
    state: State,
    steps: Vec<Step>,
    next: usize,
    /// The hash of the state, if it has a choice.
    key: Option<Hash128>,
    /// The executions when the state was entered.
    executions: u64,
}

impl<'p, P: ThreadProgram + ?Sized> Learner<'p, P> {
    fn new(program: &'p mut P, options: &LearnOptions) -> Self {
        let mut execution = Execution::new(program);
        execution.set_spins_max(options.spins_max);
        Learner {
            execution,
            options: options.clone(),
            sabotage: Sabotage::None,
            known: Behaviours::new(),
            learnt: Learnt::default(),
            faults: FxHashSet::default(),
            visited: FxHashSet::default(),
            classes: FxHashSet::default(),
            persistent: Persistent::default(),
            slots: Slots::default(),
            places: FxHashMap::default(),
            has_learnt: false,
            patience: 5_000,
        }
    }

    fn explore(&mut self) -> Result<(), Incomplete> {
        self.run(&[])?;
        // Walks would hide the fault from the tests.
        if self.sabotage != Sabotage::OneSearch {
            self.wander()?;
        }
        loop {
            self.has_learnt = false;
            self.known.classify(self.options.classes, self.sabotage);
            self.learnt.searches += 1;
            self.search()?;
            if !self.has_learnt || self.sabotage == Sabotage::OneSearch {
                return Ok(());
            }
        }
    }

    /// Walks at random through what is known, and learns where that ends, until walks keep ending
    /// where the program does. A search that learns all from its first states on would do so from
    /// its last choices upwards, and see two states as one only much later.
    fn wander(&mut self) -> Result<(), Incomplete> {
        let mut rng = SplitMix64(1);
        let (mut ways, mut in_vain) = (Vec::new(), 0);
        while in_vain < WALKS_IN_VAIN {
            self.options.cancel.check().map_err(|stopped| Incomplete::Stopped(stopped.0))?;
            in_vain += 1;
            let Some(mut state) = State::start(&self.known, self.sabotage) else { return Ok(()) };
            let (mut path, order) = (Vec::new(), rng.bits());
            loop {
                state.ways(&self.known, self.options.spins_max, &mut ways);
                let able = ways.iter().filter(|ways| **ways > 0).count();
                if able == 0 || path.len() >= self.options.steps_max {
                    break;
                }
                let mut of = (0..ways.len()).filter(|at| ways[*at] > 0);
                // In every other walk the threads have priorities: so each one comes late at times.
                let at = match in_vain % 2 {
                    0 => of.nth(rng.index(able)),
                    _ => of.max_by_key(|at| priority(state.live[*at].0, order)),
                };
                let at = at.unwrap_or(0);
                let alternative = rng.below(u64::from(ways[at])) as u32;
                let step = Step { thread: state.live[at].0, alternative };
                path.push(step);
                match state.after(step, &self.known, &mut self.slots, false) {
                    Successor::Known(after, _) => state = after,
                    Successor::Unknown => {
                        self.run(&path)?;
                        in_vain = 0;
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Searches what is known, and learns what is not.
    fn search(&mut self) -> Result<(), Incomplete> {
        self.visited.clear();
        self.classes.clear();
        (self.learnt.states, self.learnt.transitions, self.learnt.classes) = (0, 0, 0);
        let Some(start) = State::start(&self.known, self.sabotage) else { return Ok(()) };
        let mut stack: Vec<Frame> = Vec::new();
        self.enter(start, &mut stack);
        let mut turns = 0_u32;
        let (mut executions, mut since) = (self.learnt.executions, 0);
        while let Some(frame) = stack.last_mut() {
            let Some(step) = frame.steps.get(frame.next).copied() else {
                // What was learnt below may be news about another state with this key, too.
                if let Some(key) = frame.key
                    && frame.executions == self.learnt.executions
                {
                    self.visited.insert(key);
                }
                stack.pop();
                continue;
            };
            frame.next += 1;
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(1024) {
                self.options.cancel.check().map_err(|stopped| Incomplete::Stopped(stopped.0))?;
            }
            self.learnt.transitions += 1;
            since += 1;
            if executions < self.learnt.executions {
                (executions, since) = (self.learnt.executions, 0);
            }
            if self.has_learnt && since > self.patience {
                self.patience *= 2;
                return Ok(());
            }
            let state = frame.state.clone();
            let keep = self.options.classes;
            let (after, races) = match state.after(step, &self.known, &mut self.slots, keep) {
                Successor::Known(state, races) => (state, races),
                Successor::Unknown => {
                    let path: Vec<Step> = way(&stack);
                    self.run(&path)?;
                    let Some(frame) = stack.last() else { break };
                    let state = frame.state.clone();
                    match state.after(step, &self.known, &mut self.slots, keep) {
                        Successor::Known(state, races) => (state, races),
                        // The execution was cut before the thread went on.
                        Successor::Unknown => continue,
                    }
                }
            };
            for race in races {
                self.note(Fault::Race(race), || way(&stack));
            }
            self.enter(after, &mut stack);
        }
        Ok(())
    }

    /// Enters a state, unless it was visited.
    fn enter(&mut self, state: State, stack: &mut Vec<Frame>) {
        let mut ways = Vec::new();
        state.ways(&self.known, self.options.spins_max, &mut ways);
        let threads = self.persistent.find(&state, &self.known, &ways, self.sabotage);
        let mut steps = Vec::new();
        for at in threads {
            let thread = state.live[*at].0;
            steps.extend((0..ways[*at]).map(|alternative| Step { thread, alternative }));
        }
        // A state without a choice leads to one with a choice, or to an end.
        let mut key = None;
        if steps.len() > 1 {
            let hash = state.key(&self.known, &self.slots, false, self.sabotage);
            if self.visited.contains(&hash) {
                return;
            }
            key = Some(hash);
            self.learnt.states += 1;
        }
        if steps.is_empty() {
            if self.options.classes && self.classes.insert(state.histories()) {
                self.learnt.classes += 1;
            }
            if !state.live.is_empty() {
                let fault = self.stuck(&state);
                self.note(fault, || way(stack));
            }
            return;
        }
        let executions = self.learnt.executions;
        stack.push(Frame { state, steps, next: 0, key, executions });
    }

    /// Replaces the ways to the faults by shorter ones, as far as the limit allows.
    fn shorten(&mut self) {
        self.known.classify(false, Sabotage::None);
        let (spins_max, places_max) = (self.options.spins_max, self.options.shorten_max);
        for found in &mut self.learnt.faults {
            if places_max == 0 || self.options.cancel.check().is_err() {
                return;
            }
            let way = shortest::shortest(&self.known, &found.fault, spins_max, places_max);
            found.is_shortest = way.is_some();
            if let Some(steps) = way {
                found.steps = steps;
            }
        }
    }

    /// The fault of a state in which nothing can go on.
    fn stuck(&self, state: &State) -> Fault {
        let blocked = |(thread, node): &(ThreadId, NodeId)| Blocked {
            thread: *thread,
            op: self.known.op(*node).clone(),
            site: self.known.node(*node).site,
        };
        let blocked: Vec<Blocked> = state.live.iter().map(blocked).collect();
        match blocked.iter().any(|blocked| matches!(blocked.op.act, Act::Await(_))) {
            true => Fault::Livelock(blocked),
            false => Fault::Deadlock(blocked),
        }
    }

    fn note(&mut self, fault: Fault, steps: impl FnOnce() -> Vec<Step>) {
        if self.faults.insert(fault.clone()) {
            self.learnt.faults.push(Found { fault, steps: steps(), is_shortest: false });
        }
    }

    /// Runs the program along a path and on to its end, and learns what the threads do.
    fn run(&mut self, path: &[Step]) -> Result<(), Incomplete> {
        if self.learnt.executions >= self.options.executions_max {
            return Err(Incomplete::Executions);
        }
        self.learnt.executions += 1;
        self.places.clear();
        self.execution.restart();
        self.learn_first(ThreadId::MAIN)?;
        let mut ready = Vec::new();
        let mut at = 0;
        loop {
            let step = match path.get(at) {
                Some(step) => *step,
                None => {
                    self.execution.ready(&mut ready);
                    match self.pick(&ready) {
                        Some(step) => step,
                        None => break,
                    }
                }
            };
            if at == self.options.steps_max {
                let steps = self.taken();
                self.note(Fault::StepLimit, || steps);
                return Err(Incomplete::Steps);
            }
            at += 1;
            let Some(result) = self.execution.step(step) else {
                // The path was possible on what is known, so the program is another one now.
                break;
            };
            self.learn_step(step.thread, result)?;
        }
        self.learnt.steps += at as u64;
        self.known.classify_new(self.sabotage);
        if self.execution.ending() != Ending::Completed {
            self.note_end();
        }
        Ok(())
    }

    /// The next step of an execution that is on its own: of a thread about which something can be
    /// learnt, if there is one.
    fn pick(&self, ready: &[Step]) -> Option<Step> {
        let is_new = |step: &&Step| {
            self.places.get(&step.thread).is_some_and(|node| {
                let would = self.execution.world().would(step.thread, self.known.op(*node));
                would.is_some_and(|result| self.known.child(*node, result).is_none())
            })
        };
        ready.iter().find(is_new).or(ready.first()).copied()
    }

    fn taken(&self) -> Vec<Step> {
        self.execution.events().iter().map(|event| event.step).collect()
    }

    fn learn_first(&mut self, thread: ThreadId) -> Result<(), Incomplete> {
        let Some(next) = self.execution.next(thread).cloned() else { return Ok(()) };
        self.learn(thread, None, &next)
    }

    fn learn_step(&mut self, thread: ThreadId, result: u64) -> Result<(), Incomplete> {
        let Some(node) = self.places.get(&thread).copied() else { return Ok(()) };
        match self.known.op(node).act {
            Act::Exit(_) => {
                self.places.remove(&thread);
                return Ok(());
            }
            Act::Fail(number) => {
                let steps = self.taken();
                self.note(Fault::Failure(number), || steps);
            }
            Act::Spawn(child) => self.learn_first(child)?,
            _ => {}
        }
        let Some(next) = self.execution.next(thread).cloned() else { return Ok(()) };
        self.learn(thread, Some((node, result)), &next)
    }

    fn learn(
        &mut self,
        thread: ThreadId,
        parent: Option<(NodeId, u64)>,
        next: &crate::program::Next,
    ) -> Result<(), Incomplete> {
        let program = self.execution.program_ref();
        let learnt = self.known.learn(thread, parent, next, |object| program.initial(object));
        let (node, is_new) = learnt.map_err(|error| Incomplete::Diverged(Box::new(error)))?;
        if is_new {
            self.has_learnt = true;
            self.known.extend_futures(node);
        }
        self.places.insert(thread, node);
        Ok(())
    }

    /// Notes the fault of an execution that did not complete.
    fn note_end(&mut self) {
        let blocked = |(thread, next): (ThreadId, &crate::program::Next)| Blocked {
            thread,
            op: next.op.clone(),
            site: next.site,
        };
        let blocked: Vec<Blocked> = self.execution.pending().map(blocked).collect();
        let fault = match self.execution.ending() {
            Ending::Livelock => Fault::Livelock(blocked),
            _ => Fault::Deadlock(blocked),
        };
        let steps = self.taken();
        self.note(fault, || steps);
    }
}

/// A random number for a thread.
fn priority(thread: ThreadId, order: u64) -> u64 {
    SplitMix64(order ^ u64::from(thread.0)).bits()
}

/// The steps from the start to where the search is.
fn way(stack: &[Frame]) -> Vec<Step> {
    stack.iter().map(|frame| frame.steps[frame.next.saturating_sub(1)]).collect()
}
