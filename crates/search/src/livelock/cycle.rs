//! A fair cycle inside a stay.

use anyorder_system::{Classes, Hash128, JobWatch, StateSystem, Stopped, Successor};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The fairness classes of transitions, by state and number.
pub(super) type ClassesOfSteps = BTreeMap<(u32, u32), usize>;

/// A cycle through a state of a stay that takes a transition of each class which takes any there.
pub(super) struct FairCycle<'g> {
    /// The transitions of a state of the stay: the number and the target of each.
    pub(super) targets: &'g dyn Fn(u32) -> Vec<(u32, u32)>,
    pub(super) entry: u32,
    pub(super) classes: &'g ClassesOfSteps,
}

impl FairCycle<'_> {
    /// Returns its transitions: the state before each, and its number. For each class in turn, it
    /// takes the shortest path whose last transition is of that class, unless one was taken.
    pub(super) fn steps(&self, watch: &JobWatch) -> Result<Vec<(u32, u32)>, Stopped> {
        let mut steps = Vec::new();
        let mut current = self.entry;
        let all: BTreeSet<usize> = self.classes.values().copied().collect();
        for class in all {
            watch.check()?;
            if steps.iter().any(|step| self.classes.get(step) == Some(&class)) {
                continue;
            }
            let wanted = |step: (u32, u32), _| self.classes.get(&step) == Some(&class);
            current = self.go(current, wanted, &mut steps);
        }
        if current != self.entry || steps.is_empty() {
            self.go(current, |_, to| to == self.entry, &mut steps);
        }
        Ok(steps)
    }

    /// Takes the shortest path whose last transition is wanted, and returns its target.
    fn go(
        &self,
        from: u32,
        wanted: impl Fn((u32, u32), u32) -> bool,
        steps: &mut Vec<(u32, u32)>,
    ) -> u32 {
        let mut before: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(state) = queue.pop_front() {
            for (place, target) in (self.targets)(state) {
                if wanted((state, place), target) {
                    let mut way = vec![(state, place)];
                    let mut current = state;
                    while current != from {
                        let step = before[&current];
                        way.push(step);
                        current = step.0;
                    }
                    steps.extend(way.into_iter().rev());
                    return target;
                }
                if target != from && !before.contains_key(&target) {
                    before.insert(target, (state, place));
                    queue.push_back(target);
                }
            }
        }
        debug_assert!(false, "a component is connected");
        from
    }
}

/// Returns a fair cycle through a state of a stay, as positions of successors. It expands all
/// states of the stay: for graphs of representatives, whose cycles need not be cycles of states,
/// nor be fair to each of the parts that they exchange.
pub(crate) fn cycle_of_states<S: StateSystem>(
    system: &S,
    entry: &S::State,
    fairness: &Classes<'_, S::Action>,
    watch: &JobWatch,
) -> Result<Vec<u32>, Stopped> {
    let mut numbers: FxHashMap<Hash128, u32> = FxHashMap::default();
    numbers.insert(system.fingerprint(entry), 0);
    let mut queue = VecDeque::from([entry.clone()]);
    let mut targets: Vec<Vec<(u32, u32)>> = Vec::new();
    let mut classes = ClassesOfSteps::new();
    let mut successors: Vec<Successor<S::State, S::Action>> = Vec::new();
    while let Some(state) = queue.pop_front() {
        watch.check()?;
        let number = targets.len() as u32;
        system.successors(&state, &mut successors);
        let mut steps = Vec::with_capacity(successors.len());
        for (one, place) in successors.drain(..).zip(0..) {
            let next = numbers.len() as u32;
            let target = *numbers.entry(system.fingerprint(&one.state)).or_insert(next);
            if target == next {
                queue.push_back(one.state);
            }
            steps.push((place, target));
            let class = fairness.of(&one.action);
            classes.extend(class.map(|class| ((number, place), class)));
        }
        targets.push(steps);
    }
    let targets = |state: u32| targets[state as usize].clone();
    let cycle = FairCycle { targets: &targets, entry: 0, classes: &classes };
    Ok(cycle.steps(watch)?.into_iter().map(|(_, place)| place).collect())
}
