//! Runs tasks and stores states.

use super::accesses::Accesses;
use super::engine::Engine;
use super::graph::{Enabled, Kind, Mark, Node, Transition};
use super::outcome::Cause;
use crate::stateful::Error;
use anyorder_search::{Limit, Property};
use anyorder_system::{Effects, Offers, Place, Reducible, TaskKey, TouchKind, Touched};
use rustc_hash::FxHashSet;

impl<S: Reducible> Engine<'_, S> {
    /// Keeps only the tasks that await several places.
    pub(crate) fn keep_several(&self, tasks: &mut Vec<TaskKey>) {
        let mut places = Vec::new();
        tasks.retain(|task| {
            places.clear();
            self.system.awaits(*task, &mut places);
            places.sort_unstable();
            places.dedup();
            places.len() > 1
        });
    }

    /// Returns whether the job was stopped, and records it: then the system may have returned too
    /// little.
    fn is_stopped(&mut self) -> bool {
        let stopped = self.control.check().err();
        if let Some(stopped) = stopped {
            self.limit.get_or_insert(stopped.0.into());
        }
        stopped.is_some()
    }

    /// Returns the number of a state, and whether it is new; `None` if the limit on states is
    /// reached, or the job stopped.
    pub(crate) fn state(&mut self, state: S::State) -> Option<(u32, bool)> {
        let fingerprint = self.system.fingerprint(&state);
        if let Some(known) = self.graph.numbers.get(&fingerprint) {
            return Some((*known, false));
        }
        let number = self.graph.nodes.len() as u32;
        let full = self.options.states_max.is_some_and(|most| u64::from(number) >= most);
        if full || number == u32::MAX || self.graph.transitions.len() > u32::MAX as usize / 2 {
            self.limit = Some(Limit::States);
            return None;
        }
        let enabled = self.enabled(&state);
        let end = enabled.is_empty().then(|| self.end_of(&state));
        let broken: Vec<usize> = self.info.properties.broken(&state).collect();
        if self.is_stopped() {
            return None;
        }
        self.graph.numbers.insert(fingerprint, number);
        for index in broken {
            self.broken.entry(index).or_default().push(number);
        }
        let mut watched = Vec::new();
        for invariant in &self.info.properties.invariants {
            let mut places = Vec::new();
            invariant.watches(&state, &mut places);
            let codes = places.into_iter().map(|place| self.accesses.code(place, false)).collect();
            watched.push((self.accesses.number(codes), false));
        }
        self.graph.nodes.push(Node {
            fingerprint,
            state: Some(state),
            enabled,
            watched: watched.into_boxed_slice(),
            planned: 0,
            end,
            in_history: false,
            queued: false,
            turn: 0,
            incoming: Vec::new(),
            outgoing: Vec::new(),
            carried: FxHashSet::default(),
        });
        self.stats.states += 1;
        if self.options.summaries {
            self.search_back_from_observers(number);
        }
        Some((number, true))
    }

    fn enabled(&mut self, state: &S::State) -> Box<[Enabled]> {
        let mut ready = Vec::new();
        self.system.ready(state, &mut ready);
        let mut ready: Vec<u32> = ready.into_iter().map(|task| self.graph.event(task)).collect();
        ready.sort_unstable();
        let mut pending = Vec::new();
        self.system.pending(state, &mut pending);
        self.keep_several(&mut pending);
        let mut idle: Vec<u32> = pending.into_iter().map(|task| self.graph.event(task)).collect();
        idle.extend(&self.everywhere);
        idle.retain(|event| ready.binary_search(event).is_err());
        idle.sort_unstable();
        idle.dedup();
        let mut all: Vec<(u32, bool)> = idle.into_iter().map(|event| (event, true)).collect();
        all.extend(ready.iter().map(|event| (*event, false)));
        all.sort_unstable();
        let (mark, edges) = (Mark::Out, (0, 0));
        all.into_iter().map(|(event, idle)| Enabled { event, mark, idle, edges }).collect()
    }

    /// Executes an event; returns its transitions. [Algorithm 2, lines 18-25]
    pub(crate) fn execute(&mut self, state: u32, event: u32) -> Result<(u32, u32), Error> {
        let most = self.control.limits.executions;
        if most.is_some_and(|most| self.stats.executions >= most) {
            self.limit = Some(Limit::Executions);
            return Ok((0, 0));
        }
        if self.stats.executions.is_multiple_of(256) && self.is_cut() {
            return Ok((0, 0));
        }
        self.stats.executions += 1;
        let task = self.graph.tasks[event as usize];
        let node = self.graph.node_mut(state);
        if self.options.keep_trail {
            self.executed.push((node.fingerprint, task));
        }
        let place = node.place_of(event).expect("only enabled events are executed");
        if node.enabled[place].mark == Mark::Done {
            return Ok(node.enabled[place].edges);
        }
        node.enabled[place].mark = Mark::Done;
        node.planned -= 1;
        let before = node.state.take().expect("kept until all events are done");
        let mut effects = Effects::default();
        if !node.enabled[place].idle {
            self.counts.runs += 1;
            self.system.run(&before, task, &mut effects);
        }
        let idle = node.enabled[place].idle;
        if self.is_stopped() {
            let node = self.graph.node_mut(state);
            node.enabled[place].mark = Mark::Planned;
            node.planned += 1;
            node.state = Some(before);
            return Ok((0, 0));
        }
        let edges = self.record(state, event, idle, effects);
        let node = self.graph.node_mut(state);
        node.enabled[place].edges = edges;
        if node.enabled.iter().any(|one| one.mark != Mark::Done) {
            node.state = Some(before);
            return Ok(edges);
        }
        let outgoing = self.graph.node(state).outgoing.iter();
        let mut kinds = outgoing.map(|number| self.graph.transition(*number).kind);
        if kinds.all(|kind| matches!(kind, Kind::Blocked | Kind::Observed)) {
            let end = self.end_of(&before);
            if self.is_stopped() {
                return Ok(edges);
            }
            self.graph.node_mut(state).end = Some(end);
        }
        Ok(edges)
    }

    /// Returns the violation of a state in which nothing can happen, if there is one.
    fn end_of(&self, state: &S::State) -> Option<Property> {
        Property::at_end(&self.info.properties, state, Offers::Nothing)
    }

    fn record(
        &mut self,
        src: u32,
        event: u32,
        idle: bool,
        effects: Effects<S::State, S::Action>,
    ) -> (u32, u32) {
        let accesses = self.accesses_of(event, &effects.touched);
        let mut new = Vec::with_capacity(effects.successors.len().max(1));
        let transition =
            |dst, alternative, kind| Transition { src, dst, event, alternative, accesses, kind };
        if effects.successors.is_empty() {
            self.counts.blocked += u64::from(!idle);
            new.push(transition(src, 0, Kind::Blocked));
        }
        for (alternative, successor) in effects.successors.into_iter().enumerate() {
            self.stats.transitions += 1;
            let alternative = alternative as u32;
            self.info.note_part(&successor.action, &mut self.parts_ran);
            self.optional |= self.system.is_optional(&successor.action);
            let Some(failure) = successor.failure else {
                let Some((dst, _)) = self.state(successor.state) else { break };
                self.disable(src, event, dst);
                new.push(transition(dst, alternative, Kind::Step));
                continue;
            };
            let number = self.graph.transitions.len() + new.len();
            self.failures.entry(failure).or_default().push(number as u32);
            new.push(transition(src, alternative, Kind::Fails));
        }
        // All of them first, so that their numbers are consecutive: observers may be added in
        // between.
        let first = self.graph.transitions.len() as u32;
        self.draining = true;
        for transition in &new {
            self.take_in(*transition);
        }
        self.draining = false;
        self.drain();
        (first, first + new.len() as u32)
    }

    /// Lines 22-24: adds the events that a step disables to backtrack sets.
    fn disable(&mut self, src: u32, event: u32, dst: u32) {
        for disabled in self.graph.node(src).events() {
            if self.graph.node(dst).place_of(disabled).is_none() {
                self.plan(src, disabled);
                let by = self.graph.tasks[event as usize];
                self.note(src, disabled, Cause::DisabledBy(by));
            }
        }
    }

    fn accesses_of(&mut self, event: u32, touched: &[Touched]) -> Accesses {
        let mut places: Vec<Place> = Vec::new();
        self.system.awaits(self.graph.tasks[event as usize], &mut places);
        let mut codes: Vec<u32> =
            places.into_iter().map(|place| self.accesses.code(place, false)).collect();
        for one in touched {
            let write = match one.kind {
                TouchKind::Read => false,
                TouchKind::SilentWrite => !self.options.values,
                TouchKind::Write => true,
            };
            codes.push(self.accesses.code(one.place, write));
        }
        self.accesses.number(codes)
    }
}
