//! Shortest ways through the explored graph, and running them.

use super::error::Error;
use super::outcome::{Path, Step};
use super::space::{NO_PARENT, Space};
use anyorder_system::{Effects, Reducible, TaskKey};
use std::collections::VecDeque;

/// A choice: a task, by its number, and which of its alternatives.
pub(crate) type Choice = (u32, u32);

/// For each state its distance from an initial state, and the last step of a shortest way.
pub(crate) struct Ways {
    pub(crate) distance: Vec<u32>,
    /// The state before, and the place of the edge among all.
    via: Vec<(u32, u32)>,
}

impl Ways {
    /// Breadth-first through the whole explored graph. Linear.
    pub(crate) fn of<T>(space: &Space<T>) -> Ways {
        let states = space.nodes.len();
        let mut ways = Ways { distance: vec![u32::MAX; states], via: vec![(NO_PARENT, 0); states] };
        let mut queue = VecDeque::new();
        for (node, number) in space.nodes.iter().zip(0u32..) {
            if node.link.parent == NO_PARENT {
                ways.distance[number as usize] = 0;
                queue.push_back(number);
            }
        }
        while let Some(number) = queue.pop_front() {
            let start = space.edges_start(number) as u32;
            for (edge, place) in space.edges(number).iter().zip(start..) {
                let Some(target) = edge.state() else { continue };
                if ways.distance[target as usize] == u32::MAX {
                    ways.distance[target as usize] = ways.distance[number as usize] + 1;
                    ways.via[target as usize] = (number, place);
                    queue.push_back(target);
                }
            }
        }
        ways
    }

    /// Returns the initial state's place and the choices of a shortest way to a state.
    pub(crate) fn to<T>(&self, space: &Space<T>, mut number: u32) -> (u32, Vec<Choice>) {
        let mut choices = Vec::new();
        while self.via[number as usize].0 != NO_PARENT {
            let (before, place) = self.via[number as usize];
            choices.push(choice(space, before, place));
            number = before;
        }
        choices.reverse();
        (space.nodes[number as usize].link.alternative, choices)
    }
}

/// Returns the choice that an edge of a state is.
pub(crate) fn choice<T>(space: &Space<T>, number: u32, place: u32) -> Choice {
    let edges = &space.edges[space.edges_start(number)..=place as usize];
    let task = edges.last().map_or(0, |edge| edge.task);
    let same = edges.iter().rev().take_while(|edge| edge.task == task).count() as u32;
    (task, same.saturating_sub(1))
}

/// Runs choices from an initial state.
pub(crate) fn run<S: Reducible>(
    system: &S,
    start: u32,
    choices: impl IntoIterator<Item = (TaskKey, u32)>,
) -> Result<Path<S>, Error> {
    let initial = system.initial().into_iter().nth(start as usize).ok_or(Error::NoInitialState)?;
    let mut path = Path { start, initial, steps: Vec::new() };
    let mut effects = Effects::default();
    for (task, alternative) in choices {
        effects.clear();
        system.run(path.last(), task, &mut effects);
        let successor = effects.successors.drain(..).nth(alternative as usize);
        let Some(successor) = successor else {
            return Err(Error::NotRepeatable { task: system.task_name(path.last(), task) });
        };
        let (action, state, failure) = (successor.action, successor.state, successor.failure);
        path.steps.push(Step { task, alternative, action, state, failure });
    }
    Ok(path)
}
