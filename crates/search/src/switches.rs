//! Of the shortest runs that show a violation, one with the fewest switches.
//!
//! **Problem.** A *switch* is a step that another runner takes than the step before
//! ([`StateSystem::runner`]). Breadth-first search gives the first of the shortest runs to a
//! violation, whatever its switches.
//!
//! **Method.** A second pass over the layers of breadth-first search. For each state it keeps the
//! fewest switches of the shortest runs to it, and the runners that may have taken the last step of
//! such a run. Runs with more switches need not be kept: one with `k + 1` switches whose last
//! runner goes on is no better than one with `k` that then switches. Of equal runs, the first
//! counts. For an update conflict, a state is one of the system with the component that updated the
//! attribute last, so there is a pass for each attribute.
//!
//! **Guarantee.** No run that shows the same is shorter, or as short with fewer switches; unless
//! the pass was cut by its number of states. A run that the pass did not improve stays as it was.
//!
//! **Cost.** The states up to the depth of the violations, each expanded once, up to a given number
//! in all passes together. A state takes one entry for each runner that may have come last.
//!
//! **Deviation.** Equal threads that nothing refers to cannot be told apart in a state. A run may
//! then have a switch more between them than it needs.

use crate::outcome::{Property, UpdateConflict, Violation};
use crate::path::{Path, PathStep};
use crate::updates::Writer;
use anyorder_system::{
    Control, JobWatch, Offers, Place, Properties, StateSystem, Stopped, Successor, Update, Updates,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Returns the number of switches of a path: steps that another runner takes than the step before.
pub fn switches<S: StateSystem>(system: &S, path: &Path<S>) -> usize {
    let mut count = 0;
    for (at, step) in path.steps.iter().enumerate().skip(1) {
        let (Some(before), Some(between)) = (path.state(at - 1), path.state(at)) else { break };
        let last = &path.steps[at - 1];
        let last = system.runner_after(before, &last.action, between);
        count += usize::from(last.is_none() || last != system.runner(between, &step.action));
    }
    count
}

/// Whether the system says of some step who takes it.
fn has_runners<S: StateSystem>(system: &S, path: &Path<S>) -> bool {
    let mut steps = path.steps.iter().zip(0..);
    steps.any(|(step, at)| {
        path.state(at).is_some_and(|before| system.runner(before, &step.action).is_some())
    })
}

/// What the passes did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Passes {
    /// The states visited, in all passes.
    pub states: u64,
    /// Whether their number was cut, or memory: then runs may have more switches than they need.
    pub cut: bool,
    /// Whether the job was stopped in a pass: then the paths of that pass stay as they were.
    pub stopped: Option<Stopped>,
}

/// Replaces the paths of violations and update conflicts by runs that are no longer and have the
/// fewest switches. Visits at most `states_max` states. A job that is stopped keeps the paths.
pub fn fewest_switches<S: StateSystem>(
    system: &S,
    violations: &mut [Violation<S>],
    conflicts: &mut [UpdateConflict<S>],
    states_max: u64,
    control: &Control<'_>,
) -> Passes {
    let _watched = JobWatch::of(control).enter();
    let mut passes = Passes::default();
    let mut goals: BTreeMap<Goal, Wanted> = BTreeMap::new();
    for violation in violations.iter() {
        if violation.path.repeats_from.is_none() && has_runners(system, &violation.path) {
            let goal = Goal::Property(violation.property.clone());
            goals.insert(goal, Wanted::of(system, &violation.path));
        }
    }
    let found = pass(system, goals, None, (states_max, &mut passes), control);
    for violation in violations.iter_mut() {
        if let Some(path) = found.get(&Goal::Property(violation.property.clone())) {
            violation.path = path.clone();
        }
    }
    let mut places: BTreeMap<Place, BTreeMap<Goal, Wanted>> = BTreeMap::new();
    for conflict in conflicts.iter().filter(|one| has_runners(system, &one.path)) {
        let wanted = Wanted::of(system, &conflict.path);
        places.entry(conflict.place).or_default().insert(Goal::Pair(conflict.components), wanted);
    }
    for (place, goals) in places {
        let found = pass(system, goals, Some(place), (states_max, &mut passes), control);
        for conflict in conflicts.iter_mut().filter(|one| one.place == place) {
            if let Some(path) = found.get(&Goal::Pair(conflict.components)) {
                conflict.path = path.clone();
            }
        }
    }
    passes
}

/// What a run is to show.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Goal {
    Property(Property),
    /// An update conflict of two components on the attribute of the pass.
    Pair((u32, u32)),
}

/// The run that is known, and the best one of the pass.
struct Wanted {
    /// Steps and switches.
    known: (usize, usize),
    best: Option<Candidate>,
}

impl Wanted {
    fn of<S: StateSystem>(system: &S, path: &Path<S>) -> Wanted {
        Wanted { known: (path.steps.len(), switches(system, path)), best: None }
    }

    /// Whether a longer run than one of `depth` steps may be of use.
    fn is_open(&self, depth: usize) -> bool {
        self.best.is_none() && self.known.0 > depth
    }

    fn offer(&mut self, one: Candidate) {
        let cost = (one.steps, one.switches);
        let best = self.best.as_ref().map(|best| (best.steps, best.switches));
        if cost < self.known && best.is_none_or(|best| cost < best) {
            self.best = Some(one);
        } else if self.best.is_none() && cost == self.known {
            // The known run is as good.
            self.best = Some(Candidate { node: NONE, ..one });
        }
    }
}

#[derive(Clone, Copy)]
struct Candidate {
    steps: usize,
    switches: usize,
    node: u32,
    entry: u32,
    /// A transition of the state of the node.
    place: Option<u32>,
}

const NONE: u32 = u32::MAX;

/// So many states are taken between two polls.
const POLLED: usize = 1 << 8;

/// About the bytes of a node with its entry, its state and its key.
const NODE_BYTES: u64 = 256;

/// A state, with the component that updated the attribute last.
struct Node {
    writer: Writer,
    switches: usize,
    entries: Vec<Entry>,
}

/// A last step of a run to a node with the fewest switches.
#[derive(Clone, Copy)]
struct Entry {
    runner: Option<u64>,
    node: u32,
    entry: u32,
    place: u32,
}

/// A pass over the layers.
struct Pass<'s, S: StateSystem> {
    system: &'s S,
    properties: Properties<'s, S::State>,
    place: Option<Place>,
    goals: BTreeMap<Goal, Wanted>,
    known: FxHashMap<(u128, Writer), u32>,
    nodes: Vec<Node>,
    /// The nodes of the next layer, with their states.
    next: Vec<(u32, S::State)>,
    next_first: u32,
}

/// Returns better paths, by goal.
fn pass<S: StateSystem>(
    system: &S,
    goals: BTreeMap<Goal, Wanted>,
    place: Option<Place>,
    (states_max, passes): (u64, &mut Passes),
    control: &Control<'_>,
) -> BTreeMap<Goal, Path<S>> {
    if goals.values().all(|wanted| wanted.known.1 == 0) {
        return BTreeMap::new();
    }
    let mut pass = Pass {
        system,
        properties: system.properties(),
        place,
        goals,
        known: FxHashMap::default(),
        nodes: Vec::new(),
        next: Vec::new(),
        next_first: 0,
    };
    for (state, number) in system.initial().into_iter().zip(0..) {
        let root = Entry { runner: None, node: NONE, entry: NONE, place: number };
        pass.meet(state, None, (0, root));
    }
    let left = states_max.saturating_sub(passes.states);
    let ran = pass.layers(left, control);
    passes.states += pass.nodes.len() as u64;
    passes.cut |= ran == Ran::Cut;
    if let Ran::Stopped(stopped) = ran {
        passes.stopped = Some(stopped);
        return BTreeMap::new();
    }
    let goals = std::mem::take(&mut pass.goals);
    let better = goals.into_iter().filter_map(|(goal, wanted)| {
        let best = wanted.best.filter(|best| best.node != NONE)?;
        let path = pass.path(best)?;
        let cost = (path.steps.len(), switches(system, &path));
        (cost < wanted.known).then_some((goal, path))
    });
    let better = better.collect();
    match control.check() {
        Ok(()) => better,
        Err(stopped) => {
            passes.stopped = Some(stopped);
            BTreeMap::new()
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ran {
    Whole,
    Cut,
    Stopped(Stopped),
}

impl<S: StateSystem> Pass<'_, S> {
    /// Takes one layer after another while some run may still become better.
    fn layers(&mut self, states_max: u64, control: &Control<'_>) -> Ran {
        for depth in 0.. {
            let layer = std::mem::take(&mut self.next);
            self.next_first = self.nodes.len() as u32;
            for (at, (node, state)) in layer.iter().enumerate() {
                let bytes = self.nodes.len() as u64 * NODE_BYTES;
                if at % POLLED == 0 {
                    if let Err(stopped) = control.check() {
                        return Ran::Stopped(stopped);
                    }
                    if control.check_memory(0, bytes).is_err() {
                        return Ran::Cut;
                    }
                }
                self.expand(*node, state, depth);
                if self.nodes.len() as u64 > states_max {
                    return Ran::Cut;
                }
            }
            if self.next.is_empty() || !self.goals.values().any(|wanted| wanted.is_open(depth)) {
                break;
            }
        }
        Ran::Whole
    }

    /// Expands a state: its switches are final.
    fn expand(&mut self, node: u32, state: &S::State, depth: usize) {
        let system = self.system;
        let (mut out, mut updates) = (Vec::new(), Updates::default());
        match self.place {
            Some(_) => system.successors_with_updates(state, &mut out, &mut updates),
            None => system.successors(state, &mut out),
        }
        let switches = self.nodes[node as usize].switches;
        let here = Candidate { steps: depth, switches, node, entry: 0, place: None };
        if self.place.is_none() {
            self.ends(state, &out, here);
        }
        for (at, Successor { action, state: target, failure }) in out.into_iter().enumerate() {
            let (runner, place) = (system.runner(state, &action), at as u32);
            let (switches, entry) = self.continued(node, runner);
            let there = Candidate { steps: depth + 1, switches, node, entry, place: Some(place) };
            let writer = self.written(node, updates.of(at), there);
            match failure {
                Some(failure) => self.offer(&Goal::Property(Property::Failure(failure)), there),
                None => {
                    let runner = system.runner_after(state, &action, &target);
                    let last = Entry { runner, node, entry, place };
                    self.meet(target, writer, (switches, last));
                }
            }
        }
    }

    /// Returns the switches of a run that goes on with a runner, and the entry that it goes on
    /// from.
    fn continued(&self, node: u32, runner: Option<u64>) -> (usize, u32) {
        let Node { switches, entries, .. } = &self.nodes[node as usize];
        let root = entries.iter().any(|entry| entry.node == NONE);
        let same = entries.iter().position(|entry| runner.is_some() && entry.runner == runner);
        match same {
            Some(at) => (*switches, at as u32),
            None if root => (*switches, 0),
            None => (*switches + 1, 0),
        }
    }

    /// Offers the state of a node to the properties of states.
    fn ends(&mut self, state: &S::State, out: &[Successor<S::State, S::Action>], here: Candidate) {
        for index in 0..self.properties.invariants.len() {
            let goal = Goal::Property(Property::Invariant(index));
            if self.goals.contains_key(&goal) && !self.properties.invariants[index].holds(state) {
                self.offer(&goal, here);
            }
        }
        let offers = Offers::of(out.iter().map(|one| self.system.is_optional(&one.action)));
        if let Some(property) = Property::at_end(&self.properties, state, offers) {
            self.offer(&Goal::Property(property), here);
        }
    }

    /// Returns who has updated the attribute last after a step, and offers the step to the pairs.
    fn written(&mut self, node: u32, updates: &[Update], there: Candidate) -> Writer {
        let mut last = self.nodes[node as usize].writer;
        let Some(place) = self.place else { return last };
        for update in updates.iter().filter(|update| update.place == place) {
            if let (Some(a), Some(b)) = (last, update.by)
                && a != b
            {
                self.offer(&Goal::Pair((a.min(b), a.max(b))), there);
            }
            last = update.by;
        }
        last
    }

    fn offer(&mut self, goal: &Goal, one: Candidate) {
        if let Some(wanted) = self.goals.get_mut(goal) {
            wanted.offer(one);
        }
    }

    /// Notes a run to a state.
    fn meet(&mut self, state: S::State, writer: Writer, (switches, entry): (usize, Entry)) {
        let key = (self.system.fingerprint(&state).0, writer);
        let number = self.nodes.len() as u32;
        let known = *self.known.entry(key).or_insert(number);
        if known == number {
            self.nodes.push(Node { writer, switches, entries: vec![entry] });
            self.next.push((number, state));
            return;
        }
        // A state of an earlier layer has a shorter run.
        let node = &mut self.nodes[known as usize];
        if known < self.next_first || switches > node.switches {
            return;
        }
        if switches < node.switches {
            node.switches = switches;
            node.entries.clear();
        }
        if !node.entries.iter().any(|one| one.runner == entry.runner) {
            node.entries.push(entry);
        }
    }

    /// Runs the choices that lead to a candidate.
    fn path(&self, best: Candidate) -> Option<Path<S>> {
        let mut choices: Vec<u32> = best.place.into_iter().collect();
        let (mut node, mut entry) = (best.node, best.entry);
        while node != NONE {
            let last = self.nodes.get(node as usize)?.entries.get(entry as usize)?;
            choices.push(last.place);
            (node, entry) = (last.node, last.entry);
        }
        let mut path = Path::begin(self.system, choices.pop()?)?;
        let mut runner = None;
        while let Some(place) = choices.pop() {
            let mut out = Vec::new();
            self.system.successors(path.last(), &mut out);
            let place = self.same_runner(path.last(), &out, (place, runner));
            let taken = out.into_iter().nth(place as usize)?;
            runner = self.system.runner_after(path.last(), &taken.action, &taken.state);
            let Successor { action, state, failure } = taken;
            path.steps.push(PathStep { action, place: Some(place), state, failure });
        }
        Some(path)
    }

    /// Of equal threads, returns the transition of the one that ran last: a state does not tell
    /// them apart, a run does.
    fn same_runner(
        &self,
        state: &S::State,
        out: &[Successor<S::State, S::Action>],
        (place, last): (u32, Option<u64>),
    ) -> u32 {
        let runner = |one: &Successor<_, _>| self.system.runner(state, &one.action);
        let Some(taken) = out.get(place as usize) else { return place };
        if self.place.is_some() || last.is_none() || runner(taken) == last {
            return place;
        }
        let target = self.system.fingerprint(&taken.state);
        let same = out.iter().position(|one| {
            runner(one) == last
                && one.failure == taken.failure
                && self.system.fingerprint(&one.state) == target
        });
        same.map_or(place, |at| at as u32)
    }
}
