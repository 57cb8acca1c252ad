//! Response properties: whenever the trigger holds, the response holds then or later.
//!
//! **Problem.** Given the graph of all states, is there a fair run with a state where the trigger
//! holds, from which on the response never holds?
//!
//! **Definitions.** A run starts in an initial state and follows transitions. It may end in an
//! *end*, a state that offers no transition or only optional ones; it then stays there for ever.
//! Runs that end with a failing transition are not considered here. A fairness class is *enabled*
//! in a state if one of its transitions leaves it; a failing transition counts. A run is (weakly)
//! fair if for each class, infinitely often, the class is not enabled or one of its transitions is
//! taken.
//!
//! **Method.** Let `P` be the states on paths that start in a state with the trigger and avoid all
//! states with the response. A violation is an end in `P`, or a fair cycle within `P`. Of the
//! cycles in a strongly connected component of `P`, the one that visits all its states and
//! transitions is the fairest. So a fair one exists exactly if for each class the component has a
//! state where the class is not enabled, or a transition of the class. Paths that join or return
//! lose nothing, because `P` is a set of states, not of paths.
//!
//! **Cost.** Linear in states and transitions, for each property; fairness costs one bit for each
//! class and component. The shown cycle takes a search of its component for each class: at worst
//! classes times transitions. It polls the job between the passes, and for each class.

use crate::graph::Graph;
use crate::shortest::ShortestPaths;
use anyorder_common::scc;
use anyorder_system::{JobWatch, Stopped};
use std::collections::VecDeque;

/// A run that violates a response property, as positions of successors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Lasso {
    /// The number of the initial state, then the position of each successor.
    pub(crate) choices: Vec<u32>,
    /// The number of steps after which it repeats; `None` if it stays in its last state.
    pub(crate) repeats_from: Option<usize>,
}

/// Returns a violation of a property with the shortest path to the point where it repeats or stays.
/// Ties go to the lowest number. The graph is numbered breadth-first. Fails once the job of this
/// thread is stopped.
pub(crate) fn violation(
    graph: &Graph,
    property: usize,
    classes: usize,
    shortest: &ShortestPaths,
) -> Result<Option<Lasso>, Stopped> {
    let watch = JobWatch::current();
    let pending = Pending::new(graph, property, shortest);
    watch.check()?;
    let (component, count) = components(graph, &pending);
    watch.check()?;
    let fair = fair_components(graph, &component, count, classes);
    watch.check()?;
    let ends = |state: &u32| {
        let at = *state as usize;
        pending.contains(*state) && (graph.is_end(*state) || fair[component[at] as usize])
    };
    let states = 0..graph.len() as u32;
    let entry = states.filter(ends).min_by_key(|state| (pending.distance[*state as usize], *state));
    let Some(entry) = entry else { return Ok(None) };
    let choices = pending.choices(entry, shortest);
    if graph.is_end(entry) {
        return Ok(Some(Lasso { choices, repeats_from: None }));
    }
    let tour = FairCycle { graph, component: &component, entry, classes };
    let repeats_from = Some(choices.len() - 1);
    let places = tour.places(&watch)?;
    Ok(Some(Lasso { choices: choices.into_iter().chain(places).collect(), repeats_from }))
}

/// The states where a response is still required.
struct Pending {
    /// The length of the shortest path that triggers and does not respond; [`OUTSIDE`] if there is
    /// none.
    distance: Vec<u32>,
    /// The previous state on that path, and the position of the transition. For a state with the
    /// trigger: the state itself.
    before: Vec<(u32, u32)>,
}

impl Pending {
    fn new(graph: &Graph, property: usize, shortest: &ShortestPaths) -> Pending {
        let states = graph.len();
        let mut pending =
            Pending { distance: vec![OUTSIDE; states], before: vec![(u32::MAX, 0); states] };
        let mut triggers: Vec<(u32, u32)> = (0..states as u32)
            .filter(|state| graph.response(property, *state) == (true, false))
            .filter_map(|state| Some((shortest.distance(state)?, state)))
            .collect();
        triggers.sort_unstable();
        let mut triggers = triggers.into_iter().peekable();
        // Level by level: the states at that distance along a path, and the triggers at that
        // distance from the start.
        let mut level: Vec<u32> = Vec::new();
        let mut steps = 0;
        loop {
            if level.is_empty() {
                let Some((distance, _)) = triggers.peek() else { return pending };
                steps = *distance;
            }
            while let Some((_, state)) = triggers.next_if(|(distance, _)| *distance == steps) {
                pending.enter(state, steps, (state, 0), &mut level);
            }
            let mut next = Vec::new();
            for state in level {
                for (target, place) in graph.successors(state).zip(0..) {
                    let owed = target.filter(|target| !graph.response(property, *target).1);
                    if let Some(target) = owed {
                        pending.enter(target, steps + 1, (state, place), &mut next);
                    }
                }
            }
            level = next;
            steps += 1;
        }
    }

    fn contains(&self, state: u32) -> bool {
        self.distance[state as usize] != OUTSIDE
    }

    fn enter(&mut self, state: u32, steps: u32, before: (u32, u32), level: &mut Vec<u32>) {
        let at = state as usize;
        if !self.contains(state) {
            self.distance[at] = steps;
            self.before[at] = before;
            level.push(state);
        }
    }

    /// Returns the choices of the shortest path to a state.
    fn choices(&self, state: u32, shortest: &ShortestPaths) -> Vec<u32> {
        let mut owed = Vec::new();
        let mut current = state;
        while self.before[current as usize].0 != current {
            let (before, place) = self.before[current as usize];
            owed.push(place);
            current = before;
        }
        let (start, path) = shortest.to(current);
        let to_trigger = path.into_iter().map(|(_, place)| place);
        std::iter::once(start).chain(to_trigger).chain(owed.into_iter().rev()).collect()
    }
}

/// No distance and no component: a response is not required in the state.
const OUTSIDE: u32 = u32::MAX;

/// Returns the strongly connected component of each state where a response is required, and the
/// number of components.
fn components(graph: &Graph, pending: &Pending) -> (Vec<u32>, u32) {
    let (mut component, mut count) = (vec![OUTSIDE; graph.len()], 0);
    let roots = (0..graph.len() as u32).filter(|state| pending.contains(*state));
    let successors =
        |state| graph.successors(state).flatten().filter(|target| pending.contains(*target));
    scc::components(graph.len(), roots, successors, |found| {
        found.members.iter().for_each(|member| component[*member as usize] = count);
        count += 1;
    });
    (component, count)
}

/// Returns for each component whether a fair run can stay in it.
fn fair_components(graph: &Graph, component: &[u32], count: u32, classes: usize) -> Vec<bool> {
    let words = classes.div_ceil(64);
    let mut cyclic = vec![false; count as usize];
    let mut served = vec![0u64; count as usize * words];
    let mut enabled = vec![0u64; words];
    for state in 0..graph.len() as u32 {
        let own = component[state as usize];
        if own == OUTSIDE {
            continue;
        }
        let base = own as usize * words;
        enabled.fill(0);
        let labels = graph.classes(state);
        for (place, target) in graph.successors(state).enumerate() {
            let stays = target.is_some_and(|target| component[target as usize] == own);
            cyclic[own as usize] |= stays;
            let label = labels.get(place).map_or(usize::MAX, |label| usize::from(*label));
            if label < classes {
                enabled[label / 64] |= 1 << (label % 64);
                if stays {
                    served[base + label / 64] |= 1 << (label % 64);
                }
            }
        }
        for (served, enabled) in served[base..base + words].iter_mut().zip(&enabled) {
            *served |= !enabled;
        }
    }
    let all = |component: usize| {
        (0..classes).all(|class| served[component * words + class / 64] >> (class % 64) & 1 != 0)
    };
    (0..count as usize).map(|component| cyclic[component] && all(component)).collect()
}

/// A fair cycle through a component.
struct FairCycle<'g> {
    graph: &'g Graph,
    component: &'g [u32],
    entry: u32,
    classes: usize,
}

impl FairCycle<'_> {
    /// Returns the positions of its transitions. For each class in turn, it takes the shortest path
    /// to a state or transition that serves the class, unless the path so far serves it.
    fn places(&self, watch: &JobWatch) -> Result<Vec<u32>, Stopped> {
        let mut places = Vec::new();
        let mut served = vec![false; self.classes];
        self.serve_at(self.entry, &mut served);
        let mut current = self.entry;
        for class in 0..self.classes {
            if served[class] {
                continue;
            }
            watch.check()?;
            let wanted = |from: u32, place: usize, to: u32| {
                self.graph.classes(from).get(place) == Some(&(class as u16))
                    || !self.graph.enables(to, class as u16)
            };
            current = self.go(current, wanted, &mut places, &mut served);
        }
        if current != self.entry || places.is_empty() {
            self.go(current, |_, _, to| to == self.entry, &mut places, &mut served);
        }
        Ok(places)
    }

    fn serve_at(&self, state: u32, served: &mut [bool]) {
        for (class, served) in served.iter_mut().enumerate() {
            *served |= !self.graph.enables(state, class as u16);
        }
    }

    /// Takes the shortest path whose last transition is wanted, and returns its target.
    fn go(
        &self,
        from: u32,
        wanted: impl Fn(u32, usize, u32) -> bool,
        places: &mut Vec<u32>,
        served: &mut [bool],
    ) -> u32 {
        let own = self.component[from as usize];
        let mut before: std::collections::BTreeMap<u32, (u32, u32)> =
            std::collections::BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(state) = queue.pop_front() {
            for (place, target) in self.graph.successors(state).enumerate() {
                let Some(target) = target.filter(|one| self.component[*one as usize] == own) else {
                    continue;
                };
                if wanted(state, place, target) {
                    let mut way = vec![(state, place as u32)];
                    let mut current = state;
                    while current != from {
                        let (earlier, place) = before[&current];
                        way.push((earlier, place));
                        current = earlier;
                    }
                    for (state, place) in way.into_iter().rev() {
                        self.serve_at(state, served);
                        let label = self.graph.classes(state).get(place as usize);
                        if let Some(done) =
                            label.and_then(|label| served.get_mut(usize::from(*label)))
                        {
                            *done = true;
                        }
                        places.push(place);
                    }
                    self.serve_at(target, served);
                    return target;
                }
                if target != from && !before.contains_key(&target) {
                    before.insert(target, (state, place as u32));
                    queue.push_back(target);
                }
            }
        }
        debug_assert!(false, "a component is connected, and a fair one serves each class");
        from
    }
}
