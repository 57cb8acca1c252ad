//! Checks the required findings of a reduced search of a toy system.

use crate::tests::common::oracle::{Conflicts, Truth, Writers, follow};
use crate::tests::common::{Local, Toy};
use anyorder_explore::stateful::{Outcome, Sabotage, StatefulOptions, explore};
use anyorder_search::Path;
use anyorder_search::Property;
use anyorder_system::{Control, Place, StateSystem};
use std::collections::{BTreeSet, VecDeque};
use std::num::NonZeroUsize;

pub(crate) fn options(values: bool, threads: usize) -> StatefulOptions {
    let threads = NonZeroUsize::new(threads).unwrap();
    StatefulOptions { values, threads, keep_graph: true, ..StatefulOptions::default() }
}

pub(crate) fn sabotaged(values: bool, sabotage: Sabotage) -> StatefulOptions {
    StatefulOptions { sabotage, ..options(values, 1) }
}

/// Searches. Returns the outcome and all local states found.
pub(crate) fn run(toy: &Toy, options: &StatefulOptions) -> (Outcome<Toy>, BTreeSet<Local>) {
    try_run(toy, options).expect("paths can be run again")
}

/// Like `run`; `None` if a path that it found cannot be replayed.
pub(crate) fn try_run(
    toy: &Toy,
    options: &StatefulOptions,
) -> Option<(Outcome<Toy>, BTreeSet<Local>)> {
    toy.forget();
    let outcome = explore(toy, options, &Control::default()).ok()?;
    let locals = std::mem::take(&mut *toy.log.lock().unwrap());
    Some((outcome, locals))
}

/// Returns whether the last step of a path has the second update of a conflict.
pub(crate) fn shows<'a>(
    toy: &Toy,
    initial: &'a Vec<u8>,
    steps: impl Iterator<Item = ((usize, usize), &'a Vec<u8>)>,
    place: Place,
    components: (u32, u32),
) -> bool {
    let (mut writers, mut before) = (Writers::new(), initial);
    let mut shown = Conflicts::new();
    for (action, after) in steps {
        shown = follow(toy, &mut writers, &toy.end(before, action).3);
        before = after;
    }
    shown.contains(&(place, components))
}

/// Returns a description of the fault in an outcome, if there is one.
pub(crate) fn fault(
    toy: &Toy,
    truth: &Truth,
    outcome: &Outcome<Toy>,
    locals: &BTreeSet<Local>,
) -> Option<String> {
    let fail = |what: String| Some(what);
    if !outcome.complete {
        return fail("not complete".to_owned());
    }
    if *locals != truth.locals {
        let missing: Vec<_> = truth.locals.difference(locals).collect();
        return fail(format!("local states missing: {missing:?}"));
    }
    let mut failures = BTreeSet::new();
    let mut broken = BTreeSet::new();
    let mut conflicts = BTreeSet::new();
    let mut livelocks = BTreeSet::new();
    let (mut deadlocks, mut wrong_end) = (BTreeSet::new(), false);
    for violation in &outcome.violations {
        let path = &violation.path;
        let failure = path.steps.last().and_then(|step| step.failure.clone());
        let shown = match &violation.property {
            Property::Failure(message) => {
                failures.insert(message.to_string());
                failure.as_ref() == Some(message)
            }
            Property::Invariant(invariant) => {
                broken.insert(*invariant);
                failure.is_none() && !toy.holds(*invariant, path.last())
            }
            Property::Deadlock(places) => {
                deadlocks.insert(places.clone());
                let stuck = toy.is_stuck(path.last()) && toy.waits(path.last()) == *places;
                truth.dead.contains(path.last()) && stuck
            }
            Property::Final => {
                wrong_end = true;
                let stuck = truth.dead.contains(path.last()) && toy.is_stuck(path.last());
                truth.ends.contains(path.last()) && !stuck && !toy.is_final(path.last())
            }
            Property::Livelock(places) => {
                let places = places.iter().map(|place| format!("{place:?}")).collect();
                livelocks.insert(places) && goes_round(toy, truth, path)
            }
            Property::Response(_) => false,
        };
        if !shown {
            return fail(format!("the path does not show {:?}", violation.property));
        }
    }
    for conflict in outcome.conflicts.iter().flatten() {
        conflicts.insert((conflict.place, conflict.components));
        let path = &conflict.path;
        let steps = path.steps.iter().map(|step| (step.action, &step.state));
        if !shows(toy, &path.initial, steps, conflict.place, conflict.components) {
            return fail(format!("the path does not show {conflict:?}"));
        }
    }
    let expected = truth.livelocks.keys().cloned().collect();
    if livelocks != expected {
        return fail(format!("livelocks {livelocks:?}, expected {expected:?}"));
    }
    let found = (failures, broken, conflicts, deadlocks, wrong_end);
    let expected = (
        truth.failures.clone(),
        truth.broken.clone(),
        truth.conflicts.clone(),
        truth.deadlocks.clone(),
        truth.wrong_end || truth.wrong_rest,
    );
    if found != expected {
        return fail(format!("found {found:?}, expected {expected:?}"));
    }
    if outcome.detail.counts.ends != truth.ends.len() as u64 {
        return fail(format!("{} ends of {}", outcome.detail.counts.ends, truth.ends.len()));
    }
    graph_fault(truth, outcome)
}

/// Returns whether a path ends in a loop that no run leaves and in which none may end.
fn goes_round(toy: &Toy, truth: &Truth, path: &Path<Toy>) -> bool {
    let Some(from) = path.repeats_from.filter(|from| *from < path.steps.len()) else {
        return false;
    };
    let mut states = (from..=path.steps.len()).filter_map(|at| path.state(at));
    let can_end = |state: &Vec<u8>| {
        let fails = |state: &Vec<u8>| {
            let ready = (0..toy.tasks.len()).filter(|task| toy.is_ready(state, *task));
            ready.into_iter().any(|task| toy.fails(state, task))
        };
        truth.ends.contains(state) || fails(state)
    };
    path.state(from) == Some(path.last()) && !states.any(can_end)
}

/// Checks the explored graph: it is part of the full one, and paths are shortest ones in it.
fn graph_fault(truth: &Truth, outcome: &Outcome<Toy>) -> Option<String> {
    let graph = outcome.detail.graph.as_ref()?;
    let stats = &outcome.stats;
    if stats.states > truth.states || stats.transitions > truth.transitions {
        return Some("more than there is".to_owned());
    }
    for (edges, from) in graph.edges.iter().zip(&graph.states) {
        for (task, target) in edges {
            let Some(target) = target else { continue };
            if !truth.edges.contains(&(*from, *task, graph.states[*target as usize])) {
                return Some(format!("an edge of {task:?} that is none"));
            }
        }
    }
    None
}

/// Returns the distance of each state in the explored graph.
pub(crate) fn distances(toy: &Toy, outcome: &Outcome<Toy>) -> Vec<usize> {
    let graph = outcome.detail.graph.as_ref().unwrap();
    let mut distance = vec![usize::MAX; graph.states.len()];
    let initial: BTreeSet<_> = toy.initial.iter().map(|state| toy.fingerprint(state)).collect();
    let mut queue = VecDeque::new();
    for (index, state) in graph.states.iter().enumerate() {
        if initial.contains(state) {
            distance[index] = 0;
            queue.push_back(index);
        }
    }
    while let Some(index) = queue.pop_front() {
        for target in graph.edges[index].iter().filter_map(|(_, target)| *target) {
            if distance[target as usize] == usize::MAX {
                distance[target as usize] = distance[index] + 1;
                queue.push_back(target as usize);
            }
        }
    }
    distance
}
