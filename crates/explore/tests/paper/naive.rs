//! Twins of the search, with the errors that the paper describes.

use crate::tests::common::Toy;
use crate::tests::common::oracle::effects;
use anyorder_system::{Place, Reducible, StateSystem, TouchKind};
use std::collections::{BTreeMap, BTreeSet};

type State = Vec<u8>;

/// The error of a twin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Naive {
    /// An execution ends at the first state that was seen (Figure 1).
    EndsAtMatch,
    /// Ends and matches are handled; conflicts are searched along the current execution only
    /// (Figure 3).
    CurrentOnly,
    /// Only the last conflicting transition gets a backtracking point (Figure 5).
    LastOnly,
}

#[derive(Clone)]
struct Step {
    from: State,
    task: usize,
    to: State,
    accesses: BTreeSet<(Place, bool)>,
}

pub(crate) struct Twin<'a> {
    toy: &'a Toy,
    naive: Naive,
    pub(crate) backtrack: BTreeMap<State, BTreeSet<usize>>,
    done: BTreeMap<State, BTreeSet<usize>>,
    /// The current execution, from the initial state.
    path: Vec<Step>,
    /// The start of the part of it that was not in an earlier execution.
    fresh: usize,
    history: BTreeSet<State>,
    graph: Vec<Step>,
    pub(crate) executions: Vec<Vec<usize>>,
    pub(crate) failed: bool,
}

impl<'a> Twin<'a> {
    pub(crate) fn explore(toy: &'a Toy, naive: Naive) -> Twin<'a> {
        let mut twin = Twin {
            toy,
            naive,
            backtrack: BTreeMap::new(),
            done: BTreeMap::new(),
            path: Vec::new(),
            fresh: 0,
            history: BTreeSet::new(),
            graph: Vec::new(),
            executions: vec![Vec::new()],
            failed: false,
        };
        let initial = toy.initial();
        for state in &initial {
            twin.go(state);
        }
        // Like EXPLOREALL: no execution leads there, so no path leads back.
        while let Some(state) = twin.open() {
            twin.path.clear();
            twin.fresh = 0;
            twin.go(&state);
        }
        twin.executions.retain(|one| !one.is_empty());
        twin
    }

    fn open(&self) -> Option<State> {
        let mut sets = self.backtrack.iter();
        sets.find(|(state, set)| self.done.get(*state) != Some(set)).map(|(state, _)| state.clone())
    }

    fn enabled(&self, state: &State) -> BTreeSet<usize> {
        (0..self.toy.tasks.len()).filter(|task| self.toy.is_ready(state, *task)).collect()
    }

    /// The event after the last executed one, in the order of events; after the last event, the
    /// first.
    fn next_of(&self, events: &BTreeSet<usize>) -> usize {
        let last = self.path.last().map(|step| step.task);
        let after = events.iter().find(|event| Some(**event) > last);
        *after.or(events.first()).unwrap()
    }

    fn go(&mut self, state: &State) {
        let enabled = self.enabled(state);
        if enabled.is_empty() {
            self.end();
            return;
        }
        let done = self.done.entry(state.clone()).or_default().clone();
        let backtrack = self.backtrack.entry(state.clone()).or_default().clone();
        let mut revisit = None;
        if backtrack == done {
            let rest: BTreeSet<usize> = enabled.difference(&done).copied().collect();
            if rest.is_empty() {
                revisit = Some(self.next_of(&enabled));
            } else {
                let event = self.next_of(&rest);
                self.backtrack.get_mut(state).unwrap().insert(event);
            }
        }
        loop {
            let planned: BTreeSet<usize> =
                self.backtrack[state].difference(&self.done[state]).copied().collect();
            let event = match revisit.take() {
                Some(event) => event,
                None if planned.is_empty() => return,
                None => self.next_of(&planned),
            };
            self.done.get_mut(state).unwrap().insert(event);
            let length = self.path.len();
            self.execute(state, event);
            self.path.truncate(length);
            self.fresh = length;
        }
    }

    fn execute(&mut self, state: &State, event: usize) {
        let key = self.toy.key(event);
        let effects = effects(self.toy, state, key);
        let mut awaits = Vec::new();
        self.toy.awaits(key, &mut awaits);
        let touched = effects.touched.iter().map(|one| (one.place, one.kind != TouchKind::Read));
        let accesses = touched.chain(awaits.into_iter().map(|place| (place, false))).collect();
        let successor = &effects.successors[0];
        self.failed |= successor.failure.is_some();
        let to = if successor.failure.is_some() { state.clone() } else { successor.state.clone() };
        let step = Step { from: state.clone(), task: event, to: to.clone(), accesses };
        self.executions.last_mut().unwrap().push(event);
        self.graph.push(step.clone());
        for disabled in self.enabled(state).difference(&self.enabled(&to)) {
            self.backtrack.get_mut(state).unwrap().insert(*disabled);
        }
        self.search_back_from_observers(&step);
        let fresh = &self.path[self.fresh..];
        let first = fresh.iter().position(|one| one.from == to).map(|first| first + self.fresh);
        let first = if to == *state && first.is_none() { Some(self.path.len()) } else { first };
        self.path.push(step);
        let full = first.is_some_and(|first| self.is_full(first));
        let ends = self.naive == Naive::EndsAtMatch && first.is_some();
        if first.is_some() || self.history.contains(&to) {
            self.look_back_from_graph(&to);
        }
        if self.history.contains(&to) || full || ends {
            self.end();
        } else {
            self.go(&to);
        }
    }

    fn is_full(&self, first: usize) -> bool {
        let cycle = &self.path[first..];
        let executed: BTreeSet<usize> = cycle.iter().map(|step| step.task).collect();
        cycle.iter().all(|step| self.enabled(&step.to).is_subset(&executed))
    }

    fn end(&mut self) {
        self.history.extend(self.path.iter().flat_map(|step| [step.from.clone(), step.to.clone()]));
        self.executions.push(Vec::new());
    }

    /// Searches back along the path, without the step itself.
    fn search_back_from_observers(&mut self, step: &Step) {
        let (mut event, mut accesses) = (step.task, step.accesses.clone());
        for before in self.path.iter().rev() {
            let meets = |(place, write): &(Place, bool)| {
                before.accesses.iter().any(|other| other.0 == *place && (other.1 || *write))
            };
            if !accesses.iter().any(meets) {
                continue;
            }
            let set = self.backtrack.get_mut(&before.from).unwrap();
            if self.toy.is_ready(&before.from, event) {
                set.insert(event);
            } else {
                set.extend(
                    (0..self.toy.tasks.len()).filter(|e| self.toy.is_ready(&before.from, *e)),
                );
            }
            accesses.retain(|one| !meets(one));
            event = before.task;
            if self.naive == Naive::LastOnly {
                return;
            }
        }
    }

    fn look_back_from_graph(&mut self, state: &State) {
        let mut reached = BTreeSet::from([state.clone()]);
        let mut queue = vec![state.clone()];
        while let Some(state) = queue.pop() {
            for step in self.graph.clone().iter().filter(|step| step.from == state) {
                self.search_back_from_observers(step);
                if reached.insert(step.to.clone()) {
                    queue.push(step.to.clone());
                }
            }
        }
    }

    /// Returns a backtrack set.
    pub(crate) fn set(&self, state: &[u8]) -> Vec<usize> {
        self.backtrack.get(state).into_iter().flatten().copied().collect()
    }
}
