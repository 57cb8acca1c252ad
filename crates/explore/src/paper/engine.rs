//! Algorithms 1 and 2: the forward search, with its own stack.

use super::accesses::{AccessTable, Accesses};
use super::graph::{Mark, StateGraph, Transition};
use super::options::{Choice, PaperOptions, Revisit};
use super::outcome::{Cause, Counts, Outcome, Point};
use super::sequence::Sequence;
use crate::paths::info_of;
use crate::stateful::Error;
use anyorder_search::{Limit, Stats, SystemInfo};
use anyorder_system::{Control, Failure, Hash128, JobWatch, Reducible, TaskKey};
use std::collections::{BTreeMap, BTreeSet};

/// Explores a system. Deterministic.
///
/// # Errors
///
/// Fails if the system has no initial state, or if a task has another effect when it is run again
/// in an equal state.
pub fn explore<S: Reducible>(
    system: &S,
    options: &PaperOptions,
    control: &Control<'_>,
) -> Result<Outcome<S>, Error> {
    let info = info_of(system)?;
    let mut engine = Engine {
        system,
        options,
        control,
        graph: StateGraph::new(),
        accesses: AccessTable::new(options.as_printed),
        everywhere: Vec::new(),
        initial: Vec::new(),
        work: Vec::new(),
        draining: false,
        observed: Vec::new(),
        open: Vec::new(),
        failures: BTreeMap::new(),
        broken: BTreeMap::new(),
        points: BTreeSet::new(),
        executed: Vec::new(),
        carried: 0,
        parts_ran: vec![false; info.parts.len()],
        optional: false,
        info,
        stats: Stats::default(),
        counts: Counts::default(),
        limit: None,
        sequence: Sequence::default(),
        calls: Vec::new(),
    };
    let watched = JobWatch::of(control).enter();
    engine.explore_all()?;
    drop(watched);
    // What was found is replayed, also after a stop.
    let _unwatched = JobWatch::default().enter();
    engine.conclude()
}

/// One open call of EXPLORE.
struct Call {
    state: u32,
    /// The event chosen by line 5.
    revisit: Option<u32>,
    /// The transitions of the current event: the next one, and the end.
    next: u32,
    end: u32,
}

pub(crate) struct Engine<'a, S: Reducible> {
    pub(crate) system: &'a S,
    pub(crate) options: &'a PaperOptions,
    pub(crate) control: &'a Control<'a>,
    pub(crate) graph: StateGraph<S::State>,
    pub(crate) accesses: AccessTable,
    /// The events that are enabled everywhere, sorted.
    pub(crate) everywhere: Vec<u32>,
    pub(crate) initial: Vec<u32>,
    /// The entries that are still to be carried back.
    pub(crate) work: Vec<(u32, u32, Accesses)>,
    pub(crate) draining: bool,
    /// Observers that became transitions and are not processed yet.
    pub(crate) observed: Vec<Transition>,
    /// States with events planned, for EXPLOREALL.
    pub(crate) open: Vec<u32>,
    /// First transition of each failure.
    pub(crate) failures: BTreeMap<Failure, Vec<u32>>,
    pub(crate) broken: BTreeMap<usize, Vec<u32>>,
    pub(crate) points: BTreeSet<Point>,
    pub(crate) executed: Vec<(Hash128, TaskKey)>,
    pub(crate) carried: u64,
    pub(crate) info: SystemInfo<'a, S>,
    /// Which parts of the program ran.
    pub(crate) parts_ran: Vec<bool>,
    /// Whether some transition is optional. The ends that such transitions leave are not checked.
    pub(crate) optional: bool,
    pub(crate) stats: Stats,
    pub(crate) counts: Counts,
    pub(crate) limit: Option<Limit>,
    sequence: Sequence,
    calls: Vec<Call>,
}

impl<S: Reducible> Engine<'_, S> {
    /// EXPLOREALL. [Algorithm 1]
    fn explore_all(&mut self) -> Result<(), Error> {
        let mut tasks = Vec::new();
        self.system.tasks(&mut tasks);
        self.keep_several(&mut tasks);
        self.everywhere = tasks.into_iter().map(|task| self.graph.event(task)).collect();
        self.everywhere.sort_unstable();
        let initial = self.system.initial();
        if initial.is_empty() {
            return Err(Error::NoInitialState);
        }
        for state in initial {
            let Some((number, new)) = self.state(state) else { return Ok(()) };
            self.initial.push(number);
            if new {
                self.explore(number)?;
            }
        }
        while let Some(state) = self.open.pop() {
            self.graph.node_mut(state).queued = false;
            if self.graph.node(state).planned > 0 {
                self.explore(state)?;
            }
            if self.limit.is_some() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// EXPLORE. [Algorithm 2]
    fn explore(&mut self, state: u32) -> Result<(), Error> {
        self.enter(state);
        while let Some(call) = self.calls.last_mut() {
            if self.limit.is_some() {
                return Ok(());
            }
            let state = call.state;
            if call.next < call.end {
                let number = call.next;
                call.next += 1;
                self.follow(number);
                continue;
            }
            let revisit = call.revisit.take();
            let Some(event) = revisit.or_else(|| self.choose(state, Mark::Planned)) else {
                self.calls.pop();
                continue;
            };
            let (next, end) = self.execute(state, event)?;
            let call = self.calls.last_mut().expect("the call that executes");
            (call.next, call.end) = (next, end);
        }
        Ok(())
    }

    /// Lines 2-16.
    fn enter(&mut self, state: u32) {
        let mut revisit = None;
        if self.graph.node(state).planned == 0 {
            if let Some(event) = self.choose(state, Mark::Out) {
                self.plan_chosen(state, event);
            } else if self.graph.node(state).enabled.is_empty() {
                self.begin(state);
                self.end_sequence();
                return;
            } else {
                revisit = Some(self.take_turn(state));
            }
        }
        self.calls.push(Call { state, revisit, next: 0, end: 0 });
        self.stats.max_depth = self.stats.max_depth.max(self.calls.len() as u64);
    }

    /// Returns an event with a mark. [Algorithm 2, lines 13 and 17]
    fn choose(&self, state: u32, mark: Mark) -> Option<u32> {
        let node = self.graph.node(state);
        if mark == Mark::Planned && node.planned == 0 {
            return None;
        }
        let mut events = node.enabled.iter().filter(|one| one.mark == mark).map(|one| one.event);
        match self.options.choice {
            Choice::First => events.next(),
            Choice::LeastRecent => events.min_by_key(|event| self.sequence.executed_at(*event)),
        }
    }

    fn plan_chosen(&mut self, state: u32, event: u32) {
        let node = self.graph.node_mut(state);
        let place = node.place_of(event).expect("an enabled event was chosen");
        node.enabled[place].mark = Mark::Planned;
        node.planned += 1;
        self.note(state, event, Cause::Chosen);
    }

    /// Records why an event is in a backtrack set, if requested.
    pub(crate) fn note(&mut self, state: u32, event: u32, cause: Cause) {
        if self.options.keep_trail {
            // An observer is no task.
            let task = self.graph.tasks.get(event as usize).copied();
            let state = self.graph.node(state).fingerprint;
            self.points.insert(Point { state, task, cause });
        }
    }

    /// Returns the event to execute again. [Algorithm 2, line 5]
    fn take_turn(&mut self, state: u32) -> u32 {
        let in_turn = self.options.revisit == Revisit::InTurn;
        let node = self.graph.node_mut(state);
        let turn = node.turn as usize % node.enabled.len();
        if in_turn {
            node.turn = turn as u32 + 1;
        }
        node.enabled[turn].event
    }

    /// Lines 22-36.
    fn follow(&mut self, number: u32) {
        let transition = self.graph.transition(number);
        self.begin(transition.src);
        self.sequence.execute(transition.event);
        let (src, dst) = (transition.src, transition.dst);
        if !self.options.summaries {
            self.search_back(src, transition.event, transition.accesses, Some(number));
        }
        let known = self.graph.node(dst).in_history;
        let repeated = self.sequence.contains(dst);
        if !self.options.summaries {
            if known || repeated {
                self.search_back_from_graph(dst);
            } else {
                self.search_back_from_observers(dst);
            }
            self.settle_observers();
        }
        if known || self.sequence.closes_full_cycle(dst) {
            self.end_sequence();
        } else {
            let events = self.graph.node(dst).events();
            self.sequence.push(dst, &events);
            self.enter(dst);
        }
    }

    /// Starts a sequence in a state, unless one is running.
    fn begin(&mut self, state: u32) {
        if !self.sequence.is_running() {
            let events = self.graph.node(state).events();
            self.sequence.push(state, &events);
        }
    }

    /// Lines 8-9 and 28-29.
    fn end_sequence(&mut self) {
        self.counts.sequences += 1;
        for state in self.sequence.end() {
            self.graph.node_mut(state).in_history = true;
        }
    }

    /// Returns the approximate memory in bytes, without what states point to.
    pub(crate) fn bytes(&self) -> u64 {
        let node = size_of::<super::graph::Node<S::State>>() as u64 + 64;
        let transition = size_of::<Transition>() as u64 + 8;
        self.graph.nodes.len() as u64 * node
            + self.graph.transitions.len() as u64 * transition
            + self.carried * 16
            + self.calls.len() as u64 * size_of::<Call>() as u64
            + self.accesses.bytes()
    }
}
