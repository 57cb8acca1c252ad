//! Builds the outcome of a search.

use crate::error::SearchError;
use crate::livelock::{self, FullGraph, Livelock, cycle_of_states};
use crate::options::{Order, SearchOptions, Stop, Storage};
use crate::outcome::{
    Limit, Outcome, Property, ResponseVerdict, UpdateConflict, Violation, keep_deadlocks,
    never_run, sort_conflicts, sort_violations,
};
use crate::path::{Path, replay, replay_represented};
use crate::response;
use crate::search::{Fault, Search};
use crate::updates;
use anyorder_system::{Control, JobWatch, StateSystem, Stopped};
use std::collections::BTreeMap;

/// A graph of so many states is analysed within a fraction of a second, so also after a stop.
const SMALL_GRAPH: usize = 1 << 18;

impl<S: StateSystem> Search<'_, S> {
    /// Builds the outcome, given the limits that cut the search.
    pub(crate) fn conclude(
        &mut self,
        mut limits: Vec<Limit>,
        control: &Control<'_>,
    ) -> Result<Outcome<S>, SearchError> {
        let exhausted = limits.is_empty() && self.frontier.len() == 0;
        if exhausted && matches!(self.options.storage, Storage::Bitstate { .. }) {
            limits.push(Limit::Bitstate);
        }
        // Deadlocks that are left out were searched: the other verdicts are whole.
        let complete = exhausted && limits.is_empty();
        self.stats.bytes_per_state = self.bytes_needed().div_ceil(self.stats.states.max(1));
        // What was found is replayed, also after a stop.
        let unwatched = JobWatch::default().enter();
        let mut faults = self.faults.clone();
        if keep_deadlocks(&mut faults, |fault| fault.length) {
            limits.push(Limit::Deadlocks);
        }
        let mut violations = self.violations(&faults, control)?;
        let mut skipped = None;
        let responses = self.respond(complete, &mut violations, (control, &mut skipped))?;
        let stuck = self.livelocks(&mut violations, (control, &mut skipped))?;
        let livelocks_checked = stuck.is_some();
        limits.extend((stuck == Some(true)).then_some(Limit::Livelocks));
        sort_violations(&mut violations);
        let conflicts = self.conflicts((control, &mut skipped))?;
        drop(unwatched);
        let stopped = skipped.map(|stopped: Stopped| Limit::from(stopped.0));
        limits.extend(stopped.filter(|limit| !limits.contains(limit)));
        let complete = complete && limits.is_empty();
        Ok(Outcome {
            complete,
            limits,
            violations,
            conflicts,
            responses,
            ended: self.ended,
            untriggered: if complete { self.untriggered() } else { Vec::new() },
            livelocks_checked,
            never_run: complete.then(|| never_run(&self.parts_ran)),
            stats: self.stats,
            detail: (),
        })
    }

    /// Returns the response properties whose triggers hold in no known state.
    fn untriggered(&self) -> Vec<usize> {
        let Some(graph) = &self.graph else { return Vec::new() };
        let holds = |property| (0..graph.len() as u32).any(|one| graph.response(property, one).0);
        (0..self.responses).filter(|property| !holds(*property)).collect()
    }

    /// Returns the number of violations so far.
    #[must_use]
    pub fn found_count(&self) -> usize {
        self.faults.len()
    }

    /// Returns the violations so far, with the paths on which they were found. For a caller that
    /// may have to end the search before it returns. O(their paths).
    ///
    /// # Errors
    ///
    /// Fails if the program is not deterministic.
    pub fn found(&self) -> Result<Vec<Violation<S>>, SearchError> {
        let _unwatched = JobWatch::default().enter();
        let found = self.faults.iter().map(|(key, fault)| self.violation(key, *fault));
        let mut found: Vec<Violation<S>> = found.collect::<Result<_, _>>()?;
        sort_violations(&mut found);
        Ok(found)
    }

    /// Builds a path for each violation. If the search was not breadth-first, searches for the
    /// shortest ones first.
    fn violations(
        &self,
        faults: &BTreeMap<Property, Fault>,
        control: &Control<'_>,
    ) -> Result<Vec<Violation<S>>, SearchError> {
        if self.options.order == Order::Depth
            && !faults.is_empty()
            && let Some(shortest) = self.shortest(control)?
        {
            return Ok(shortest);
        }
        faults.iter().map(|(key, fault)| self.violation(key, *fault)).collect()
    }

    /// Searches again, breadth-first, up to the depth of the known violations.
    fn shortest(&self, control: &Control<'_>) -> Result<Option<Vec<Violation<S>>>, SearchError> {
        control.progress.phase("shortest");
        let deepest = self.faults.values().map(|fault| fault.length).max().unwrap_or(0);
        let options = SearchOptions {
            order: Order::Breadth,
            responses: false,
            keep_graph: false,
            updates: false,
            livelocks: false,
            depth_max: (self.options.stop == Stop::Exhausted).then(|| deepest.saturating_add(1)),
            states_max: None,
            transitions_max: None,
            ..self.options.clone()
        };
        let mut second = Search::new(self.system, &options)?;
        let outcome = second.run(control)?;
        let harmless =
            |limit: &Limit| matches!(limit, Limit::Depth | Limit::Bitstate | Limit::Deadlocks);
        let whole = outcome.limits.iter().all(harmless);
        let known = |found: &BTreeMap<Property, Fault>| {
            self.faults.keys().all(|key| found.contains_key(key))
        };
        let enough = self.options.stop == Stop::FirstViolation || known(&second.faults);
        Ok((whole && enough && !outcome.violations.is_empty()).then_some(outcome.violations))
    }

    fn violation(&self, key: &Property, fault: Fault) -> Result<Violation<S>, SearchError> {
        let mut choices = self.links.way(fault.state);
        choices.extend(fault.place);
        Ok(Violation::of(self.system, key.clone(), self.path(&choices)?))
    }

    /// Replays the choices of the search.
    pub(crate) fn path(&self, choices: &[u32]) -> Result<Path<S>, SearchError> {
        if self.options.symmetry {
            replay_represented(self.system, choices)
        } else {
            replay(self.system, choices)
        }
    }

    /// Replays a path through the graph. The graph numbers initial states; equal ones share a
    /// number but have several positions.
    fn path_of_graph(&self, mut choices: Vec<u32>) -> Result<Path<S>, SearchError> {
        choices[0] = self.links.get(choices[0]).1;
        self.path(&choices)
    }

    /// Analyses the graph, unless the job is stopped. After a stop, it still analyses a small
    /// graph: this is what was found so far.
    fn analyse<R>(
        &self,
        (control, skipped): (&Control<'_>, &mut Option<Stopped>),
        work: impl FnOnce() -> R,
    ) -> Option<R> {
        let small = self.links.len() <= SMALL_GRAPH;
        match control.check() {
            Err(_) if small => return Some(work()),
            Err(stopped) => *skipped = Some(stopped),
            Ok(()) => {
                let watched = JobWatch::of(control).enter();
                let result = work();
                drop(watched);
                match control.check() {
                    Ok(()) => return Some(result),
                    Err(stopped) => *skipped = Some(stopped),
                }
            }
        }
        None
    }

    /// Searches the known part of the graph for update conflicts; after a stop, what lies near
    /// the initial states.
    fn conflicts(
        &self,
        (control, skipped): (&Control<'_>, &mut Option<Stopped>),
    ) -> Result<Option<Vec<UpdateConflict<S>>>, SearchError> {
        let Some(graph) = self.graph.as_ref().filter(|_| self.options.updates) else {
            return Ok(None);
        };
        control.progress.phase("updates");
        let conflicts =
            |is_stopped: bool| updates::conflicts(graph, &self.update_lists, is_stopped);
        let mut found = updates::Conflicts::new();
        let mut stopped = control.check().err();
        if stopped.is_none() {
            let _watched = JobWatch::of(control).enter();
            found = conflicts(false);
            stopped = control.check().err();
        }
        if stopped.is_some() {
            for (conflict, path) in conflicts(true) {
                found.entry(conflict).or_insert(path);
            }
            *skipped = stopped;
        }
        let mut conflicts = Vec::new();
        for ((place, components), choices) in found {
            let path = self.path_of_graph(choices)?;
            conflicts.push(UpdateConflict { place, components, path });
        }
        sort_conflicts(&mut conflicts);
        Ok(Some(conflicts))
    }

    /// Searches the known part of the graph for livelocks. Returns whether some were left out;
    /// `None` if it did not search.
    fn livelocks(
        &self,
        violations: &mut Vec<Violation<S>>,
        (control, skipped): (&Control<'_>, &mut Option<Stopped>),
    ) -> Result<Option<bool>, SearchError> {
        let early = self.options.stop == Stop::FirstViolation && !violations.is_empty();
        let graph = self.graph.as_ref().filter(|_| self.options.livelocks && !early);
        let (Some(graph), Some(actors)) = (graph, &self.info.actors) else { return Ok(None) };
        control.progress.phase("livelocks");
        let find = || {
            let renumbered = (self.options.order == Order::Depth).then(|| graph.breadth_first());
            let graph = renumbered.as_ref().unwrap_or(graph);
            let initial = (0..graph.initial()).map(|state| self.links.get(state).1).collect();
            let (system, symmetry) = (self.system, self.options.symmetry);
            let explored = FullGraph { system, graph, initial, symmetry };
            livelock::livelocks(&explored, actors, &self.info.fairness)
        };
        let Some(Ok((found, left_out))) = self.analyse((control, skipped), find) else {
            return Ok(None);
        };
        for one in found {
            let path = self.lasso(&one)?;
            violations.push(Violation::of(self.system, Property::Livelock(one.places), path));
        }
        Ok(Some(left_out))
    }

    /// Replays a livelock. Where the graph has representatives, its cycle is one of orbits only;
    /// then it looks for one of states.
    fn lasso(&self, livelock: &Livelock) -> Result<Path<S>, SearchError> {
        let (start, steps) = &livelock.path;
        let places = steps.iter().map(|(_, place)| *place);
        let choices = std::iter::once(*start).chain(places);
        if !self.options.symmetry {
            let mut path = self.path_of_graph(choices.collect())?;
            path.repeats_from = Some(livelock.repeats_from);
            return Ok(path);
        }
        let mut path = self.path_of_graph(choices.take(livelock.repeats_from + 1).collect())?;
        let watch = JobWatch::current();
        let cycle = cycle_of_states(self.system, path.last(), &self.info.fairness, &watch);
        for place in cycle.map_err(|stopped| SearchError::Stopped(stopped.0))? {
            let mut successors = Vec::new();
            self.system.successors(path.last(), &mut successors);
            let one = successors.into_iter().nth(place as usize).ok_or(SearchError::Symmetry)?;
            path.push(Some(place), one);
        }
        path.repeats_from = Some(livelock.repeats_from);
        Ok(path)
    }

    /// Checks response properties on the known part of the graph.
    fn respond(
        &self,
        complete: bool,
        violations: &mut Vec<Violation<S>>,
        (control, skipped): (&Control<'_>, &mut Option<Stopped>),
    ) -> Result<Vec<ResponseVerdict>, SearchError> {
        let mut verdicts = vec![ResponseVerdict::Unknown; self.info.properties.responses.len()];
        let early = self.options.stop == Stop::FirstViolation && !violations.is_empty();
        let Some(graph) = self.graph.as_ref().filter(|_| self.responses > 0 && !early) else {
            return Ok(verdicts);
        };
        control.progress.phase("responses");
        let prepared = || {
            let renumbered = (self.options.order == Order::Depth).then(|| graph.breadth_first());
            let shortest = renumbered.as_ref().unwrap_or(graph).shortest();
            (renumbered, shortest)
        };
        let prepared = self.analyse((control, &mut *skipped), prepared);
        let Some((renumbered, shortest)) = prepared else { return Ok(verdicts) };
        let graph = renumbered.as_ref().unwrap_or(graph);
        for (index, verdict) in verdicts.iter_mut().enumerate() {
            let classes = self.info.fairness.len();
            let search = || response::violation(graph, index, classes, &shortest);
            let found = self.analyse((control, &mut *skipped), search);
            let Some(Ok(lasso)) = found else { return Ok(verdicts) };
            let Some(lasso) = lasso else {
                if complete {
                    *verdict = ResponseVerdict::Holds;
                }
                continue;
            };
            *verdict = ResponseVerdict::Violated;
            let mut path = self.path_of_graph(lasso.choices)?;
            path.repeats_from = lasso.repeats_from;
            violations.push(Violation::of(self.system, Property::Response(index), path));
        }
        Ok(verdicts)
    }
}
