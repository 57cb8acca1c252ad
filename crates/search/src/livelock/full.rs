//! The graph of a full search, whose states can be made again.

use super::{EachStep, ExploredGraph};
use crate::graph::Graph;
use anyorder_system::{StateSystem, Successor};

/// The graph of a full search, numbered breadth-first.
pub(crate) struct FullGraph<'g, S> {
    pub(crate) system: &'g S,
    pub(crate) graph: &'g Graph,
    /// The position of each initial state among those of the system.
    pub(crate) initial: Vec<u32>,
    /// Whether states are representatives.
    pub(crate) symmetry: bool,
}

impl<S: StateSystem> FullGraph<'_, S> {
    fn represent(&self, state: S::State) -> S::State {
        let representative = self.symmetry.then(|| self.system.representative(&state)).flatten();
        representative.unwrap_or(state)
    }
}

impl<S: StateSystem> ExploredGraph<S> for FullGraph<'_, S> {
    fn states(&self) -> usize {
        self.graph.len()
    }

    fn is_end(&self, state: u32) -> bool {
        self.graph.is_known(state) && self.graph.is_end(state)
    }

    fn deadlocks(&self) -> Vec<u32> {
        self.graph.deadlocks().to_vec()
    }

    fn steps(&self, state: u32) -> impl Iterator<Item = (u32, Option<u32>)> {
        self.graph.successors(state).zip(0..).map(|(target, place)| (place, target))
    }

    fn initial(&self) -> Vec<(u32, S::State)> {
        let all = self.system.initial();
        let numbered = self.initial.iter().zip(0..);
        let state = |place: u32| Some(self.represent(all.get(place as usize)?.clone()));
        numbered.filter_map(|(place, number)| Some((number, state(*place)?))).collect()
    }

    fn expand(&self, _number: u32, state: &S::State, each: &mut EachStep<'_, S>) {
        let mut successors: Vec<Successor<S::State, S::Action>> = Vec::new();
        self.system.successors(state, &mut successors);
        for (one, place) in successors.into_iter().zip(0..) {
            if one.failure.is_none() {
                each(place, &one.action, self.represent(one.state));
            }
        }
    }
}
