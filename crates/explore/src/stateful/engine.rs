//! The driver. It expands blocks of states until none waits, checks sets against new facts, and
//! looks for cycles that ignore a task; it repeats this until nothing changes.

use super::commit::Cut;
use super::error::Error;
use super::expand::{CHUNK, Shared, Worker};
use super::found::Item;
use super::knowledge::{Knowledge, Reading};
use super::options::{GiveUp, StatefulOptions};
use super::outcome::{Counts, Graph, Outcome};
use super::sabotage::Sabotage;
use super::seeds::Seeds;
use super::space::{Link, NO_PARENT, Space};
use crate::paths::info_of;
use anyorder_search::{
    Limit, Property, Stats, SystemInfo, THREADS_MAX, Violation, fewer_threads, found_words,
    sort_violations,
};
use anyorder_system::{Control, Failure, Hash128, JobWatch, Reducible};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::resume_unwind;
use std::sync::atomic::AtomicUsize;
use std::thread::{self, Builder};

/// The least and the most states of a block. In between, a block has an eighth of the states found:
/// small while facts grow fast, large when threads need work. The block size decides the order of
/// the search, so it must not depend on threads.
const BLOCK: std::ops::Range<usize> = 1 << 8..1 << 13;

/// Blocks with fewer states use one thread: a second one would not pay.
const ONE_THREAD_MAX: usize = 4 * CHUNK;

/// The number of expanded states at which the search first considers giving up reduction.
const ASK_AT: u64 = 512;

pub(crate) struct Engine<'a, S: Reducible> {
    pub(crate) system: &'a S,
    pub(crate) options: &'a StatefulOptions,
    pub(crate) control: &'a Control<'a>,
    pub(crate) know: Knowledge,
    pub(crate) space: Space<S::State>,
    /// The waiting states, in order.
    pub(crate) queue: VecDeque<Item<S::State>>,
    /// The steps that fail, by their failures.
    pub(crate) failures: BTreeMap<Failure, Vec<Link>>,
    /// Invariants and states that violate them.
    pub(crate) broken: Vec<(usize, u32)>,
    /// Deadlocks and wrong ends, with the states of each.
    pub(crate) dead: BTreeMap<Property, Vec<u32>>,
    pub(crate) hashes: Vec<Hash128>,
    pub(crate) info: SystemInfo<'a, S>,
    /// Which parts of the program ran.
    pub(crate) parts_ran: Vec<bool>,
    /// Whether an end that is no deadlock was met.
    pub(crate) ended: bool,
    /// The states in which a run may end.
    pub(crate) ends: Vec<u32>,
    pub(crate) stats: Stats,
    pub(crate) counts: Counts,
    pub(crate) limits: BTreeSet<Limit>,
    /// The number of blocks, and of the attempts in them that needed no run.
    blocks: u64,
    pub(crate) spared: u64,
    /// The most threads that the system starts.
    threads_max: usize,
    /// One for each thread.
    workers: Vec<Worker<S>>,
    pub(crate) seeds_of_driver: Seeds,
    /// The number of states, and the version of the facts, at the last check of all states.
    checked: (usize, u64),
    /// The number of states expanded, and the number at which to decide about giving up reduction.
    pub(crate) expanded: u64,
    pub(crate) ask_at: u64,
    /// The reported properties, and the number of findings at that time.
    reported: BTreeSet<Property>,
    reported_at: (usize, usize, usize),
    /// The number of findings that were passed on, and of states then.
    passed_on: (usize, usize),
    pub(crate) mode: Mode,
}

/// How to expand a new state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Close a set S.
    Reduce,
    /// Attempt all ready tasks. Record their footprints, for the sets of earlier states or for
    /// inferring edges.
    FollowAll,
    /// Attempt all ready tasks without recording footprints: no state has a set of its own, and no
    /// edge is inferred.
    Bare,
}

/// Searches a system for all violations.
///
/// # Errors
///
/// Fails if the system has no initial state, or breaks its contract so that a path cannot be
/// replayed.
pub fn explore<S: Reducible>(
    system: &S,
    options: &StatefulOptions,
    control: &Control<'_>,
) -> Result<Outcome<S>, Error> {
    explore_watched(system, options, control, &mut |_| ())
}

/// Like [`explore`], and passes on the violations so far, each with a shortest path among the
/// explored ones. It does so between steps of the search, whenever there is a new one and the
/// number of states has grown by a quarter: this costs a pass over all states.
///
/// # Errors
///
/// Like [`explore`].
pub fn explore_watched<S: Reducible>(
    system: &S,
    options: &StatefulOptions,
    control: &Control<'_>,
    on_found: &mut dyn FnMut(Vec<Violation<S>>),
) -> Result<Outcome<S>, Error> {
    let updates = options.updates && !system.components().is_empty();
    let reading = Reading { values: options.values, updates, sabotage: options.sabotage() };
    let info = info_of(system)?;
    let invariants = info.properties.invariants.len();
    let mut engine = Engine {
        system,
        options,
        control,
        know: Knowledge::new(system, invariants, reading),
        space: Space::new(),
        queue: VecDeque::new(),
        failures: BTreeMap::new(),
        broken: Vec::new(),
        dead: BTreeMap::new(),
        hashes: Vec::new(),
        parts_ran: vec![false; info.parts.len()],
        ended: false,
        ends: Vec::new(),
        info,
        stats: Stats::default(),
        counts: Counts::default(),
        limits: BTreeSet::new(),
        blocks: 0,
        spared: 0,
        threads_max: THREADS_MAX,
        workers: Vec::new(),
        seeds_of_driver: Seeds::default(),
        checked: (0, 0),
        expanded: 0,
        ask_at: if let GiveUp::Leave(from) = options.give_up { from } else { ASK_AT },
        reported: BTreeSet::new(),
        reported_at: (0, 0, 0),
        passed_on: (0, 0),
        mode: Mode::Reduce,
    };
    control.progress.phase("states");
    engine.begin()?;
    let complete = engine.run(on_found).is_ok() && engine.limits.is_empty();
    engine.conclude(complete)
}

impl<S: Reducible> Engine<'_, S> {
    /// Reports each finding once, while the search runs: a search may take very long.
    fn report_found(&mut self) {
        let found = (self.failures.len(), self.broken.len(), self.dead.len());
        if found == self.reported_at || self.options.stop_at_first {
            return;
        }
        let (_, broken, _) = std::mem::replace(&mut self.reported_at, found);
        let depth = |state: u32| self.space.nodes.get(state as usize).map_or(0, |node| node.depth);
        let failures = self.failures.iter().map(|(failure, links)| {
            let steps = depth(links[0].parent).saturating_add(1);
            (Property::Failure(failure.clone()), steps)
        });
        let broken = self.broken[broken..].iter();
        let broken = broken.map(|(index, state)| (Property::Invariant(*index), depth(*state)));
        let dead = self.dead.iter();
        let dead = dead.map(|(property, states)| (property.to_report(), depth(states[0])));
        for (property, steps) in failures.chain(broken).chain(dead) {
            if self.reported.insert(property.clone()) {
                self.control.progress.note(&found_words(self.system, &property, steps));
            }
        }
    }

    /// Passes on the violations so far, if there are new ones and it costs little.
    fn pass_on(&mut self, on_found: &mut dyn FnMut(Vec<Violation<S>>)) {
        let (count, states) = (self.reported.len(), self.space.nodes.len());
        let (count_then, states_then) = self.passed_on;
        if count == count_then || states < states_then + states_then / 4 {
            return;
        }
        self.passed_on = (count, states);
        let _unwatched = JobWatch::default().enter();
        // The end of the search reports the error.
        if let Ok((mut found, _)) = self.violations() {
            sort_violations(&mut found);
            on_found(found);
        }
    }

    fn begin(&mut self) -> Result<(), Error> {
        let initials = self.system.initial();
        if initials.is_empty() {
            return Err(Error::NoInitialState);
        }
        for (state, alternative) in initials.into_iter().zip(0..) {
            let hash = self.system.fingerprint(&state);
            let link = Link { parent: NO_PARENT, task: 0, alternative };
            if self.arrive(hash, state, link).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Explores until the end. Returns an error if a limit cut the search, or if it ended because
    /// of a finding.
    fn run(&mut self, on_found: &mut dyn FnMut(Vec<Violation<S>>)) -> Result<(), Cut> {
        loop {
            while !self.queue.is_empty() {
                self.stats.frontier_peak = self.stats.frontier_peak.max(self.queue.len() as u64);
                self.block()?;
                self.report_found();
                self.pass_on(on_found);
                let (states, version) = self.checked;
                if self.know.version != version && self.space.nodes.len() >= 2 * states {
                    self.check_sets();
                }
                self.decide_giving_up();
                if self.counts.left {
                    return Err(Cut);
                }
            }
            if self.know.version != self.checked.1 {
                self.check_sets();
            }
            let more = !self.queue.is_empty() || self.add_ignored();
            // A stop may have cut the checks: nothing is known of the states that they missed.
            self.stop_if_asked()?;
            if !more {
                return Ok(());
            }
        }
    }

    fn check_sets(&mut self) {
        self.checked = (self.space.nodes.len(), self.know.version);
        if self.options.sabotage() != Sabotage::NoReclosing {
            self.counts.rounds += 1;
            self.recheck();
        }
    }

    /// Ends the search if the job was stopped.
    fn stop_if_asked(&mut self) -> Result<(), Cut> {
        let Err(stopped) = self.control.check() else { return Ok(()) };
        self.limits.insert(Limit::from(stopped.0));
        Err(Cut)
    }

    fn stop_by_control(&mut self) -> Result<(), Cut> {
        let bytes = self.bytes();
        let limits = self.control.limits;
        let limit = if let Err(stopped) = self.control.step(self.stats.states, None) {
            Limit::from(stopped.0)
        } else if limits.memory_exceeded(bytes, 0) {
            Limit::Memory
        } else if limits.executions.is_some_and(|most| self.stats.executions >= most) {
            Limit::Executions
        } else if self.space.edges.len() > (u32::MAX / 4 * 3) as usize {
            Limit::Transitions
        } else {
            return Ok(());
        };
        self.limits.insert(limit);
        Err(Cut)
    }

    /// The memory in bytes, without what states point to.
    pub(crate) fn bytes(&self) -> u64 {
        let waiting = self.queue.len() as u64 * size_of::<Item<S::State>>() as u64;
        self.space.bytes() + self.know.bytes() + waiting
    }

    /// Expands the next states.
    fn block(&mut self) -> Result<(), Cut> {
        self.stop_by_control()?;
        let mut items: Vec<Item<S::State>> = Vec::new();
        let size = (self.space.nodes.len() / 8).clamp(BLOCK.start, BLOCK.end);
        while items.len() < size
            && let Some(item) = self.queue.pop_front()
        {
            let depth = self.space.nodes[item.number as usize].depth;
            if self.options.depth_max.is_some_and(|most| depth >= most) {
                self.limits.insert(Limit::Depth);
                if let Err(cut) = self.stop_if_asked() {
                    self.queue.push_front(item);
                    items.drain(..).rev().for_each(|item| self.queue.push_front(item));
                    return Err(cut);
                }
                self.check_invariants(&item);
                continue;
            }
            items.push(item);
        }
        self.expand(&items);
        let next = self.take_in(items);
        for item in next.into_iter().rev() {
            self.queue.push_front(item);
        }
        let something =
            !(self.failures.is_empty() && self.broken.is_empty() && self.dead.is_empty());
        if !self.limits.iter().all(|limit| *limit == Limit::Depth)
            || (self.options.stop_at_first && something)
        {
            return Err(Cut);
        }
        Ok(())
    }

    /// Expands each state, on all threads.
    fn expand(&mut self, items: &[Item<S::State>]) {
        let most = self.options.threads.get().min(self.threads_max);
        let threads = if items.len() < ONE_THREAD_MAX { 1 } else { most };
        self.workers.resize_with(self.workers.len().max(threads), Worker::default);
        // If almost no edge could be inferred, only some blocks try.
        self.blocks += 1;
        let pays = self.inference_pays();
        let infer = self.options.infer
            && self.mode != Mode::Bare
            && (pays || self.blocks.is_multiple_of(16));
        let shared = &Shared {
            infer,
            info: &self.info,
            mode: self.mode,
            system: self.system,
            know: &self.know,
            space: &self.space,
            options: self.options,
            control: self.control,
            items,
            next: AtomicUsize::new(0),
        };
        let (own, others) = self.workers.split_at_mut(1);
        let mut started = 1;
        thread::scope(|scope| {
            let mut handles = Vec::new();
            for worker in &mut others[..threads - 1] {
                // Results do not depend on the number of threads, so fewer will do.
                match Builder::new().spawn_scoped(scope, move || worker.work(shared)) {
                    Ok(handle) => handles.push(handle),
                    Err(_) => break,
                }
            }
            own[0].work(shared);
            started += handles.len();
            // The message of a panic is that of the thread: the scope alone would lose it.
            for handle in handles {
                handle.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
        });
        for worker in &mut self.workers[started..] {
            worker.found.clear();
        }
        self.note_threads((started, threads));
    }

    /// Notes once that the system has started fewer threads than asked for, and asks for no more.
    fn note_threads(&mut self, (started, wanted): (usize, usize)) {
        if started < wanted && self.threads_max > started {
            self.threads_max = started;
            self.control.progress.note(&fewer_threads(started, wanted));
        }
    }

    /// Commits results in the order of the states. Returns the states to expand next, in order.
    fn take_in(&mut self, items: Vec<Item<S::State>>) -> Vec<Item<S::State>> {
        let width = self.know.width;
        let mut workers = std::mem::take(&mut self.workers);
        let mut order = Vec::new();
        for (worker, index) in workers.iter().zip(0usize..) {
            self.stats.executions += worker.found.executions;
            let ran = self.parts_ran.iter_mut().zip(&worker.found.parts);
            ran.for_each(|(ran, now)| *ran |= now);
            order.extend(worker.found.chunks.iter().map(|(chunk, done)| (*chunk, index, *done)));
        }
        order.sort_unstable();
        let (mut items, mut next) = (items.into_iter(), Vec::new());
        for (_, worker, done) in order {
            let found = &mut workers[worker].found;
            let mut chunk = items.by_ref().take(CHUNK);
            if self.commit(found, (&mut chunk, done), width, &mut next).is_err() {
                break;
            }
        }
        workers.iter_mut().for_each(|worker| worker.found.clear());
        self.workers = workers;
        next.extend(items);
        next
    }

    /// Checks the invariants of a state that will not be expanded.
    pub(crate) fn check_invariants(&mut self, item: &Item<S::State>) {
        let broken = self.info.properties.broken(&item.state);
        self.broken.extend(broken.map(|invariant| (invariant, item.number)));
    }

    pub(crate) fn graph(&mut self) -> Graph {
        let task = |task: u32| self.know.tasks.task(task);
        let edges = (0..self.space.nodes.len() as u32).map(|number| {
            let edges = self.space.edges(number).iter();
            edges.map(|edge| (task(edge.task), edge.state())).collect()
        });
        Graph { edges: edges.collect(), states: std::mem::take(&mut self.hashes) }
    }
}
