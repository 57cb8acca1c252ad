//! The stays of a graph: terminal strongly connected components in which no run can end.

use super::ExploredGraph;
use crate::shortest::ShortestPaths;
use anyorder_common::scc;
use anyorder_system::StateSystem;
use std::collections::BTreeMap;

/// In place of the number of a stay.
pub(super) const NO_STAY: u32 = u32::MAX;

/// The stays of a graph in which some run ends.
pub(super) struct Stays {
    pub(super) count: usize,
    /// The stay of each state, or [`NO_STAY`].
    pub(super) stay_of: Vec<u32>,
}

impl Stays {
    /// Returns `None` if there is no stay, or no run ends.
    pub(super) fn of<S: StateSystem, G: ExploredGraph<S>>(graph: &G) -> Option<Stays> {
        let states = graph.states() as u32;
        let mut is_end: Vec<bool> = (0..states).map(|state| graph.is_end(state)).collect();
        graph.deadlocks().into_iter().for_each(|state| is_end[state as usize] = false);
        if !is_end.contains(&true) {
            return None;
        }
        let targets = |state: u32| graph.steps(state).filter_map(|(_, target)| target);
        // The state with the greatest number in a terminal component leads to no greater one.
        let roots = (0..states).filter(|root| !targets(*root).any(|target| target > *root));
        let (mut stay_of, mut count) = (vec![NO_STAY; states as usize], 0);
        scc::components(states as usize, roots, targets, |component| {
            let members = component.members;
            let mut steps = members.iter().flat_map(|state| graph.steps(*state)).peekable();
            let is_stay = component.is_terminal
                && steps.peek().is_some()
                && steps.all(|(_, target)| target.is_some())
                && !members.iter().any(|state| graph.is_end(*state));
            if is_stay {
                members.iter().for_each(|state| stay_of[*state as usize] = count);
                count += 1;
            }
        });
        (count > 0).then_some(Stays { count: count as usize, stay_of })
    }

    /// Returns for each stay the state that is reached first, after its distance.
    pub(super) fn entries(&self, shortest: &ShortestPaths) -> BTreeMap<u32, (u32, u32)> {
        let mut entries: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        for (stay, state) in self.stay_of.iter().zip(0..).filter(|(stay, _)| **stay != NO_STAY) {
            let Some(distance) = shortest.distance(state) else { continue };
            let known = entries.entry(*stay).or_insert((distance, state));
            *known = (*known).min((distance, state));
        }
        entries
    }
}

/// Returns for each state whether an end that is no deadlock can be reached from it.
pub(super) fn can_end<S: StateSystem, G: ExploredGraph<S>>(graph: &G) -> Vec<bool> {
    let states = graph.states();
    let targets = |state: u32| graph.steps(state).filter_map(|(_, target)| target);
    // The sources of each state, one list after the other.
    let mut first = vec![0u64; states + 1];
    for target in (0..states as u32).flat_map(targets) {
        first[target as usize + 1] += 1;
    }
    for state in 0..states {
        first[state + 1] += first[state];
    }
    let mut next = first.clone();
    let mut sources = vec![0u32; first[states] as usize];
    for state in 0..states as u32 {
        for target in targets(state) {
            let at = &mut next[target as usize];
            sources[*at as usize] = state;
            *at += 1;
        }
    }
    let mut can: Vec<bool> = (0..states as u32).map(|state| graph.is_end(state)).collect();
    graph.deadlocks().into_iter().for_each(|state| can[state as usize] = false);
    let mut stack: Vec<u32> = (0..states as u32).filter(|state| can[*state as usize]).collect();
    while let Some(state) = stack.pop() {
        let (from, to) = (first[state as usize] as usize, first[state as usize + 1] as usize);
        for source in &sources[from..to] {
            if !std::mem::replace(&mut can[*source as usize], true) {
                stack.push(*source);
            }
        }
    }
    can
}
