//! Builds the outcome of a search.

use super::engine::Engine;
use super::error::Error;
use super::outcome::{Outcome, Reduction};
use super::space::WAITING;
use super::updates::NumberedConflicts;
use crate::paths;
use anyorder_search::{
    Limit, NumberedPath, Property, UpdateConflict, Violation, keep_deadlocks, never_run,
    sort_conflicts, sort_violations,
};
use anyorder_system::{JobWatch, Reducible, TaskKey};
use std::collections::BTreeMap;

/// A task, and the number of its alternative.
type Choice = (TaskKey, u32);

/// The length of a path, its last state, and a failing step from there: the number of the task, and
/// the number of its alternative.
type Shown = (u32, u32, Option<(u32, u32)>);

impl<S: Reducible> Engine<'_, S> {
    /// Builds the outcome.
    pub(crate) fn conclude(mut self, mut complete: bool) -> Result<Outcome<S>, Error> {
        // What was found is replayed, also after a stop.
        let _unwatched = JobWatch::default().enter();
        while let Some(item) = self.queue.pop_front() {
            if self.control.check().is_err() {
                break;
            }
            if self.space.nodes[item.number as usize].inside == WAITING {
                self.check_invariants(&item);
            }
        }
        self.counts.reduced_states = self.space.kept.len() as u64;
        self.stats.bytes_per_state = self.bytes().div_ceil(self.stats.states.max(1));
        let (mut violations, dropped) = self.violations()?;
        let mut livelocks_checked = false;
        if complete && self.options.livelocks && self.options.deadlocks {
            let (found, checked, cut) = self.livelocks()?;
            violations.extend(found);
            livelocks_checked = checked;
            complete &= cut.is_none();
            self.limits.extend(cut);
        }
        sort_violations(&mut violations);
        if dropped {
            complete = false;
            self.limits.insert(Limit::Deadlocks);
        }
        let mut conflicts = None;
        if self.know.reading.updates {
            self.control.progress.phase("updates");
            let (found, cut) = self.conflicts_until_stopped();
            complete &= cut.is_none();
            self.limits.extend(cut);
            let found = found.into_iter();
            let of = |((place, components), path): ((_, _), NumberedPath)| {
                let (start, choices) = self.choices(path);
                let path = paths::run(self.system, start, choices)?;
                Ok(UpdateConflict { place, components, path })
            };
            let mut all = found.map(of).collect::<Result<Vec<_>, Error>>()?;
            sort_conflicts(&mut all);
            conflicts = Some(all);
        }
        let graph = self.options.keep_graph.then(|| self.graph());
        Ok(Outcome {
            complete,
            violations,
            conflicts,
            responses: Vec::new(),
            ended: self.ended,
            untriggered: Vec::new(),
            livelocks_checked,
            never_run: complete.then(|| never_run(&self.parts_ran)),
            limits: self.limits.into_iter().collect(),
            stats: self.stats,
            detail: Reduction { counts: self.counts, graph },
        })
    }

    /// Returns the update conflicts, and the limit that cut their search. After a stop it searches
    /// what lies near the initial states.
    fn conflicts_until_stopped(&self) -> (NumberedConflicts, Option<Limit>) {
        let stopped = || self.control.check().err().map(|stopped| Limit::from(stopped.0));
        let mut cut = stopped();
        let mut found = BTreeMap::new();
        if cut.is_none() {
            let _entered = JobWatch::of(self.control).enter();
            found = self.update_conflicts();
            cut = stopped();
        }
        if cut.is_some() {
            for (conflict, path) in self.near_update_conflicts() {
                found.entry(conflict).or_insert(path);
            }
        }
        (found, cut)
    }

    /// Returns the index of the initial state, and the choices of a path through the explored
    /// graph.
    pub(super) fn choices(&self, (start, path): NumberedPath) -> (u32, Vec<Choice>) {
        let start = self.space.nodes[start as usize].link.alternative;
        let choices = path.into_iter().map(|(state, place)| self.space.choice(state, place));
        (start, choices.map(|choice| self.key_of(choice)).collect())
    }

    fn key_of(&self, (task, alternative): (u32, u32)) -> Choice {
        (self.know.tasks.task(task), alternative)
    }

    /// Returns all violations, each with a shortest path to it, and whether deadlocks were left
    /// out.
    pub(super) fn violations(&self) -> Result<(Vec<Violation<S>>, bool), Error> {
        let mut best: BTreeMap<Property, Shown> = BTreeMap::new();
        if self.failures.is_empty() && self.broken.is_empty() && self.dead.is_empty() {
            return Ok((Vec::new(), false));
        }
        let shortest = self.space.shortest();
        let mut offer = |property: &Property, state: u32, last: Option<(u32, u32)>| {
            let distance = shortest.distance(state).unwrap_or(u32::MAX);
            let new = (distance.saturating_add(u32::from(last.is_some())), state, last);
            match best.get_mut(property) {
                Some(known) => *known = (*known).min(new),
                None => drop(best.insert(property.clone(), new)),
            }
        };
        for (failure, links) in &self.failures {
            let property = Property::Failure(failure.clone());
            for link in links {
                offer(&property, link.parent, Some((link.task, link.alternative)));
            }
        }
        for (invariant, state) in &self.broken {
            offer(&Property::Invariant(*invariant), *state, None);
        }
        for (property, states) in &self.dead {
            states.iter().for_each(|state| offer(property, *state, None));
        }
        let violation = |(property, (_, state, last)): (Property, Shown)| {
            let (start, mut choices) = self.choices(shortest.to(state));
            choices.extend(last.map(|last| self.key_of(last)));
            paths::violation(self.system, property, (start, choices))
        };
        let dropped = keep_deadlocks(&mut best, |shown| shown.0);
        let violations = best.into_iter().map(violation).collect::<Result<_, _>>()?;
        Ok((violations, dropped))
    }
}
