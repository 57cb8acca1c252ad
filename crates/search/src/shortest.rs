//! Shortest paths through a graph of numbered states.

use std::collections::VecDeque;

const NONE: u32 = u32::MAX;

/// For each state its distance from an initial state, and the last transition of a shortest path to
/// it.
#[derive(Clone, Debug)]
pub struct ShortestPaths {
    distance: Vec<u32>,
    /// The previous state, and the number of the transition; [`NONE`] for an initial state.
    via: Vec<(u32, u32)>,
}

impl ShortestPaths {
    /// Searches a graph breadth-first, given the transitions of each state: number and target of
    /// each. Linear.
    pub fn of<I: Iterator<Item = (u32, u32)>>(
        states: usize,
        initial: impl IntoIterator<Item = u32>,
        mut transitions: impl FnMut(u32) -> I,
    ) -> ShortestPaths {
        let (mut distance, mut via) = (vec![NONE; states], vec![(NONE, 0); states]);
        let mut queue = VecDeque::new();
        for state in initial {
            if std::mem::replace(&mut distance[state as usize], 0) == NONE {
                queue.push_back(state);
            }
        }
        while let Some(state) = queue.pop_front() {
            for (transition, target) in transitions(state) {
                if distance[target as usize] == NONE {
                    distance[target as usize] = distance[state as usize] + 1;
                    via[target as usize] = (state, transition);
                    queue.push_back(target);
                }
            }
        }
        ShortestPaths { distance, via }
    }

    /// Returns the number of steps to a state; `None` if it cannot be reached.
    #[must_use]
    pub fn distance(&self, state: u32) -> Option<u32> {
        Some(self.distance[state as usize]).filter(|distance| *distance != NONE)
    }

    /// Returns the initial state of a shortest path to a state, and its transitions: the previous
    /// state and the number of each.
    #[must_use]
    pub fn to(&self, mut state: u32) -> (u32, Vec<(u32, u32)>) {
        let mut path = Vec::new();
        while self.via[state as usize].0 != NONE {
            path.push(self.via[state as usize]);
            state = self.via[state as usize].0;
        }
        path.reverse();
        (state, path)
    }
}
