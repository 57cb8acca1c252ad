//! Builds the outcome of a search.

use super::engine::Engine;
use super::graph::Kind;
use super::outcome::{Backtracking, Edge, Outcome, Trail};
use crate::paths;
use crate::stateful::Error;
use anyorder_common::scc;
use anyorder_search::{
    DEADLOCKS_MAX, Limit, Property, ShortestPaths, Violation, never_run, sort_violations,
};
use anyorder_system::Reducible;
use std::collections::BTreeMap;

impl<S: Reducible> Engine<'_, S> {
    /// Builds the outcome.
    pub(crate) fn conclude(mut self) -> Result<Outcome<S>, Error> {
        let ends = self.graph.nodes.iter().filter(|node| node.end.is_some());
        self.counts.ends = ends.count() as u64;
        let dead =
            |end: &Option<Option<Property>>| matches!(end, Some(Some(Property::Deadlock(_))));
        let mut nodes = self.graph.nodes.iter();
        let ended = self.optional || nodes.any(|node| node.end.is_some() && !dead(&node.end));
        let shortest = self.shortest();
        let nearest = |states: &mut dyn Iterator<Item = u32>| {
            let near = states.filter_map(|state| Some((shortest.distance(state)?, state)));
            near.min().map(|(_, state)| state)
        };
        // The property, the state, and the failing transition from it.
        let mut found: Vec<(Property, u32, Option<u32>)> = Vec::new();
        for (failure, transitions) in &self.failures {
            // An event that was cut off has a number and no transition.
            let there = transitions.iter().filter(|one| self.fails(**one));
            let from = |number: u32| self.graph.transition(number).src;
            let near = there.filter_map(|one| Some((shortest.distance(from(*one))?, *one)));
            if let Some((_, number)) = near.min() {
                found.push((Property::Failure(failure.clone()), from(number), Some(number)));
            }
        }
        for (invariant, states) in &self.broken {
            if let Some(state) = nearest(&mut states.iter().copied()) {
                found.push((Property::Invariant(*invariant), state, None));
            }
        }
        if self.options.deadlocks {
            for (property, states) in self.ends() {
                if let Some(state) = nearest(&mut states.into_iter()) {
                    found.push((property, state, None));
                }
            }
        }
        let mut violations = Vec::new();
        for (property, state, last) in found {
            let (start, path) = shortest.to(state);
            let start = self.initial.iter().position(|one| *one == start).unwrap_or(0);
            let numbers = path.into_iter().map(|(_, number)| number).chain(last);
            let choice = |number| {
                let transition = self.graph.transition(number);
                (self.graph.tasks[transition.event as usize], transition.alternative)
            };
            let choices = (start as u32, numbers.map(choice).collect());
            violations.push(paths::violation(self.system, property, choices)?);
        }
        sort_violations(&mut violations);
        let trail = self.options.keep_trail.then(|| self.trail());
        let mut limits: Vec<Limit> = self.limit.into_iter().collect();
        if self.optional && self.options.deadlocks {
            limits.push(Limit::Algorithm);
        } else if self.options.deadlocks && ended && self.repeats() {
            // It does not look for livelocks, and there may be one.
            limits.push(Limit::Algorithm);
        }
        let deadlocks = |one: &Violation<S>| matches!(one.property, Property::Deadlock(_));
        if violations.iter().filter(|one| deadlocks(one)).count() > DEADLOCKS_MAX {
            let mut count = 0;
            violations.retain(|one| {
                count += usize::from(deadlocks(one));
                !deadlocks(one) || count <= DEADLOCKS_MAX
            });
            limits.push(Limit::Deadlocks);
        }
        let complete = limits.is_empty();
        Ok(Outcome {
            complete,
            limits,
            violations,
            conflicts: None,
            responses: Vec::new(),
            ended,
            untriggered: Vec::new(),
            livelocks_checked: false,
            never_run: complete.then(|| never_run(&self.parts_ran)),
            stats: self.stats,
            detail: Backtracking { counts: self.counts, trail },
        })
    }

    /// Returns whether the explored graph has a cycle, in a program whose runs have to end.
    fn repeats(&self) -> bool {
        let nodes = self.graph.nodes.len();
        let targets = |state: u32| {
            let outgoing = self.graph.node(state).outgoing.iter();
            outgoing.map(|number| self.graph.transition(*number).dst)
        };
        let mut any = false;
        if self.system.actors().is_some() {
            scc::components(nodes, 0..nodes as u32, targets, |component| {
                let first = component.members[0];
                any |= component.members.len() > 1 || targets(first).any(|to| to == first);
            });
        }
        any
    }

    fn fails(&self, number: u32) -> bool {
        let transition = self.graph.transitions.get(number as usize);
        transition.is_some_and(|one| one.kind == Kind::Fails)
    }

    /// Returns the deadlocks and wrong ends, with the states of each.
    fn ends(&self) -> BTreeMap<Property, Vec<u32>> {
        let mut ends: BTreeMap<Property, Vec<u32>> = BTreeMap::new();
        for (node, number) in self.graph.nodes.iter().zip(0..) {
            if let Some(Some(property)) = &node.end {
                ends.entry(property.clone()).or_default().push(number);
            }
        }
        ends
    }

    fn shortest(&self) -> ShortestPaths {
        ShortestPaths::of(self.graph.nodes.len(), self.initial.iter().copied(), |state| {
            let outgoing = self.graph.node(state).outgoing.iter();
            outgoing.map(|number| (*number, self.graph.transition(*number).dst))
        })
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
