//! Explorations that go on where an earlier one was cut.
//!
//! What threads do is learnt anew: the executions so far run again, along the paths that they were
//! run along then, which takes no search. Where the search was is written down as it is: the states
//! on its way, those that it has left, and its counts. So the rest is what it would have been.

use super::behaviour::NodeId;
use super::learner::{Frame, Learner};
use super::outcome::{Fault, Incomplete};
use super::sabotage::Sabotage;
use super::state::{State, Successor};
use crate::execution::Step;
use crate::ids::{ObjectId, ThreadId};
use crate::program::ThreadProgram;
use crate::races::{Race, Slots};
use anyorder_common::hash::Hash128;
use rustc_hash::FxHashSet;

/// What an exploration did up to where it was cut.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Journal {
    pub(super) entries: Vec<Entry>,
    pub(super) position: Position,
    /// A hash of what is known of the threads.
    pub(super) known: u128,
    /// The numbers of accesses, in their order.
    pub(super) slots: Vec<(ObjectId, Option<ThreadId>)>,
}

/// What an exploration did that the next one does again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    /// It ran the program along a path, and on.
    Run(Vec<Step>),
    /// It ran the program along a path, and tried the loops of the threads that wait there.
    Settle(Vec<Step>),
    /// It began a search.
    Search,
    /// It found what is wrong at the end of a way.
    Claim(Vec<Step>),
    /// It found that this place has to be searched, whatever is known of fewer turns in vain.
    Apart(NodeId),
}

/// Where an exploration was.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) enum Position {
    /// Before its first execution.
    #[default]
    Start,
    /// Before a random walk: the state of the random numbers, and the walks in vain.
    Walks { random: u64, in_vain: u32 },
    /// In a search.
    Search(Box<Place>),
}

/// Where a search was, before a step.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Place {
    pub(super) frames: Vec<Level>,
    pub(super) visited: Vec<Hash128>,
    pub(super) classes: Vec<Hash128>,
    pub(super) has_learnt: bool,
    pub(super) counts: Counts,
    pub(super) states: u64,
}

/// The counts of a search that a step changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Counts {
    pub(super) transitions: u64,
    pub(super) patience: u64,
    pub(super) in_vain: (u64, u64),
}

/// A state of the way of a search: the steps to try there, and how many were.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Level {
    pub(super) steps: Vec<Step>,
    pub(super) next: usize,
    pub(super) key: Option<Hash128>,
    pub(super) executions: u64,
}

impl<P: ThreadProgram + ?Sized> Learner<'_, P> {
    /// Explores everything, from where an earlier exploration was cut if there was one. If this one
    /// is cut, leaves its journal.
    pub(super) fn explore_kept(&mut self) -> Result<(), Incomplete> {
        let mut journal = self.options.resume.take().unwrap_or_default();
        let position = std::mem::take(&mut journal.position);
        self.replay(&journal, &position)?;
        self.executions_max = self.options.executions_max.saturating_add(self.learnt.executions);
        self.journal = Some(journal);
        let all = self.explore_all(position);
        self.executions_max = self.options.executions_max;
        let journal = self.journal.take();
        if let (Err(Incomplete::Executions | Incomplete::Stopped(_)), Some(mut journal)) =
            (&all, journal)
        {
            journal.position = std::mem::take(&mut self.position);
            (journal.known, journal.slots) = (self.known.digest(), self.slots.list());
            self.learnt.journal = Some(Box::new(journal));
            self.shorten();
            self.measure();
        }
        all
    }

    /// Does again what a journal says, up to its position.
    fn replay(&mut self, journal: &Journal, position: &Position) -> Result<(), Incomplete> {
        let is_other = |_| Incomplete::OtherProgram;
        self.executions_max = u64::MAX;
        for entry in &journal.entries {
            self.check()?;
            match entry {
                Entry::Run(path) => self.run(path).map_err(is_other)?,
                Entry::Settle(path) => self.settle_along(path).map_err(is_other)?,
                Entry::Search => self.begin_search(),
                Entry::Apart(node) => self.known.set_apart(*node),
                Entry::Claim(_) if self.sabotage == Sabotage::ClaimsForgotten => {}
                Entry::Claim(way) => self.claim_again(way)?,
            }
        }
        if *position != Position::Start && self.known.digest() != journal.known {
            return Err(Incomplete::OtherProgram);
        }
        if self.sabotage != Sabotage::SlotsForgotten {
            self.slots = Slots::of_list(&journal.slots);
        }
        Ok(())
    }

    /// Claims what is wrong at the end of a way.
    fn claim_again(&mut self, way: &[Step]) -> Result<(), Incomplete> {
        let (before, last) = way.split_at(way.len().saturating_sub(1));
        let mut state = self.state_after(before).ok_or(Incomplete::OtherProgram)?;
        for step in last {
            let after = self.step_from(state, *step)?;
            for race in after.1 {
                self.claim(Fault::Race(race), || way.to_vec());
            }
            state = after.0;
        }
        let mut ways = Vec::new();
        state.ways(&self.known, self.options.spins_max, &mut ways);
        if ways.iter().all(|ways| *ways == 0) && !state.live.is_empty() {
            let fault = self.stuck(&state);
            self.claim(fault, || way.to_vec());
        }
        Ok(())
    }

    fn step_from(&mut self, state: State, step: Step) -> Result<(State, Vec<Race>), Incomplete> {
        if state.live.binary_search_by_key(&step.thread, |live| live.0).is_err() {
            return Err(Incomplete::OtherProgram);
        }
        match state.after(step, &self.known, &mut self.slots, self.options.classes) {
            Successor::Known(after, races) => Ok((after, races)),
            Successor::Unknown(..) => Err(Incomplete::OtherProgram),
        }
    }

    /// Writes down where a search is, whose last step was not made.
    pub(super) fn note_place(&mut self, stack: &[Frame]) {
        let is_undone = self.sabotage != Sabotage::StepsSkipped;
        let level = |(at, frame): (usize, &Frame)| Level {
            steps: frame.steps.clone(),
            next: frame.next - usize::from(at + 1 == stack.len() && is_undone),
            key: frame.key,
            executions: frame.executions,
        };
        let sorted = |set: &FxHashSet<Hash128>| {
            let mut all: Vec<Hash128> = set.iter().copied().collect();
            all.sort_unstable();
            all
        };
        self.position = Position::Search(Box::new(Place {
            frames: stack.iter().enumerate().map(level).collect(),
            visited: sorted(&self.visited),
            classes: sorted(&self.classes),
            has_learnt: self.has_learnt,
            counts: self.before,
            states: self.learnt.states,
        }));
    }

    /// Takes a search up where it was. Returns its way.
    pub(super) fn take_place(&mut self, place: Place) -> Result<Vec<Frame>, Incomplete> {
        self.visited = place.visited.into_iter().collect();
        if self.sabotage == Sabotage::VisitedForgotten {
            self.visited.clear();
        }
        self.classes = place.classes.into_iter().collect();
        self.learnt.classes = self.classes.len() as u64;
        (self.learnt.states, self.has_learnt) = (place.states, place.has_learnt);
        self.set_counts(place.counts);
        let mut stack = Vec::new();
        let mut state = State::start(&self.known, self.sabotage);
        for Level { steps, next, key, executions } in place.frames {
            let here = state.take().ok_or(Incomplete::OtherProgram)?;
            if let Some(step) = next.checked_sub(1).and_then(|last| steps.get(last)) {
                state = self.step_from(here.clone(), *step).ok().map(|after| after.0);
            }
            stack.push(Frame { state: here, steps, next, key, executions });
        }
        Ok(stack)
    }

    pub(super) fn counts(&self) -> Counts {
        let (transitions, patience) = (self.learnt.transitions, self.patience);
        Counts { transitions, patience, in_vain: self.in_vain }
    }

    fn set_counts(&mut self, counts: Counts) {
        (self.learnt.transitions, self.patience) = (counts.transitions, counts.patience);
        self.in_vain = counts.in_vain;
    }
}
