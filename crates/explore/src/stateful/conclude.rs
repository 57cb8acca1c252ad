//! From what a search remembers to what it says.

use super::engine::Engine;
use super::error::Error;
use super::outcome::{Finding, Outcome, Property};
use super::space::WAITING;
use super::ways::{self, Choice, Ways};
use anyorder_system::Reducible;
use std::collections::BTreeMap;

/// A way to something wrong: the initial state, and the choices.
pub(crate) type Way = (u32, Vec<Choice>);

impl<S: Reducible> Engine<'_, S> {
    /// Makes the outcome.
    pub(crate) fn conclude(mut self, complete: bool) -> Result<Outcome<S>, Error> {
        while let Some(item) = self.queue.pop_front() {
            if self.space.nodes[item.number as usize].inside == WAITING {
                self.check_invariants(&item);
            }
        }
        self.stats.reduced_states = self.space.kept.len() as u64;
        self.stats.bytes_per_state = self.bytes().div_ceil(self.stats.states.max(1));
        let mut found = self.found();
        if self.know.reading.updates {
            self.control.progress.phase("updates");
            found.append(&mut self.update_conflicts());
        }
        let mut findings = Vec::new();
        for (property, (start, choices)) in found {
            let choices = choices.into_iter();
            let choices =
                choices.map(|(task, alternative)| (self.know.tasks.task(task), alternative));
            let path = ways::run(self.system, start, choices)?;
            findings.push(Finding { name: self.name(&property), property, path });
        }
        findings.sort_by(|a, b| {
            (a.path.steps.len(), &a.property).cmp(&(b.path.steps.len(), &b.property))
        });
        let graph = self.options.keep_graph.then(|| self.graph());
        Ok(Outcome {
            complete,
            limits: self.limits.into_iter().collect(),
            findings,
            stats: self.stats,
            graph,
        })
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

    /// Returns a shortest way to each thing found, update conflicts apart.
    fn found(&self) -> BTreeMap<Property, Way> {
        let mut best: BTreeMap<Property, (u32, u32, Option<Choice>)> = BTreeMap::new();
        if self.failures.is_empty() && self.broken.is_empty() && self.dead.is_empty() {
            return BTreeMap::new();
        }
        let ways = Ways::of(&self.space);
        let mut offer = |property: &Property, state: u32, last: Option<Choice>| {
            let length = ways.distance[state as usize] + u32::from(last.is_some());
            let new = (length, state, last);
            match best.get_mut(property) {
                Some(known) => *known = (*known).min(new),
                None => drop(best.insert(property.clone(), new)),
            }
        };
        let mut messages = vec![Property::Deadlock; self.messages.len()];
        for (message, number) in &self.messages {
            messages[*number as usize] = Property::Failure(message.clone());
        }
        for failing in &self.failures {
            let last = (failing.link.task, failing.link.alternative);
            offer(&messages[failing.message as usize], failing.link.parent, Some(last));
        }
        for (invariant, state) in &self.broken {
            offer(&Property::Invariant(*invariant), *state, None);
        }
        for (stuck, state) in &self.dead {
            offer(if *stuck { &Property::Deadlock } else { &Property::Final }, *state, None);
        }
        let with_way = best.into_iter().map(|(property, (_, state, last))| {
            let (start, mut choices) = ways.to(&self.space, state);
            choices.extend(last);
            (property, (start, choices))
        });
        with_way.collect()
    }
}
