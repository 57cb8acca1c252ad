//! Livelocks: states from which no run can end, in a program whose runs end elsewhere.
//!
//! **Problem.** Given the graph of all states, which *stays* (terminal strongly connected
//! components with a transition, without an end and without a failing transition) are livelocks?
//! `docs/search.md` has the definition: some run ends (L1), something that is no daemon runs in the
//! stay (L2), and the program says that its runs end, or nothing in the stay runs for ever by its
//! nature (L3).
//!
//! **Method.** Most graphs have no stay, or no end; that takes one pass over the graph. Otherwise
//! all states are expanded once more, breadth-first, as the graph does not hold what takes a
//! transition. A part of the program runs in some run that ends exactly if one of its transitions
//! leads to a state from which an end can be reached.
//!
//! **Guarantee.** Exact on a graph of all states. In a graph that was cut, what is found is true: a
//! stay has only states that were expanded, and more ends could only add livelocks. A graph of a
//! reduced search has the same livelocks: `docs/reduction.md`, theorem T3.
//!
//! **Cost.** Linear in states and transitions, for both passes. A shown cycle takes one search of
//! its stay for each fairness class in it. Memory: 9 bytes a state; with a stay, 9 more and 4 for
//! each transition. It polls the job for each state of the second pass, and for each cycle.

mod cycle;
mod full;
mod stays;

pub(crate) use cycle::cycle_of_states;
pub(crate) use full::FullGraph;

use crate::shortest::ShortestPaths;
use crate::updates::NumberedPath;
use anyorder_system::{Actors, Classes, JobWatch, PlaceOfStep, Role, StateSystem, Stopped};
use cycle::{ClassesOfSteps, FairCycle};
use stays::{NO_STAY, Stays, can_end};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The most livelocks that a search reports. Independent parts that can each get stuck multiply.
pub const LIVELOCKS_MAX: usize = 1_000;

/// Receives the transitions of a state: the number of each, its action, and the state after it.
pub type EachStep<'f, S> =
    dyn FnMut(u32, &<S as StateSystem>::Action, <S as StateSystem>::State) + 'f;

/// An explored graph, whose states can be made again.
pub trait ExploredGraph<S: StateSystem> {
    /// Returns the number of states.
    fn states(&self) -> usize;

    /// Returns whether a run may end in a state, all of whose transitions are known.
    fn is_end(&self, state: u32) -> bool;

    /// Returns the states that are deadlocks.
    fn deadlocks(&self) -> Vec<u32>;

    /// Returns the transitions of a state that are known: the number of each, and its target, or
    /// `None` if it fails.
    fn steps(&self, state: u32) -> impl Iterator<Item = (u32, Option<u32>)>;

    /// Returns the initial states, with their numbers.
    fn initial(&self) -> Vec<(u32, S::State)>;

    /// Expands a state again. Calls `each` with the number of each known transition, its action and
    /// the state that it leads to.
    fn expand(&self, number: u32, state: &S::State, each: &mut EachStep<'_, S>);
}

/// A livelock.
#[derive(Clone, Debug)]
pub struct Livelock {
    /// The places where its steps stand, sorted.
    pub places: Vec<PlaceOfStep>,
    /// A shortest path into it, and then a fair cycle.
    pub path: NumberedPath,
    /// The number of steps before the cycle.
    pub repeats_from: usize,
}

/// Returns the livelocks of a graph, the shortest path first, and whether some were left out. Fails
/// once the job of this thread is stopped.
///
/// # Errors
///
/// Fails once the job of this thread is stopped: see [`JobWatch`].
pub fn livelocks<S: StateSystem, G: ExploredGraph<S>>(
    graph: &G,
    actors: &Actors<'_, S::State, S::Action>,
    fairness: &Classes<'_, S::Action>,
) -> Result<(Vec<Livelock>, bool), Stopped> {
    let watch = JobWatch::current();
    let Some(stays) = Stays::of(graph) else { return Ok((Vec::new(), false)) };
    watch.check()?;
    let read = Reading::of(graph, &stays, actors, fairness, &watch)?;
    let guilty = read.stays.iter().zip(0..).filter(|(stay, _)| read.is_livelock(stay, actors));
    let initial: Vec<u32> = graph.initial().into_iter().map(|(number, _)| number).collect();
    let shortest = ShortestPaths::of(graph.states(), initial, |state| {
        graph.steps(state).filter_map(|(place, target)| Some((place, target?)))
    });
    let mut best: BTreeMap<&BTreeSet<PlaceOfStep>, (u32, u32)> = BTreeMap::new();
    let entries: BTreeMap<u32, (u32, u32)> = stays.entries(&shortest);
    for (stay, index) in guilty {
        let Some(entry) = entries.get(&index) else { continue };
        let known = best.entry(&stay.places).or_insert(*entry);
        *known = (*known).min(*entry);
    }
    let mut best: Vec<_> = best.into_iter().map(|(places, entry)| (entry, places)).collect();
    best.sort_unstable();
    let left_out = best.len() > LIVELOCKS_MAX;
    best.truncate(LIVELOCKS_MAX);
    let mut found = Vec::new();
    for ((_, entry), places) in best {
        watch.check()?;
        let (start, mut steps) = shortest.to(entry);
        let repeats_from = steps.len();
        let stay = &read.stays[stays.stay_of[entry as usize] as usize];
        let targets = |state: u32| {
            let steps = graph.steps(state);
            steps.filter_map(|(place, target)| Some((place, target?))).collect()
        };
        let cycle = FairCycle { targets: &targets, entry, classes: &stay.classes };
        steps.extend(cycle.steps(&watch)?);
        let places = places.iter().cloned().collect();
        found.push(Livelock { places, path: (start, steps), repeats_from });
    }
    Ok((found, left_out))
}

/// What runs in a stay.
#[derive(Clone, Debug, Default)]
struct Stay {
    places: BTreeSet<PlaceOfStep>,
    has_input: bool,
    /// Whether something runs that is no daemon.
    works: bool,
    /// The fairness classes of its transitions, by state and number.
    classes: ClassesOfSteps,
}

/// What runs where.
struct Reading {
    stays: Vec<Stay>,
    /// The parts with a transition in some run that ends.
    ending: BTreeSet<String>,
}

impl Reading {
    /// Expands all states again.
    fn of<S: StateSystem, G: ExploredGraph<S>>(
        graph: &G,
        stays: &Stays,
        actors: &Actors<'_, S::State, S::Action>,
        fairness: &Classes<'_, S::Action>,
        watch: &JobWatch,
    ) -> Result<Reading, Stopped> {
        let mut read =
            Reading { stays: vec![Stay::default(); stays.count], ending: BTreeSet::new() };
        // Who says that runs end needs no example of each part.
        let ends = if actors.must_end { Vec::new() } else { can_end(graph) };
        let mut seen = vec![false; graph.states()];
        let mut queue: VecDeque<(u32, S::State)> = VecDeque::new();
        for (number, state) in graph.initial() {
            seen[number as usize] = true;
            queue.push_back((number, state));
        }
        while let Some((number, state)) = queue.pop_front() {
            watch.check()?;
            let targets: BTreeMap<u32, Option<u32>> = graph.steps(number).collect();
            let own = stays.stay_of[number as usize];
            graph.expand(number, &state, &mut |place, action, next| {
                let Some(Some(target)) = targets.get(&place).copied() else { return };
                if own != NO_STAY {
                    let actor = actors.of(&state, action);
                    let stay = &mut read.stays[own as usize];
                    stay.has_input |= actor.role == Role::Input;
                    stay.works |= actor.role != Role::Daemon;
                    stay.places.insert(actor.place);
                    let class = fairness.of(action);
                    stay.classes.extend(class.map(|class| ((number, place), class)));
                } else if ends.get(target as usize) == Some(&true) {
                    let part = actors.of(&state, action).place.part;
                    if !read.ending.contains(&part) {
                        read.ending.insert(part);
                    }
                }
                if !std::mem::replace(&mut seen[target as usize], true) {
                    queue.push_back((target, next));
                }
            });
        }
        watch.check()?;
        Ok(read)
    }

    /// Returns whether a stay is a fault of the program.
    fn is_livelock<S, A>(&self, stay: &Stay, actors: &Actors<'_, S, A>) -> bool {
        let all_end = || stay.places.iter().all(|place| self.ending.contains(&place.part));
        stay.works && (actors.must_end || (!stay.has_input && all_end()))
    }
}
