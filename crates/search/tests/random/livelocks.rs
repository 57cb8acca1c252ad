//! Livelocks by their definition in docs/search.md, slowly: sets of states that are reached, one
//! state after the other. With mutants of the definition, which show whether the instances of a
//! test could tell the difference.

use std::collections::{BTreeMap, BTreeSet};

/// Who takes a transition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Who {
    Input,
    Daemon,
    Worker,
}

/// A transition: its target unless it fails, and what takes it.
#[derive(Clone, Debug)]
pub struct Move {
    pub to: Option<usize>,
    pub part: String,
    pub place: String,
    pub who: Who,
}

/// A graph of all states.
#[derive(Clone, Debug, Default)]
pub struct Definition {
    pub initial: Vec<usize>,
    pub moves: Vec<Vec<Move>>,
    /// Whether a run may end in a state.
    pub ends: Vec<bool>,
    pub deadlocks: Vec<bool>,
    /// Whether the program says in which states it may end.
    pub must_end: bool,
}

/// A definition with one of its parts left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Without {
    Nothing,
    /// A stay may hold an end.
    NoEnd,
    /// A stay may be left.
    Terminal,
    /// A transition in a stay may fail.
    NoFailure,
    /// L1: no run needs to end.
    SomeEnd,
    /// L1: a deadlock is an end like others.
    NoDeadlock,
    /// L2.
    Daemons,
    /// L3: inputs.
    Inputs,
    /// L3: parts that never end.
    Services,
    /// L3: `final` changes nothing.
    Final,
}

pub const MUTANTS: [Without; 9] = [
    Without::NoEnd,
    Without::Terminal,
    Without::NoFailure,
    Without::SomeEnd,
    Without::NoDeadlock,
    Without::Daemons,
    Without::Inputs,
    Without::Services,
    Without::Final,
];

/// Each livelock, by its places, with the number of steps of a shortest run into it.
pub type Livelocks = BTreeMap<BTreeSet<String>, usize>;

impl Definition {
    fn targets(&self, state: usize) -> impl Iterator<Item = usize> + '_ {
        self.moves[state].iter().filter_map(|one| one.to)
    }

    /// The states that at least one step leads to.
    pub fn reach(&self, from: usize) -> BTreeSet<usize> {
        let (mut reached, mut stack) = (BTreeSet::new(), vec![from]);
        while let Some(state) = stack.pop() {
            stack.extend(self.targets(state).filter(|to| reached.insert(*to)));
        }
        reached
    }

    /// The states from which one of these can be reached, and these.
    fn before(&self, wanted: impl Fn(usize) -> bool) -> BTreeSet<usize> {
        let all = 0..self.moves.len();
        let mut before: BTreeSet<usize> = all.clone().filter(|state| wanted(*state)).collect();
        loop {
            let leads = |state: &usize| self.targets(*state).any(|to| before.contains(&to));
            let more = all.clone().filter(|state| !before.contains(state) && leads(state));
            let more: Vec<usize> = more.collect();
            if more.is_empty() {
                return before;
            }
            before.extend(more);
        }
    }

    fn distances(&self) -> BTreeMap<usize, usize> {
        let mut distance = BTreeMap::new();
        let mut level: BTreeSet<usize> = self.initial.iter().copied().collect();
        for steps in 0.. {
            level.retain(|state| !distance.contains_key(state));
            if level.is_empty() {
                break;
            }
            distance.extend(level.iter().map(|state| (*state, steps)));
            level = level.iter().flat_map(|state| self.targets(*state)).collect();
        }
        distance
    }

    /// The sets of states that a run cannot leave, and where it cannot end.
    pub fn stays(&self, without: Without) -> Vec<BTreeSet<usize>> {
        let fails = |state: usize| self.moves[state].iter().any(|one| one.to.is_none());
        // Only to save time: from a state of a stay none of these is reached.
        let strict = without == Without::Nothing;
        let open = self.before(|state| strict && (self.ends[state] || fails(state)));
        let mut stays: Vec<BTreeSet<usize>> = Vec::new();
        for state in (0..self.moves.len()).filter(|state| !open.contains(state)) {
            if stays.iter().any(|stay| stay.contains(&state)) {
                continue;
            }
            let reached = self.reach(state);
            let back = |other: &usize| self.reach(*other).contains(&state);
            let stay: BTreeSet<usize> = reached.iter().copied().filter(back).collect();
            let is_stay = !stay.is_empty()
                && (without == Without::Terminal || stay == reached)
                && (without == Without::NoFailure || !stay.iter().any(|one| fails(*one)))
                && (without == Without::NoEnd || !stay.iter().any(|one| self.ends[*one]));
            if is_stay {
                stays.push(stay);
            }
        }
        stays
    }

    pub fn livelocks(&self, without: Without) -> Livelocks {
        let is_end = |state: usize| {
            self.ends[state] && (without == Without::NoDeadlock || !self.deadlocks[state])
        };
        let some = (0..self.moves.len()).any(is_end) || without == Without::SomeEnd;
        let stays = if some { self.stays(without) } else { Vec::new() };
        if stays.is_empty() {
            return Livelocks::new();
        }
        let can_end = self.before(is_end);
        let all = self.moves.iter().flatten();
        let ends = all.filter(|one| one.to.is_some_and(|to| can_end.contains(&to)));
        let ending: BTreeSet<&String> = ends.map(|one| &one.part).collect();
        let distance = self.distances();
        let mut found = Livelocks::new();
        for stay in stays {
            let inside = |one: &&Move| one.to.is_some_and(|to| stay.contains(&to));
            let moves: Vec<&Move> =
                stay.iter().flat_map(|state| self.moves[*state].iter().filter(inside)).collect();
            let works = moves.iter().any(|one| one.who != Who::Daemon);
            let input = moves.iter().any(|one| one.who == Who::Input);
            let serves = moves.iter().any(|one| !ending.contains(&one.part));
            let by_nature =
                (input && without != Without::Inputs) || (serves && without != Without::Services);
            let stated = self.must_end && without != Without::Final;
            if (works || without == Without::Daemons) && (stated || !by_nature) {
                let places = moves.iter().map(|one| one.place.clone()).collect();
                let nearest = stay.iter().filter_map(|state| distance.get(state)).min();
                let steps = nearest.copied().unwrap_or(usize::MAX);
                let known = found.entry(places).or_insert(steps);
                *known = (*known).min(steps);
            }
        }
        found
    }
}
