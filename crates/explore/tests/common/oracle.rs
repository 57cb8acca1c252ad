//! The properties of a toy system, computed by visiting all its states.

use super::livelocks::{Definition, Livelocks, Move, Without};
use super::{Local, Toy};
use anyorder_system::{Effects, Hash128, Place, Reducible, StateSystem, TaskKey, TouchKind};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

#[derive(Debug, Default)]
pub struct Truth {
    pub states: u64,
    pub transitions: u64,
    pub locals: BTreeSet<Local>,
    pub failures: BTreeSet<String>,
    pub broken: BTreeSet<usize>,
    /// States in which nothing can happen.
    pub dead: BTreeSet<Vec<u8>>,
    /// These, and states in which only optional tasks can do something.
    pub ends: BTreeSet<Vec<u8>>,
    /// What waits in each deadlock.
    pub deadlocks: BTreeSet<String>,
    pub wrong_end: bool,
    /// Whether a wrong end has optional transitions.
    pub wrong_rest: bool,
    pub conflicts: BTreeSet<(Place, (u32, u32))>,
    /// All states, for the definition of livelocks.
    pub graph: Definition,
    pub livelocks: Livelocks,
    /// Steps that do not fail.
    pub edges: BTreeSet<(Hash128, TaskKey, Hash128)>,
}

/// Visits all states; `None` if there are more than `most`.
pub fn truth(toy: &Toy, most: usize) -> Option<Truth> {
    let mut truth = Truth::default();
    let mut seen: BTreeSet<Vec<u8>> = toy.initial.iter().cloned().collect();
    let mut queue: VecDeque<Vec<u8>> = seen.iter().cloned().collect();
    while let Some(state) = queue.pop_front() {
        truth.states += 1;
        if truth.states as usize > most {
            return None;
        }
        for invariant in 0..toy.invariants.len() {
            truth.locals.insert(toy.watched(invariant, &state));
            if !toy.holds(invariant, &state) {
                truth.broken.insert(invariant);
            }
        }
        let (before, mut must) = (truth.transitions, false);
        for task in (0..toy.tasks.len()).filter(|task| toy.is_ready(&state, *task)) {
            truth.locals.insert(toy.local(&state, task));
            for (after, failure, ..) in toy.run_tree(&state, task).ends {
                truth.transitions += 1;
                must |= !toy.optional.contains(&task);
                if let Some(message) = failure {
                    truth.failures.insert(message);
                    continue;
                }
                let edge = (toy.fingerprint(&state), toy.key(task), toy.fingerprint(&after));
                truth.edges.insert(edge);
                if seen.insert(after.clone()) {
                    queue.push_back(after);
                }
            }
        }
        let dead = truth.transitions == before;
        if dead {
            truth.dead.insert(state.clone());
        }
        if !must {
            if !toy.is_final(&state) {
                if dead && toy.is_stuck(&state) {
                    truth.deadlocks.insert(toy.waits(&state));
                } else {
                    truth.wrong_end |= dead;
                    truth.wrong_rest |= !dead;
                }
            }
            truth.ends.insert(state);
        }
    }
    if !toy.who.is_empty() {
        truth.graph = definition(toy);
        truth.livelocks = truth.graph.livelocks(Without::Nothing);
    }
    if toy.components > 0 {
        truth.conflicts = conflicts(toy);
    }
    Some(truth)
}

/// All states and transitions, in the terms of the definition of livelocks.
fn definition(toy: &Toy) -> Definition {
    let mut order: Vec<Vec<u8>> = Vec::new();
    let mut numbers: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    let mut enter = |state: &Vec<u8>, order: &mut Vec<Vec<u8>>| {
        *numbers.entry(state.clone()).or_insert_with(|| {
            order.push(state.clone());
            order.len() - 1
        })
    };
    let initial = toy.initial.iter().map(|state| enter(state, &mut order)).collect();
    let mut graph = Definition { initial, must_end: toy.must_end, ..Definition::default() };
    let mut at = 0;
    while let Some(state) = order.get(at).cloned() {
        at += 1;
        let (mut moves, mut must) = (Vec::new(), false);
        for task in (0..toy.tasks.len()).filter(|task| toy.is_ready(&state, *task)) {
            for (after, failure, ..) in toy.run_tree(&state, task).ends {
                must |= !toy.optional.contains(&task);
                let place = toy.step_place(task);
                moves.push(Move {
                    to: failure.is_none().then(|| enter(&after, &mut order)),
                    part: place.part.clone(),
                    place: format!("{place:?}"),
                    who: toy.who[task],
                });
            }
        }
        graph.ends.push(!must);
        graph.deadlocks.push(moves.is_empty() && !toy.is_final(&state) && toy.is_stuck(&state));
        graph.moves.push(moves);
    }
    graph
}

/// The pairs of components, the lower first, that update one place right after each other.
pub type Conflicts = BTreeSet<(Place, (u32, u32))>;

/// The component that changed each attribute last.
pub type Writers = BTreeMap<usize, Option<u32>>;

/// Records the updates of a step, and returns the conflicts that it shows.
pub fn follow(toy: &Toy, writers: &mut Writers, updates: &[(usize, Option<u32>)]) -> Conflicts {
    let mut found = Conflicts::new();
    for (place, by) in updates.iter().filter(|(place, _)| toy.attributes.contains(place)) {
        if let (Some(Some(other)), Some(by)) = (writers.insert(*place, *by), by)
            && other != *by
        {
            found.insert((toy.place(*place), (other.min(*by), other.max(*by))));
        }
    }
    found
}

/// Visits all states together with the component that changed each attribute last.
fn conflicts(toy: &Toy) -> Conflicts {
    let mut found = BTreeSet::new();
    let start: Vec<(Vec<u8>, Writers)> =
        toy.initial.iter().map(|state| (state.clone(), Writers::new())).collect();
    let mut seen: BTreeSet<(Vec<u8>, Writers)> = start.iter().cloned().collect();
    let mut queue: VecDeque<(Vec<u8>, Writers)> = seen.iter().cloned().collect();
    while let Some((state, writers)) = queue.pop_front() {
        for task in (0..toy.tasks.len()).filter(|task| toy.is_ready(&state, *task)) {
            for (after, failure, _, updates) in toy.run_tree(&state, task).ends {
                let mut next = writers.clone();
                found.extend(follow(toy, &mut next, &updates));
                if failure.is_none() && seen.insert((after.clone(), next.clone())) {
                    queue.push_back((after, next));
                }
            }
        }
    }
    found
}

/// Checks the contract of `Reducible` literally, on all states. Returns the number of pairs found
/// to commute.
pub fn check_contract(toy: &Toy, values: bool) -> u64 {
    type Behaviour = (Vec<(Place, bool)>, Vec<(Vec<(usize, u8)>, Option<String>)>);
    let mut by_local: BTreeMap<Local, Behaviour> = BTreeMap::new();
    let mut commuting = 0;
    let mut seen: BTreeSet<Vec<u8>> = toy.initial.iter().cloned().collect();
    let mut queue: VecDeque<Vec<u8>> = seen.iter().cloned().collect();
    while let Some(state) = queue.pop_front() {
        let ready: Vec<usize> =
            (0..toy.tasks.len()).filter(|task| toy.is_ready(&state, *task)).collect();
        let runs: Vec<_> = ready.iter().map(|task| (*task, toy.run_tree(&state, *task))).collect();
        for (task, run) in &runs {
            let touched = run.touched.iter().map(|one| (one.place, one.kind != TouchKind::Read));
            let touched: BTreeSet<(Place, bool)> = touched.collect();
            let ends = run.ends.iter().map(|(after, failure, written, _)| {
                (written.iter().map(|place| (*place, after[*place])).collect(), failure.clone())
            });
            let behaviour = (touched.into_iter().collect(), ends.collect());
            let local = (*task, run.local.clone());
            let known = by_local.entry(local).or_insert_with(|| behaviour.clone());
            assert_eq!(*known, behaviour, "one local state, two behaviours");
            let changes: BTreeSet<Place> = run
                .touched
                .iter()
                .filter(|one| one.kind == TouchKind::Write)
                .map(|one| one.place)
                .collect();
            for (after, failure, ..) in &run.ends {
                for place in 0..state.len() {
                    let changed = state[place] != after[place];
                    assert!(!changed || changes.contains(&toy.place(place)), "a secret write");
                }
                for other in 0..toy.tasks.len() {
                    let awaits = toy.tasks[other].awaits.iter();
                    let told =
                        awaits.clone().any(|(place, _)| changes.contains(&toy.place(*place)));
                    let same = toy.is_ready(&state, other) == toy.is_ready(after, other);
                    assert!(same || told, "readiness changes in secret");
                }
                if failure.is_none() && seen.insert(after.clone()) {
                    queue.push_back(after.clone());
                }
            }
        }
        for (a, run_a) in &runs {
            for (b, run_b) in runs.iter().filter(|(b, _)| b > a) {
                let one = |task: usize, run: &super::Run<'_>| -> BTreeSet<(Place, bool)> {
                    let write = |kind| {
                        kind == TouchKind::Write || (kind == TouchKind::SilentWrite && !values)
                    };
                    let awaits = toy.tasks[task].awaits.iter();
                    let awaits = awaits.map(|(place, _)| (toy.place(*place), false));
                    run.touched
                        .iter()
                        .map(|one| (one.place, write(one.kind)))
                        .chain(awaits)
                        .collect()
                };
                let (x, y) = (one(*a, run_a), one(*b, run_b));
                let conflict = x.iter().any(|x| y.iter().any(|y| x.0 == y.0 && (x.1 || y.1)));
                if conflict {
                    continue;
                }
                commuting += 1;
                let both = |first: &super::Run<'_>, second: usize| -> BTreeSet<Vec<u8>> {
                    let live = first.ends.iter().filter(|end| end.1.is_none());
                    live.flat_map(|(state, ..)| {
                        assert!(toy.is_ready(state, second));
                        let ends = toy.run_tree(state, second).ends;
                        ends.into_iter().filter(|end| end.1.is_none()).map(|end| end.0)
                    })
                    .collect()
                };
                assert_eq!(both(run_a, *b), both(run_b, *a), "independent steps do not commute");
            }
        }
    }
    commuting
}

/// Asks a system for the effects of a task.
pub fn effects<S: Reducible>(
    system: &S,
    state: &S::State,
    task: TaskKey,
) -> Effects<S::State, S::Action> {
    let mut effects = Effects::default();
    system.run(state, task, &mut effects);
    effects
}
