//! Livelocks of the explored graph: the same as those of the full graph (`docs/reduction.md`, T3).

use super::engine::Engine;
use super::error::Error;
use super::space::{BLOCKED, FAILED};
use crate::paths;
use anyorder_search::{EachStep, ExploredGraph, Limit, Property, Violation, livelocks};
use anyorder_system::{Effects, JobWatch, Reducible};

/// The livelocks with their runs, whether they were searched for, and the limit that left some out.
pub(super) type Livelocks<S> = (Vec<Violation<S>>, bool, Option<Limit>);

impl<S: Reducible> Engine<'_, S> {
    /// Searches the explored graph for livelocks. It must be complete: only then does it have those
    /// of the full graph.
    pub(super) fn livelocks(&self) -> Result<Livelocks<S>, Error> {
        let Some(actors) = &self.info.actors else { return Ok((Vec::new(), false, None)) };
        self.control.progress.phase("livelocks");
        let watched = JobWatch::of(self.control).enter();
        let mut is_end = vec![false; self.space.nodes.len()];
        self.ends.iter().for_each(|state| is_end[*state as usize] = true);
        let found = livelocks(&Explored { engine: self, is_end }, actors, &self.info.fairness);
        drop(watched);
        let (found, left_out) = match found {
            Ok(found) => found,
            Err(stopped) => return Ok((Vec::new(), false, Some(Limit::from(stopped.0)))),
        };
        let violation = |one: anyorder_search::Livelock| {
            let (start, choices) = self.choices(one.path);
            let mut path = paths::run(self.system, start, choices)?;
            path.repeats_from = Some(one.repeats_from);
            Ok(Violation::of(self.system, Property::Livelock(one.places), path))
        };
        let found = found.into_iter().map(violation).collect::<Result<_, Error>>()?;
        Ok((found, true, left_out.then_some(Limit::Livelocks)))
    }
}

/// The explored graph. The number of a step is the index of its edge.
struct Explored<'e, 'a, S: Reducible> {
    engine: &'e Engine<'a, S>,
    is_end: Vec<bool>,
}

impl<S: Reducible> ExploredGraph<S> for Explored<'_, '_, S> {
    fn states(&self) -> usize {
        self.engine.space.nodes.len()
    }

    fn is_end(&self, state: u32) -> bool {
        self.is_end[state as usize]
    }

    fn deadlocks(&self) -> Vec<u32> {
        let dead = self.engine.dead.iter();
        let dead = dead.filter(|(property, _)| matches!(property, Property::Deadlock(_)));
        dead.flat_map(|(_, states)| states.iter().copied()).collect()
    }

    fn steps(&self, state: u32) -> impl Iterator<Item = (u32, Option<u32>)> {
        let edges = self.engine.space.placed(state).filter(|(_, edge)| edge.target != BLOCKED);
        edges.map(|(place, edge)| (place, Some(edge.target).filter(|target| *target != FAILED)))
    }

    fn initial(&self) -> Vec<(u32, S::State)> {
        let all = self.engine.system.initial();
        let initial = self.engine.space.initial();
        let state = |number: u32| {
            let place = self.engine.space.nodes[number as usize].link.alternative;
            Some((number, all.get(place as usize)?.clone()))
        };
        initial.filter_map(state).collect()
    }

    fn expand(&self, number: u32, state: &S::State, each: &mut EachStep<'_, S>) {
        let Engine { system, know, space, .. } = self.engine;
        let mut effects = Effects::default();
        let edges: Vec<(u32, u32)> =
            space.placed(number).map(|(place, edge)| (place, edge.task)).collect();
        // The alternatives of one attempt are adjacent.
        for edges in edges.chunk_by(|one, other| one.1 == other.1) {
            effects.clear();
            system.run(state, know.tasks.task(edges[0].1), &mut effects);
            for (successor, (place, _)) in effects.successors.drain(..).zip(edges) {
                if successor.failure.is_none() {
                    each(*place, &successor.action, successor.state);
                }
            }
        }
    }
}
