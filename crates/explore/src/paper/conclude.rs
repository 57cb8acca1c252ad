//! From what a search remembers to what it says.

use super::engine::Engine;
use super::graph::Kind;
use super::outcome::{Edge, Outcome, Trail};
use crate::stateful::{Error, Finding, Path, Property, Step};
use anyorder_system::{Effects, Reducible};
use std::collections::VecDeque;

/// Not reached.
const FAR: u32 = u32::MAX;

/// A shortest way to each state: its length, and the transition that it ends with.
struct Ways {
    distance: Vec<u32>,
    last: Vec<Option<u32>>,
}

impl<S: Reducible> Engine<'_, S> {
    /// Makes the outcome.
    pub(crate) fn conclude(mut self) -> Result<Outcome<S>, Error> {
        let ends = self.ends();
        self.stats.ends = ends.len() as u64;
        let ways = self.ways();
        let nearest = |states: &mut dyn Iterator<Item = u32>| {
            states.min_by_key(|state| (ways.distance[*state as usize], *state))
        };
        // The property, the state, and the failing transition from it.
        let mut found: Vec<(Property, u32, Option<u32>)> = Vec::new();
        for (message, transitions) in &self.failures {
            // One that was cut off has a number and no transition.
            let there = transitions.iter().filter(|one| self.fails(**one));
            let from = |number: &&u32| self.graph.transition(**number).src;
            let first = there.min_by_key(|one| (ways.distance[from(one) as usize], **one));
            if let Some(number) = first {
                found.push((Property::Failure(message.clone()), from(&number), Some(*number)));
            }
        }
        for (invariant, states) in &self.broken {
            if let Some(state) = nearest(&mut states.iter().copied()) {
                found.push((Property::Invariant(*invariant), state, None));
            }
        }
        if self.options.deadlocks {
            for property in [Property::Deadlock, Property::Final] {
                let of = |(state, stuck): &(u32, Option<bool>)| {
                    (*stuck == Some(property == Property::Deadlock)).then_some(*state)
                };
                if let Some(state) = nearest(&mut ends.iter().filter_map(of)) {
                    found.push((property, state, None));
                }
            }
        }
        let mut findings = Vec::new();
        for (property, state, last) in found {
            if ways.distance[state as usize] == FAR {
                continue;
            }
            let path = self.path(&ways, state, last)?;
            findings.push(Finding { name: self.name(&property), property, path });
        }
        findings.sort_by(|a, b| {
            (a.path.steps.len(), &a.property).cmp(&(b.path.steps.len(), &b.property))
        });
        let trail = self.options.keep_trail.then(|| self.trail());
        let (complete, limit) = (self.limit.is_none(), self.limit);
        Ok(Outcome { complete, limit, findings, stats: self.stats, trail })
    }

    fn fails(&self, number: u32) -> bool {
        let transition = self.graph.transitions.get(number as usize);
        transition.is_some_and(|one| one.kind == Kind::Fails)
    }

    /// Returns the states in which nothing can happen; where that is wrong, with whether something waits.
    fn ends(&self) -> Vec<(u32, Option<bool>)> {
        let nodes = self.graph.nodes.iter().zip(0..);
        nodes.filter_map(|(node, number)| node.end.map(|end| (number, end))).collect()
    }

    fn name(&self, property: &Property) -> String {
        match property {
            Property::Failure(message) => message.clone(),
            Property::Invariant(index) => {
                self.system.invariants().into_iter().nth(*index).unwrap_or_default()
            }
            Property::Deadlock => "deadlock".to_owned(),
            Property::Final => "final".to_owned(),
            Property::UpdateConflict { place, .. } => self.system.place_name(*place),
        }
    }

    /// Goes through the explored graph breadth-first.
    fn ways(&self) -> Ways {
        let count = self.graph.nodes.len();
        let mut ways = Ways { distance: vec![FAR; count], last: vec![None; count] };
        let mut queue = VecDeque::new();
        for state in &self.initial {
            if ways.distance[*state as usize] == FAR {
                ways.distance[*state as usize] = 0;
                queue.push_back(*state);
            }
        }
        while let Some(state) = queue.pop_front() {
            for number in &self.graph.node(state).outgoing {
                let dst = self.graph.transition(*number).dst as usize;
                if ways.distance[dst] == FAR {
                    ways.distance[dst] = ways.distance[state as usize] + 1;
                    ways.last[dst] = Some(*number);
                    queue.push_back(dst as u32);
                }
            }
        }
        ways
    }

    /// Runs the way to a state again, and a failing transition from there.
    fn path(&self, ways: &Ways, state: u32, last: Option<u32>) -> Result<Path<S>, Error> {
        let mut numbers: Vec<u32> = last.into_iter().collect();
        let mut at = state;
        while let Some(number) = ways.last[at as usize] {
            numbers.push(number);
            at = self.graph.transition(number).src;
        }
        let start = self.initial.iter().position(|one| *one == at).unwrap_or(0);
        let initial = self.system.initial().into_iter().nth(start).ok_or(Error::NoInitialState)?;
        let mut path = Path { start: start as u32, initial, steps: Vec::new() };
        for number in numbers.into_iter().rev() {
            let transition = self.graph.transition(number);
            let task = self.graph.tasks[transition.event as usize];
            let mut effects = Effects::default();
            self.system.run(path.last(), task, &mut effects);
            let successor = effects.successors.into_iter().nth(transition.alternative as usize);
            let other = || {
                let task = self.system.task_name(path.last(), task);
                Error::NotRepeatable { task }
            };
            let successor = successor.ok_or_else(other)?;
            if successor.failure.is_some() != (transition.kind == Kind::Fails) {
                return Err(other());
            }
            path.steps.push(Step {
                task,
                alternative: transition.alternative,
                action: successor.action,
                state: successor.state,
                failure: successor.failure,
            });
        }
        Ok(path)
    }

    fn trail(&mut self) -> Trail {
        let steps = self.graph.transitions.iter().filter(|one| one.kind != Kind::Observed);
        let edge = |one: &super::graph::Transition| Edge {
            from: self.graph.node(one.src).fingerprint,
            task: self.graph.tasks[one.event as usize],
            to: (one.kind == Kind::Step).then(|| self.graph.node(one.dst).fingerprint),
        };
        let edges = steps.map(edge).collect();
        let points = self.points.iter().copied().collect();
        Trail { executed: std::mem::take(&mut self.executed), points, edges }
    }
}
