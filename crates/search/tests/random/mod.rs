//! Random transition systems, and their properties by definition.

#![allow(dead_code, unreachable_pub, reason = "each test uses some of it")]

pub mod livelocks;

use anyorder_search::Path;
use anyorder_system::{
    Actor, Actors, Cancel, Classes, End, FailureSite, Hash128, JobWatch, PlaceOfStep, Properties,
    Role, StateHash, StateSystem, StopReason, Successor,
};
use livelocks::{Definition, Livelocks, Move, Who, Without};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Debug)]
pub struct Edge {
    pub to: u32,
    pub failure: Option<u8>,
    pub class: Option<usize>,
    /// Of six parts; 6 is none.
    pub part: usize,
    /// It need not come.
    pub optional: bool,
}

#[derive(Debug, Default)]
pub struct RandomSystem {
    pub initial: Vec<u32>,
    pub edges: Vec<Vec<Edge>>,
    pub last: Vec<bool>,
    /// Whether the program may end in the state if something optional can happen there.
    pub rests: Vec<bool>,
    pub broken: Vec<[bool; 2]>,
    pub responses: Vec<Vec<(bool, bool)>>,
    pub classes: usize,
    /// Whether the program says where it may end.
    pub must_end: bool,
    /// Who each part is.
    pub who: Vec<Who>,
    /// Fingerprints are numbers below this, if given.
    pub weak: Option<u32>,
    /// Stops the search after so many calls.
    pub stop_after: Option<(AtomicU64, Cancel)>,
    /// It polls in its calls, and once the job is stopped its answers are wrong.
    pub lies: bool,
}

pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    pub fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }
}

/// The features of a system: each occurs one time in so many.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub states: u32,
    pub branches: u64,
    pub failures: u64,
    pub ends: u64,
    pub broken: u64,
    pub triggers: u64,
    pub answers: u64,
    pub classes: usize,
    pub properties: usize,
    /// Transitions mostly lead to states with close numbers, so that paths are long.
    pub near: u64,
}

impl RandomSystem {
    pub fn new(seed: u64, shape: Shape) -> RandomSystem {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..4 {
            random.below(2);
        }
        let mut system = RandomSystem { classes: shape.classes, ..RandomSystem::default() };
        for _ in 0..1 + random.below(3) {
            system.initial.push(random.below(u64::from(shape.states).min(10)) as u32);
        }
        for state in 0..shape.states {
            let count =
                if random.one_in(shape.ends) { 0 } else { 1 + random.below(shape.branches) };
            let edges = (0..count).map(|_| {
                let to = if random.one_in(8) {
                    random.below(shape.states.into()) as u32
                } else {
                    let step = random.below(2 * shape.near + 1) as i64 - shape.near as i64 / 2;
                    (i64::from(state) + step).rem_euclid(shape.states.into()) as u32
                };
                let class = (shape.classes > 0 && !random.one_in(5))
                    .then(|| random.below(shape.classes as u64) as usize);
                let failure = random.one_in(shape.failures).then(|| random.below(3) as u8);
                Edge { to, failure, class, part: random.below(7) as usize, optional: false }
            });
            let edges = edges.collect();
            system.edges.push(edges);
            system.last.push(!random.one_in(2));
            system.broken.push([random.one_in(shape.broken), random.one_in(shape.broken * 3)]);
            let flags = (0..shape.properties)
                .map(|_| (random.one_in(shape.triggers), random.one_in(shape.answers)));
            system.responses.push(flags.collect());
        }
        // In every second system some transitions are optional; in some states all.
        for state in 0..shape.states as usize {
            system.rests.push(!random.one_in(3));
            let (all, some) = (random.one_in(6), random.one_in(2));
            for edge in &mut system.edges[state] {
                edge.optional = seed.is_multiple_of(2) && (all || some && random.one_in(2));
                // Mostly, what is optional has no class of fairness.
                if edge.optional && !random.one_in(8) {
                    edge.class = None;
                }
            }
        }
        system.must_end = random.one_in(3);
        for _ in 0..7 {
            system.who.push(match random.below(12) {
                0 | 1 => Who::Input,
                2 | 3 => Who::Daemon,
                _ => Who::Worker,
            });
        }
        system
    }
}

impl RandomSystem {
    /// Returns what takes an action.
    fn place(&self, (_, part, optional): (Option<usize>, usize, bool)) -> PlaceOfStep {
        let site = FailureSite { file: "f".to_owned(), line: 1 + u32::from(optional), column: 1 };
        PlaceOfStep { kind: "part", part: format!("{part}"), site: Some(site) }
    }

    /// The reachable states for the definition of livelocks, with the number of each.
    pub fn definition(&self) -> (Definition, BTreeMap<u32, usize>) {
        let mut number: BTreeMap<u32, usize> = BTreeMap::new();
        let mut order: Vec<u32> = Vec::new();
        let mut enter = |state: u32, order: &mut Vec<u32>| {
            *number.entry(state).or_insert_with(|| {
                order.push(state);
                order.len() - 1
            })
        };
        let initial = self.initial.iter().map(|state| enter(*state, &mut order)).collect();
        let must_end = self.must_end;
        let mut definition = Definition { initial, must_end, ..Definition::default() };
        let mut at = 0;
        while at < order.len() {
            let state = order[at];
            at += 1;
            let edges = &self.edges[state as usize];
            let moves = edges.iter().map(|edge| {
                let place = self.place((edge.class, edge.part, edge.optional));
                Move {
                    to: edge.failure.is_none().then(|| enter(edge.to, &mut order)),
                    part: place.part.clone(),
                    place: format!("{place:?}"),
                    who: self.who[edge.part],
                }
            });
            definition.moves.push(moves.collect());
            definition.ends.push(self.is_end(state));
            let dead = edges.is_empty() && !self.last[state as usize] && state.is_multiple_of(2);
            definition.deadlocks.push(dead);
        }
        (definition, number)
    }

    /// Returns whether a run may end in a state, by definition.
    pub fn is_end(&self, state: u32) -> bool {
        self.edges[state as usize].iter().all(|edge| edge.optional)
    }

    /// What waits in a state.
    pub fn waits(&self, state: u32) -> String {
        format!("place {}", state / 2 % 4)
    }

    /// Polls as a system does inside a long call.
    fn is_interrupted(&self) -> bool {
        self.lies && JobWatch::current().check().is_err()
    }
}

impl StateSystem for RandomSystem {
    type State = u32;
    type Action = (Option<usize>, usize, bool);

    fn initial(&self) -> Vec<u32> {
        self.initial.clone()
    }

    fn successors(&self, state: &u32, out: &mut Vec<Successor<u32, Self::Action>>) {
        if let Some((left, cancel)) = &self.stop_after
            && left.fetch_sub(1, Ordering::Relaxed) == 1
        {
            cancel.stop(StopReason::Interrupted);
        }
        if self.is_interrupted() {
            return;
        }
        for edge in &self.edges[*state as usize] {
            let failure = edge.failure.map(|kind| format!("failure {kind}").into());
            let action = (edge.class, edge.part, edge.optional);
            out.push(Successor { action, state: edge.to, failure });
        }
    }

    fn fingerprint(&self, state: &u32) -> Hash128 {
        match self.weak {
            Some(bound) => Hash128(u128::from(state % bound) << 64),
            None => StateHash::of(state),
        }
    }

    fn encode(&self, state: &u32, out: &mut Vec<u8>) {
        out.extend_from_slice(&state.to_be_bytes());
    }

    fn decode(&self, bytes: &[u8]) -> Option<u32> {
        let state = u32::from_be_bytes(bytes.try_into().ok()?);
        ((state as usize) < self.edges.len()).then_some(state)
    }

    fn properties(&self) -> Properties<'_, u32> {
        let end = |state: &u32| match (self.last[*state as usize], state.is_multiple_of(2)) {
            _ if self.is_interrupted() => End::Wrong,
            (true, _) => End::Fine,
            (false, true) => End::Deadlock,
            (false, false) => End::Wrong,
        };
        let holds = |index: usize| {
            move |state: &u32| !self.broken[*state as usize][index] && !self.is_interrupted()
        };
        let properties = Properties::new().end(end);
        let rest = |state: &u32| self.rests[*state as usize] && !self.is_interrupted();
        let properties = properties.rest(rest).waits(|state| self.waits(*state));
        let properties = properties.invariant("first", holds(0)).invariant("second", holds(1));
        (0..self.responses[0].len()).fold(properties, |properties, index| {
            let holds = move |state: &u32| match self.is_interrupted() {
                true => (true, false),
                false => self.responses[*state as usize][index],
            };
            properties.response(format!("response {index}"), holds)
        })
    }

    fn fairness(&self) -> Classes<'_, Self::Action> {
        Classes::new(
            (0..self.classes).map(|class| format!("class {class}")).collect(),
            |one: &Self::Action| one.0,
        )
    }

    fn is_optional(&self, action: &Self::Action) -> bool {
        action.2
    }

    fn actors(&self) -> Option<Actors<'_, u32, Self::Action>> {
        Some(Actors::new(self.must_end, |_, action: &Self::Action| Actor {
            place: self.place(*action),
            role: match self.who[action.1] {
                Who::Input => Role::Input,
                Who::Daemon => Role::Daemon,
                Who::Worker => Role::Worker,
            },
        }))
    }

    fn parts(&self) -> Classes<'_, Self::Action> {
        let names = (0..6).map(|part| format!("part {part}")).collect();
        Classes::new(names, |action: &Self::Action| Some(action.1).filter(|part| *part < 6))
    }

    fn describe(&self, state: &u32, action: &Self::Action) -> String {
        format!("{state}: {action:?}")
    }

    fn show(&self, state: &u32) -> Vec<(String, String)> {
        vec![("state".to_owned(), state.to_string())]
    }
}

/// The properties of a system, computed by visiting its states in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Truth {
    pub states: u64,
    pub transitions: u64,
    pub max_depth: u64,
    pub widest: u64,
    /// The first shortest path to each violation, as choices.
    pub violations: BTreeMap<String, Vec<u32>>,
    pub never_run: Vec<usize>,
    /// For each response property, the number of steps to the point where a violation repeats or
    /// stays.
    pub responses: Vec<Option<usize>>,
    pub livelocks: Livelocks,
}

pub fn truth(system: &RandomSystem) -> Truth {
    let mut truth = Truth::default();
    let mut ways: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut queue: VecDeque<u32> = VecDeque::new();
    let mut note = |name: String, way: Vec<u32>| {
        let known = truth.violations.entry(name).or_insert_with(|| way.clone());
        if way.len() < known.len() {
            *known = way;
        }
    };
    let mut levels: BTreeMap<usize, u64> = BTreeMap::new();
    let mut enter = |state: u32, way: Vec<u32>, note: &mut dyn FnMut(String, Vec<u32>)| {
        if ways.contains_key(&state) {
            return None;
        }
        for invariant in 0..2 {
            if system.broken[state as usize][invariant] {
                note(["first", "second"][invariant].to_owned(), way.clone());
            }
        }
        *levels.entry(way.len() - 1).or_default() += 1;
        ways.insert(state, way.clone());
        Some((state, way))
    };
    let mut known: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (state, place) in system.initial.iter().zip(0..) {
        if let Some((state, way)) = enter(*state, vec![place], &mut note) {
            known.insert(state, way);
            queue.push_back(state);
        }
    }
    let mut parts = BTreeSet::new();
    let mut transitions = 0;
    while let Some(state) = queue.pop_front() {
        let way = known[&state].clone();
        let edges = &system.edges[state as usize];
        if edges.is_empty() && !system.last[state as usize] {
            let deadlock = format!("deadlock {}", system.waits(state));
            let what = if state.is_multiple_of(2) { deadlock } else { "final".to_owned() };
            note(what, way.clone());
        }
        if !edges.is_empty() && system.is_end(state) && !system.rests[state as usize] {
            note("final".to_owned(), way.clone());
        }
        for (edge, place) in edges.iter().zip(0..) {
            transitions += 1;
            parts.insert(edge.part);
            let next: Vec<u32> = way.iter().copied().chain([place]).collect();
            if let Some(kind) = edge.failure {
                note(format!("failure {kind}"), next);
            } else if let Some((state, way)) = enter(edge.to, next, &mut note) {
                known.insert(state, way);
                queue.push_back(state);
            }
        }
    }
    truth.states = known.len() as u64;
    truth.transitions = transitions;
    truth.max_depth = levels.keys().last().copied().unwrap_or(0) as u64;
    truth.widest = levels.values().copied().max().unwrap_or(0);
    truth.never_run = (0..6).filter(|part| !parts.contains(part)).collect();
    truth.livelocks = system.definition().0.livelocks(Without::Nothing);
    truth.responses =
        (0..system.responses[0].len()).map(|property| response_truth(system, property)).collect();
    truth
}

/// The definition: states with a bit that records whether the response is still required; from each
/// such state, walks that return after serving every class, with the served classes as part of what
/// is walked through.
fn response_truth(system: &RandomSystem, property: usize) -> Option<usize> {
    let flags = |state: u32| system.responses[state as usize][property];
    let owes = |state: u32, owed: bool| !flags(state).1 && (owed || flags(state).0);
    let mut distance: BTreeMap<(u32, bool), usize> = BTreeMap::new();
    let mut queue = VecDeque::new();
    for state in &system.initial {
        let node = (*state, owes(*state, false));
        if distance.insert(node, 0).is_none() {
            queue.push_back(node);
        }
    }
    while let Some((state, owed)) = queue.pop_front() {
        let steps = distance[&(state, owed)] + 1;
        for edge in system.edges[state as usize].iter().filter(|edge| edge.failure.is_none()) {
            let node = (edge.to, owes(edge.to, owed));
            if let std::collections::btree_map::Entry::Vacant(entry) = distance.entry(node) {
                entry.insert(steps);
                queue.push_back(node);
            }
        }
    }
    let mut best: Option<usize> = None;
    let mut by_distance: Vec<(usize, u32)> = distance
        .iter()
        .filter(|((_, owed), _)| *owed)
        .map(|((state, _), steps)| (*steps, *state))
        .collect();
    by_distance.sort_unstable();
    for (steps, state) in by_distance {
        if best.is_none() && (system.is_end(state) || fair_cycle(system, property, state)) {
            best = Some(steps);
        }
    }
    best
}

fn disabled(system: &RandomSystem, state: u32) -> u32 {
    let enabled = system.edges[state as usize].iter().filter_map(|edge| edge.class);
    enabled.fold((1 << system.classes) - 1, |served, class| served & !(1 << class))
}

fn fair_cycle(system: &RandomSystem, property: usize, start: u32) -> bool {
    let all = (1u32 << system.classes) - 1;
    let mut seen = BTreeSet::new();
    let mut queue = VecDeque::from([(start, disabled(system, start))]);
    while let Some((state, served)) = queue.pop_front() {
        for edge in system.edges[state as usize].iter().filter(|edge| edge.failure.is_none()) {
            if system.responses[edge.to as usize][property].1 {
                continue;
            }
            let served =
                served | disabled(system, edge.to) | edge.class.map_or(0, |class| 1 << class);
            if edge.to == start && served == all {
                return true;
            }
            if seen.insert((edge.to, served)) {
                queue.push_back((edge.to, served));
            }
        }
    }
    false
}

/// Returns the fault of a claimed violation of a response property, by definition.
pub fn lasso_fault(
    system: &RandomSystem,
    property: usize,
    path: &Path<RandomSystem>,
) -> Option<String> {
    let flags = |state: u32| system.responses[state as usize][property];
    let states: Vec<u32> =
        std::iter::once(path.initial).chain(path.steps.iter().map(|step| step.state)).collect();
    if path.steps.iter().any(|step| step.failure.is_some()) {
        return Some("a step fails".to_owned());
    }
    let owed_from = (0..states.len()).rev().take_while(|at| !flags(states[*at]).1).last();
    let Some(owed_from) = owed_from else { return Some("it ends in the response".to_owned()) };
    let end = path.repeats_from.unwrap_or(states.len() - 1);
    let triggered = (owed_from..=end).any(|at| flags(states[at]).0);
    if !triggered {
        return Some("nothing triggers before it repeats".to_owned());
    }
    let Some(from) = path.repeats_from else {
        let last = states[states.len() - 1];
        return (!system.is_end(last)).then(|| "it has to go on".to_owned());
    };
    if from >= path.steps.len() || states[from] != states[states.len() - 1] {
        return Some("it does not come back".to_owned());
    }
    for class in 0..system.classes {
        let taken = path.steps[from..].iter().any(|step| step.action.0 == Some(class));
        let idle = states[from..].iter().any(|state| disabled(system, *state) >> class & 1 != 0);
        if !taken && !idle {
            return Some(format!("unfair to class {class}"));
        }
    }
    None
}

/// Returns the fault of a claimed livelock, by definition, but for its places.
pub fn livelock_fault(system: &RandomSystem, path: &Path<RandomSystem>) -> Option<String> {
    let Some(from) = path.repeats_from else { return Some("it does not repeat".to_owned()) };
    let states: Vec<u32> =
        std::iter::once(path.initial).chain(path.steps.iter().map(|step| step.state)).collect();
    if from >= path.steps.len() || states[from] != states[states.len() - 1] {
        return Some("it does not come back".to_owned());
    }
    if states[from..].iter().any(|state| system.is_end(*state)) {
        return Some("it may end".to_owned());
    }
    let (definition, number) = system.definition();
    let stays = definition.stays(Without::Nothing);
    if !stays.iter().any(|stay| stay.contains(&number[&states[from]])) {
        return Some("it can be left".to_owned());
    }
    for class in 0..system.classes {
        let taken = path.steps[from..].iter().any(|step| step.action.0 == Some(class));
        let idle = states[from..].iter().any(|state| disabled(system, *state) >> class & 1 != 0);
        if !taken && !idle {
            return Some(format!("unfair to class {class}"));
        }
    }
    None
}
