//! The search on what is known of the threads.

use super::behaviour::{Behaviours, NodeId};
use super::journal::{Counts, Entry, Journal, Position};
use super::outcome::{Blocked, Fault, Found, Incomplete, LearnOptions, Learnt};
use super::persistent::Persistent;
use super::sabotage::Sabotage;
use super::shortest;
use super::state::{State, Successor};
use super::turns::Cover;
use super::walks::Tree;
use crate::execution::{Execution, Step};
use crate::ids::ThreadId;
use crate::op::Act;
use crate::program::ThreadProgram;
use crate::races::Slots;
#[cfg(test)]
use anyorder_common::cancel::StopReason;
use anyorder_common::hash::Hash128;
use rustc_hash::{FxHashMap, FxHashSet};

/// Of a limit, one part in so many is kept for the search by rising preemptions.
const RISING_PART: u64 = 3;

pub(super) struct Learner<'p, P: ThreadProgram + ?Sized> {
    pub(super) execution: Execution<'p, P>,
    pub(super) options: LearnOptions,
    pub(super) sabotage: Sabotage,
    pub(super) known: Behaviours,
    pub(super) learnt: Learnt,
    pub(super) faults: FxHashSet<Fault>,
    /// The faults of the search that no execution has shown yet.
    pub(super) claimed: Vec<Fault>,
    pub(super) visited: FxHashSet<Hash128>,
    pub(super) classes: FxHashSet<Hash128>,
    pub(super) persistent: Persistent,
    pub(super) slots: Slots,
    /// The random walks so far.
    pub(super) tree: Tree,
    /// Used again and again: in how many ways each thread can go on.
    pub(super) ways: Vec<u32>,
    /// By thread, where it is in the execution.
    pub(super) places: FxHashMap<ThreadId, NodeId>,
    pub(super) has_learnt: bool,
    /// How many preemptions executions may have, if there is a bound.
    pub(super) bound: Option<u32>,
    /// Whether the search goes by rising preemptions.
    pub(super) is_rising: bool,
    /// Whether turns in vain are left out that do not matter.
    pub(super) leaves_out_turns: bool,
    /// The most executions before the exploration takes its turn to rising preemptions.
    pub(super) executions_max: u64,
    /// After how many steps in vain a search that has learnt something begins anew: then more
    /// states are one.
    pub(super) patience: u64,
    /// The steps since something was learnt, and the executions then.
    pub(super) in_vain: (u64, u64),
    /// What was done, if that is kept, and where the exploration was cut.
    pub(super) journal: Option<Journal>,
    pub(super) position: Position,
    /// The counts before the last step of the search.
    pub(super) before: Counts,
}

/// A state of the search and the steps to try there.
pub(super) struct Frame {
    pub(super) state: State,
    pub(super) steps: Vec<Step>,
    pub(super) next: usize,
    /// The hash of the state, if it has a choice.
    pub(super) key: Option<Hash128>,
    /// The executions when the state was entered.
    pub(super) executions: u64,
}

impl<'p, P: ThreadProgram + ?Sized> Learner<'p, P> {
    pub(super) fn new(program: &'p mut P, options: &LearnOptions) -> Self {
        let mut execution = Execution::new(program);
        execution.set_spins_max(options.spins_max);
        execution.set_turns_max(options.turns_max);
        let leaves_out_turns =
            options.merges_turns && !options.classes && options.preemptions_max.is_none();
        let mut known = Behaviours::new();
        known.leave_out_turns(leaves_out_turns);
        Learner {
            execution,
            options: options.clone(),
            sabotage: Sabotage::None,
            known,
            learnt: Learnt::default(),
            faults: FxHashSet::default(),
            claimed: Vec::new(),
            visited: FxHashSet::default(),
            classes: FxHashSet::default(),
            persistent: Persistent::default(),
            slots: Slots::default(),
            tree: Tree::default(),
            ways: Vec::new(),
            places: FxHashMap::default(),
            has_learnt: false,
            bound: None,
            is_rising: false,
            leaves_out_turns,
            executions_max: options.executions_max,
            patience: 5_000,
            in_vain: (0, 0),
            journal: None,
            position: Position::Start,
            before: Counts::default(),
        }
    }

    pub(super) fn explore(&mut self) -> Result<(), Incomplete> {
        if let Some(most) = self.options.preemptions_max {
            return self.rise(most);
        }
        if self.options.keeps_journal {
            return self.explore_kept();
        }
        // The last part of a limit is for what may be complete up to some number of preemptions.
        if self.options.executions_max != u64::MAX {
            self.executions_max -= self.options.executions_max / RISING_PART;
        }
        let all = self.explore_all(Position::Start);
        self.executions_max = self.options.executions_max;
        match all {
            Err(limit @ (Incomplete::Executions | Incomplete::Stopped(_)))
                if self.options.cancel.check().is_ok() =>
            {
                self.shorten();
                self.measure();
                // What it learnt reaches deeper than few preemptions do, and would slow them down.
                if limit != Incomplete::Executions {
                    self.known = Behaviours::new();
                    self.known.sabotage = self.sabotage;
                }
                self.rise(u32::MAX)?;
                self.learnt.unseen = None;
                Ok(())
            }
            all => all,
        }
    }

    pub(super) fn explore_all(&mut self, position: Position) -> Result<(), Incomplete> {
        let mut place = match position {
            Position::Start => {
                self.position = Position::Start;
                self.run(&[])?;
                if self.has_walks() {
                    self.wander(1, 0)?;
                }
                None
            }
            Position::Walks { random, in_vain } => {
                self.wander(random, in_vain)?;
                None
            }
            Position::Search(place) => Some(place),
        };
        loop {
            let mut stack = Vec::new();
            match place.take() {
                Some(place) => stack = self.take_place(*place)?,
                None => {
                    self.begin_search();
                    if let Some(start) = State::start(&self.known, self.sabotage) {
                        self.enter(start, &mut stack)?;
                    }
                }
            }
            let searched = self.search(&mut stack);
            if searched.is_err() && self.journal.is_some() {
                self.note_place(&stack);
            }
            searched?;
            let is_over = !self.has_learnt && !self.sets_apart();
            if is_over || self.sabotage == Sabotage::OneSearch {
                return Ok(());
            }
        }
    }

    /// Whether random walks come first. They would hide faults from tests.
    fn has_walks(&self) -> bool {
        #[cfg(test)]
        if self.options.trial.1 {
            return false;
        }
        self.sabotage != Sabotage::OneSearch
    }

    /// Forgets the states of the last search.
    pub(super) fn begin_search(&mut self) {
        self.has_learnt = false;
        self.keep(|| Entry::Search);
        self.known.leave_out_turns(self.leaves_out_turns && !self.is_rising);
        self.known.classify(self.options.classes, self.sabotage);
        self.learnt.searches += 1;
        self.tree = Tree::default();
        self.visited.clear();
        self.classes.clear();
        (self.learnt.states, self.learnt.transitions, self.learnt.classes) = (0, 0, 0);
        self.in_vain = (0, self.learnt.executions);
    }

    /// Counts a step of a search. Returns whether it goes on: a search that has learnt something
    /// and takes long now does not.
    pub(super) fn goes_on(&mut self) -> Result<bool, Incomplete> {
        if self.learnt.transitions.is_multiple_of(1024) {
            self.check()?;
        }
        #[cfg(test)]
        {
            if self.options.trial.0 == 0 {
                return Err(Incomplete::Stopped(StopReason::Interrupted));
            }
            self.options.trial.0 -= 1;
        }
        self.learnt.transitions += 1;
        self.in_vain.0 += 1;
        if self.in_vain.1 < self.learnt.executions {
            self.in_vain = (0, self.learnt.executions);
        }
        if self.has_learnt && self.in_vain.0 > self.patience {
            self.patience *= 2;
            return Ok(false);
        }
        Ok(true)
    }

    /// Whether it was stopped, or it is the turn of rising preemptions.
    pub(super) fn check(&self) -> Result<(), Incomplete> {
        let turn = if self.is_rising { Ok(()) } else { self.options.turn.check() };
        let stopped = self.options.cancel.check().and(turn);
        stopped.map_err(|stopped| Incomplete::Stopped(stopped.0))
    }

    /// Searches what is known, and learns what is not.
    fn search(&mut self, stack: &mut Vec<Frame>) -> Result<(), Incomplete> {
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
            self.before = self.counts();
            if !self.goes_on()? {
                return Ok(());
            }
            let state = match frame.next == frame.steps.len() {
                true => std::mem::take(&mut frame.state),
                false => frame.state.clone(),
            };
            let keep = self.options.classes;
            let before = state.place_of(step.thread);
            let (after, races) = match state.after(step, &self.known, &mut self.slots, keep) {
                Successor::Known(state, races) => (state, races),
                Successor::Unknown(node, result) => {
                    let path: Vec<Step> = way(stack);
                    self.run_to_learn(&path, (node, result))?;
                    self.try_again(stack, &path);
                    continue;
                }
            };
            for race in races {
                self.claim(Fault::Race(race), || way(stack));
            }
            match self.cover(before, &after, step.thread) {
                Cover::Open => self.enter(after, stack)?,
                Cover::Covered => {}
                Cover::Unknown(earlier, result) => {
                    let path = way(stack);
                    self.learn_earlier(&path, &earlier, result)?;
                    self.try_again(stack, &path);
                }
            }
        }
        Ok(())
    }

    /// Makes the last step of a way once more, from what is known now.
    fn try_again(&mut self, stack: &mut [Frame], path: &[Step]) {
        let state = self.state_after(&path[..path.len() - 1]);
        if let (Some(frame), Some(state)) = (stack.last_mut(), state) {
            frame.next -= 1;
            frame.state = state;
        }
    }

    /// The state after steps that were possible before.
    pub(super) fn state_after(&mut self, path: &[Step]) -> Option<State> {
        let mut state = State::start(&self.known, self.sabotage)?;
        for step in path {
            match state.after(*step, &self.known, &mut self.slots, self.options.classes) {
                Successor::Known(after, _) => state = after,
                Successor::Unknown(..) => return None,
            }
        }
        Some(state)
    }

    /// Enters a state, unless it was visited.
    fn enter(&mut self, state: State, stack: &mut Vec<Frame>) -> Result<(), Incomplete> {
        self.settle(&state, || way(stack))?;
        let mut ways = std::mem::take(&mut self.ways);
        state.ways(&self.known, self.options.spins_max, &mut ways);
        let threads = self.persistent.find(&state, &self.known, &ways, self.sabotage);
        let mut steps = Vec::with_capacity(threads.len());
        for at in threads {
            let thread = state.live[*at].0;
            steps.extend((0..ways[*at]).map(|alternative| Step { thread, alternative }));
        }
        self.ways = ways;
        // A state without a choice leads to one with a choice, or to an end.
        let mut key = None;
        if steps.len() > 1 {
            let hash = state.key(&self.known, &self.slots, false, self.sabotage);
            if self.visited.contains(&hash) {
                return Ok(());
            }
            key = Some(hash);
            self.learnt.states += 1;
        }
        if steps.is_empty() {
            self.note_end_of(&state, || way(stack));
            return Ok(());
        }
        let executions = self.learnt.executions;
        stack.push(Frame { state, steps, next: 0, key, executions });
        Ok(())
    }

    /// Notes a state in which no step is possible.
    pub(super) fn note_end_of(&mut self, state: &State, way: impl FnOnce() -> Vec<Step>) {
        if self.options.classes && self.classes.insert(state.histories()) {
            self.learnt.classes += 1;
        }
        if !state.live.is_empty() {
            let fault = self.stuck(state);
            self.claim(fault, way);
        }
    }

    /// Replaces the ways to the faults by shorter ones, as far as the limit allows.
    pub(super) fn shorten(&mut self) {
        let (spins_max, places_max) = (self.options.spins_max, self.options.shorten_max);
        let is_wanted = places_max > 0 && !self.learnt.faults.is_empty();
        if !is_wanted || self.options.cancel.check().is_err() {
            return;
        }
        self.known.leave_out_turns(false);
        self.known.classify(false, Sabotage::None);
        for found in &mut self.learnt.faults {
            if found.fault == Fault::StepLimit || found.is_shortest {
                continue;
            }
            let limits = (spins_max, places_max, &self.options.cancel);
            let way = shortest::shortest(&self.known, &found.fault, limits);
            found.is_shortest = way.is_some();
            if let Some(steps) = way {
                found.steps = steps;
            }
        }
    }

    /// The fault of a state in which nothing can go on.
    pub(super) fn stuck(&self, state: &State) -> Fault {
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

    /// Notes a fault that the search has found on what it knows.
    pub(super) fn claim(&mut self, fault: Fault, steps: impl FnOnce() -> Vec<Step>) {
        if !self.faults.contains(&fault) {
            self.claimed.push(fault.clone());
            let steps = steps();
            self.keep(|| Entry::Claim(steps.clone()));
            self.note(fault, || steps);
        }
    }

    /// Writes down what is done, if that is kept.
    pub(super) fn keep(&mut self, entry: impl FnOnce() -> Entry) {
        if let Some(journal) = &mut self.journal {
            journal.entries.push(entry());
        }
    }

    pub(super) fn note(&mut self, fault: Fault, steps: impl FnOnce() -> Vec<Step>) {
        if self.faults.insert(fault.clone()) {
            self.learnt.faults.push(Found { fault, steps: steps(), is_shortest: false });
        }
    }
}

/// The steps from the start to where the search is.
fn way(stack: &[Frame]) -> Vec<Step> {
    stack.iter().map(|frame| frame.steps[frame.next.saturating_sub(1)]).collect()
}
