//! The tree that several cores explore together: states, and the branches that leave each.
//!
//! A *branch* is a state and the step that leads there. One that was not begun is a wakeup tree, as
//! on one core. One that was begun stays, as long as a sequence may have to go below it; so wakeup
//! trees and what was made of them are one tree. See [`cores`](super::cores) for why.

use super::label::Label;
use super::sabotage::Sabotage;
use super::tree::{Begins, Tree, begins};
use std::collections::BTreeSet;

/// A state in the tree. Places are used again, serial numbers are not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StateId {
    at: u32,
    serial: u64,
}

/// The state at the start.
const ROOT: u32 = 0;

#[derive(Debug)]
struct State {
    serial: u64,
    /// The step that leads here. Exact once it was performed.
    label: Label,
    parent: u32,
    depth: u32,
    /// What sleeps here, without the branches from here. Known once the step was performed.
    sleep: Vec<Label>,
    /// In order. Those to the left of a branch sleep below it, so new ones are put to the right.
    branches: Vec<u32>,
    /// How many of them were begun: the first ones.
    begun: usize,
    /// How many branches are not complete; one more while the execution runs that began this one.
    open: usize,
    is_begun: bool,
    is_performed: bool,
    /// Whether the execution that began it went on as it liked: then nobody slept any more.
    is_leaf: bool,
}

impl State {
    /// Whether all that was to be run below it was.
    fn is_complete(&self) -> bool {
        self.is_begun && self.open == 0
    }
}

/// What a core is to run: a branch that was begun for it.
#[derive(Debug)]
pub(super) struct Task {
    /// The states from the start to the end of the branch.
    pub(super) states: Vec<StateId>,
    /// The number of events before the branch.
    pub(super) depth: usize,
    /// How many events the core has on its path already.
    pub(super) common: usize,
    /// The events after these, up to the branch.
    pub(super) steps: Vec<Label>,
    /// What is to the left in each state after these, up to that of the branch.
    pub(super) left: Vec<Vec<Label>>,
    /// The branch, without what else is to be run there. `None` at the start.
    pub(super) branch: Option<Tree>,
}

/// What tests want to have happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Meetings {
    /// Sequences that came to a branch that was begun.
    pub(crate) begun: u64,
    /// Those of them that were put below it.
    pub(crate) below: u64,
    /// Those that made a complete branch incomplete.
    pub(crate) reopened: u64,
    /// Branches that were begun beside one that was not complete, while another core ran.
    pub(crate) together: u64,
    /// The most states at a time.
    pub(crate) states_max: usize,
    /// Those that were left in the end.
    pub(crate) states_left: usize,
}

#[derive(Debug)]
pub(super) struct Forest {
    states: Vec<State>,
    free: Vec<u32>,
    serial: u64,
    /// The states with a branch that can be begun, the one nearest to the start first.
    ready: BTreeSet<(u32, u32)>,
    /// How many executions run.
    pub(super) running: usize,
    pub(super) meetings: Meetings,
    sabotage: Sabotage,
}

impl Forest {
    /// The tree in which everything is to be run.
    pub(super) fn new(sabotage: Sabotage) -> Forest {
        let mut forest = Forest {
            states: Vec::new(),
            free: Vec::new(),
            serial: 0,
            ready: BTreeSet::new(),
            running: 0,
            meetings: Meetings::default(),
            sabotage,
        };
        forest.add(ROOT, 0, Label::nothing());
        forest
    }

    /// Offers the task from which all others come: to run the program as it likes.
    pub(super) fn offer_first(&mut self) {
        self.ready.insert((0, ROOT));
    }

    fn first_task(&mut self) -> Task {
        self.running += 1;
        self.ready.clear();
        let root = &mut self.states[ROOT as usize];
        (root.is_begun, root.is_leaf, root.open) = (true, true, 1);
        Task {
            states: vec![self.id(ROOT)],
            depth: 0,
            common: 0,
            steps: Vec::new(),
            left: Vec::new(),
            branch: None,
        }
    }

    /// Whether something can be begun.
    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    #[cfg(test)]
    pub(super) fn ready_count(&self) -> usize {
        self.ready.len()
    }

    fn id(&self, at: u32) -> StateId {
        StateId { at, serial: self.states[at as usize].serial }
    }

    fn state(&self, at: u32) -> &State {
        &self.states[at as usize]
    }

    fn add(&mut self, parent: u32, depth: u32, label: Label) -> u32 {
        self.serial += 1;
        let state = State {
            serial: self.serial,
            label,
            parent,
            depth,
            sleep: Vec::new(),
            branches: Vec::new(),
            begun: 0,
            open: 0,
            is_begun: false,
            is_performed: false,
            is_leaf: false,
        };
        let at = match self.free.pop() {
            Some(at) => {
                self.states[at as usize] = state;
                at
            }
            None => {
                self.states.push(state);
                self.states.len() as u32 - 1
            }
        };
        let count = self.states.len() - self.free.len();
        self.meetings.states_max = self.meetings.states_max.max(count);
        at
    }

    /// Adds a branch to a state, as the last one.
    fn add_branch(&mut self, at: u32, label: Label) -> u32 {
        let depth = self.state(at).depth + 1;
        let branch = self.add(at, depth, label);
        self.states[at as usize].branches.push(branch);
        self.open(at);
        branch
    }

    /// Notes that something more is not complete in a state.
    fn open(&mut self, mut at: u32) {
        loop {
            let state = &mut self.states[at as usize];
            let was_complete = state.is_complete();
            state.open += 1;
            if !was_complete || at == ROOT {
                return;
            }
            self.meetings.reopened += 1;
            at = state.parent;
        }
    }

    /// Notes that something is complete in a state.
    fn close(&mut self, mut at: u32) {
        loop {
            let state = &mut self.states[at as usize];
            state.open -= 1;
            if !state.is_complete() {
                return;
            }
            let parent = state.parent;
            if self.is_closed(at) || self.sabotage == Sabotage::ForgottenTooEarly {
                self.forget_below(at);
                let siblings = &self.state(parent).branches;
                let own = siblings.iter().position(|branch| *branch == at);
                let right = own.map_or(Vec::new(), |own| siblings[own + 1..].to_vec());
                for other in right {
                    if !self.state(other).is_complete() {
                        break;
                    }
                    if self.is_closed(other) {
                        self.forget_below(other);
                    }
                }
            }
            if at == ROOT {
                return;
            }
            at = parent;
        }
    }

    /// Whether no sequence can come to a state any more but from below: none of those that sleep
    /// there will be run again.
    fn is_closed(&self, mut at: u32) -> bool {
        while at != ROOT {
            let state = self.state(at);
            if state.sleep.is_empty() {
                return true;
            }
            let mut siblings = self.state(state.parent).branches.iter();
            let mut left = siblings.by_ref().take_while(|branch| **branch != at);
            if !left.all(|branch| self.state(*branch).is_complete()) {
                return false;
            }
            at = state.parent;
        }
        true
    }

    /// Forgets what is below a complete state.
    fn forget_below(&mut self, at: u32) {
        let mut below = std::mem::take(&mut self.states[at as usize].branches);
        self.states[at as usize].begun = 0;
        while let Some(branch) = below.pop() {
            let state = &mut self.states[branch as usize];
            below.append(&mut state.branches);
            state.sleep = Vec::new();
            state.serial = 0;
            self.free.push(branch);
        }
    }

    /// The state on which a branch can be begun now. The label of what is to the left of it has to
    /// be exact: it sleeps below.
    fn is_ready(&self, at: u32) -> bool {
        let State { branches, begun, .. } = self.state(at);
        let last = begun.checked_sub(1).map(|last| branches[last]);
        *begun < branches.len() && last.is_some_and(|last| self.state(last).is_performed)
    }

    fn note_ready(&mut self, at: u32) {
        let entry = (self.state(at).depth, at);
        match self.is_ready(at) {
            true => self.ready.insert(entry),
            false => self.ready.remove(&entry),
        };
    }

    /// Begins a branch that leaves one of the states of a path, the last one that has any.
    pub(super) fn begin_on(&mut self, path: &[StateId]) -> Option<Task> {
        let is_ready = |state: &&StateId| self.id(state.at) == **state && self.is_ready(state.at);
        let at = path.iter().rev().find(is_ready)?.at;
        Some(self.begin(at, path))
    }

    /// Begins the branch that is the nearest to the start, or the one with a number.
    pub(super) fn begin_any(&mut self, number: usize, path: &[StateId]) -> Option<Task> {
        let at = self.ready.iter().nth(number)?.1;
        Some(if self.state(at).is_begun { self.begin(at, path) } else { self.first_task() })
    }

    /// Begins the next branch of a state.
    fn begin(&mut self, at: u32, path: &[StateId]) -> Task {
        self.running += 1;
        let state = &mut self.states[at as usize];
        let number = state.begun;
        state.begun += 1;
        let (depth, first) = (state.depth as usize, state.branches[number]);
        let is_busy = state.branches[..number].to_vec();
        let is_busy = is_busy.into_iter().any(|branch| !self.state(branch).is_complete());
        self.meetings.together += u64::from(is_busy && self.running > 1);
        let (mut chain, mut labels, mut next) = (Vec::new(), Vec::new(), Some(first));
        while let Some(one) = next {
            let state = &mut self.states[one as usize];
            state.is_begun = true;
            state.open += 1;
            next = state.branches.first().copied();
            state.is_leaf = next.is_none();
            state.begun = usize::from(next.is_some());
            labels.push(state.label.clone());
            chain.push(self.id(one));
        }
        let branch = labels.into_iter().rev().fold(None, |after: Option<Tree>, label| {
            Some(Tree { label, after: after.into_iter().collect() })
        });
        self.note_ready(at);
        let (mut states, mut one) = (vec![self.id(at)], at);
        while one != ROOT {
            one = self.state(one).parent;
            states.push(self.id(one));
        }
        states.reverse();
        states.append(&mut chain);
        let same = states.iter().zip(path).take_while(|(own, old)| own == old).count();
        let common = same.saturating_sub(1).min(depth);
        let label = |state: &StateId| self.state(state.at).label.clone();
        Task {
            steps: states[common + 1..=depth].iter().map(label).collect(),
            left: (common..=depth).map(|number| self.left_of(states[number + 1].at)).collect(),
            states,
            depth,
            common,
            branch,
        }
    }

    /// What is to the left of a branch.
    fn left_of(&self, at: u32) -> Vec<Label> {
        let siblings = self.state(self.state(at).parent).branches.iter();
        let left = siblings.take_while(|branch| **branch != at).map(|branch| self.state(*branch));
        let sleeps = |state: &&State| self.sabotage != Sabotage::BegunAwake || state.is_complete();
        left.filter(sleeps).map(|state| state.label.clone()).collect()
    }

    /// Notes what performing a step has shown.
    pub(super) fn note_performed(&mut self, state: StateId, label: Label, sleep: Vec<Label>) {
        let parent = self.state(state.at).parent;
        let one = &mut self.states[state.at as usize];
        (one.label, one.sleep, one.is_performed) = (label, sleep, true);
        self.note_ready(parent);
        self.note_ready(state.at);
    }

    /// Adds the state to which an execution went that goes on as it likes.
    pub(super) fn add_free(&mut self, before: StateId, label: Label, sleep: Vec<Label>) -> StateId {
        let at = self.add_branch(before.at, label);
        let state = &mut self.states[at as usize];
        (state.sleep, state.open) = (sleep, 1);
        (state.is_begun, state.is_performed, state.is_leaf) = (true, true, true);
        self.states[before.at as usize].begun += 1;
        self.id(at)
    }

    /// Notes that the execution is over that began some states.
    pub(super) fn end(&mut self, states: &[StateId]) {
        states.iter().rev().for_each(|state| self.close(state.at));
        if self.state(ROOT).is_complete() {
            self.meetings.states_left = self.states.len() - self.free.len();
        }
    }

    /// Puts a sequence to the right of a branch, unless a sequence there stands for it.
    pub(super) fn insert(&mut self, branch: StateId, mut sequence: Vec<Label>) {
        let mut at = self.state(branch.at).parent;
        let siblings = &self.state(at).branches;
        let own = siblings.iter().position(|other| *other == branch.at);
        let mut from = own.map_or(siblings.len(), |own| own + 1);
        loop {
            let mut found = None;
            for other in &self.state(at).branches[from..] {
                let state = self.state(*other);
                let begins = begins(&state.label, &sequence, self.sabotage);
                let is_hidden = state.is_begun && self.sabotage == Sabotage::BegunNotAsked;
                if begins != Begins::Not && !is_hidden {
                    found = Some((*other, begins));
                    break;
                }
            }
            let Some((other, begins)) = found else { break };
            if let Begins::At(place) = begins {
                sequence.remove(place);
            }
            let state = self.state(other);
            let is_begun = state.is_begun;
            // From where nobody sleeps, everything is run.
            let covers = match is_begun {
                true => state.is_leaf || state.is_performed && state.sleep.is_empty(),
                false => state.branches.is_empty(),
            };
            self.meetings.begun += u64::from(is_begun);
            if is_begun && self.sabotage == Sabotage::BegunIsEnough {
                return;
            }
            if covers {
                return;
            }
            self.meetings.below += u64::from(is_begun);
            (at, from) = (other, 0);
        }
        let mut end = at;
        for label in sequence {
            end = self.add_branch(end, label);
        }
        self.note_ready(at);
    }
}
