//! The machine as states and transitions.

use super::{runners, words};
use crate::machine::{INIT_FLAG, Machine};
use crate::program::{FuncId, Program};
use crate::state::{Origin, State, StepId, decode, encode, representative};
use crate::step::memo::StepResult;
use crate::transitions::{Action, Lookup, StepExecutor, candidates, initial};
use anyorder_system::{Actors, Classes, End, Hash128, Properties, StateSystem, Successor, Updates};
use std::sync::Arc;

impl Machine {
    /// Returns the state with the instances of a declared symmetry in another order: instance
    /// `order[p]` in the place of instance p, in canonical form. For tests of symmetry: it must
    /// lead from reachable states to reachable states and commute with steps. `None` when there is
    /// no such symmetry or `order` is no order of its instances. Linear in the state, but for the
    /// canonical form.
    #[must_use]
    pub fn exchanged(&self, state: &State, symmetry: usize, order: &[usize]) -> Option<State> {
        representative::exchanged(self, state, symmetry, order)
    }

    /// Returns which member of all events an action starts, if it starts one.
    #[must_use]
    pub fn started(&self, action: &Action) -> Option<u32> {
        match action.step {
            StepId::Event(member) => Some(member),
            _ => None,
        }
    }

    /// Returns a hash of the shared memory of a state in which nothing runs and nothing waits to
    /// run; `None` for others. It includes which events have happened of those that happen once.
    #[must_use]
    pub fn quiet_memory(&self, state: &State) -> Option<Hash128> {
        let quiet = state.threads().is_empty() && state.messages().is_empty();
        (quiet && !state.flag(INIT_FLAG)).then_some(Hash128(state.sum))
    }

    /// Returns the answer of a function in a state; `failed` if it fails.
    fn answer(&self, state: &State, func: FuncId, failed: bool) -> bool {
        StepExecutor::new(self, state).evaluate(func).unwrap_or(failed)
    }
}

impl StateSystem for Machine {
    type State = State;
    type Action = Action;

    fn initial(&self) -> Vec<State> {
        vec![initial(self)]
    }

    fn successors(&self, state: &State, out: &mut Vec<Successor<State, Action>>) {
        self.expand(state, out, None);
    }

    fn successors_with_updates(
        &self,
        state: &State,
        out: &mut Vec<Successor<State, Action>>,
        updates: &mut Updates,
    ) {
        self.expand(state, out, Some(updates));
    }

    fn components(&self) -> Vec<String> {
        self.program.components.iter().map(|component| component.name.clone()).collect()
    }

    fn fingerprint(&self, state: &State) -> Hash128 {
        Hash128(state.sum)
    }

    fn encode(&self, state: &State, out: &mut Vec<u8>) {
        encode::encode(self, state, out);
    }

    fn decode(&self, bytes: &[u8]) -> Option<State> {
        decode::decode(self, bytes)
    }

    fn properties(&self) -> Properties<'_, State> {
        let end = |state: &State| match self.is_final(state) {
            true => End::Fine,
            false if self.is_stuck(state) => End::Deadlock,
            false => End::Wrong,
        };
        let properties = Properties::new().end(end).rest(|state| self.may_rest(state));
        let mut properties = properties.waits(|state| self.places_text(state));
        for (index, invariant) in self.program.invariants.iter().enumerate() {
            properties = properties.invariant_of(
                invariant.name.as_str(),
                move |state| self.holds(index, state),
                move |state, out| self.watches(index, state, out),
            );
        }
        for (index, response) in self.program.responses.iter().enumerate() {
            let holds = move |state: &State| self.response(index, state);
            properties = properties.response(response.name.as_str(), holds);
        }
        properties
    }

    fn fairness(&self) -> Classes<'_, Action> {
        // Handlers and the pool, event members, declared threads, and all dynamic threads together.
        let layout = &self.layout;
        let slots = (0..=layout.pool()).map(|slot| words::queue_name(self, slot).to_string());
        let members = 0..layout.members.len() as u32;
        let events = members.map(|member| words::event_name(self, member).to_string());
        let threads = layout.thread_members.iter();
        let threads = threads.map(|(one, _)| self.program.threads[usize::from(*one)].name.clone());
        let dynamic = std::iter::once("forked threads".to_owned());
        let names = slots.chain(events).chain(threads).chain(dynamic).collect();
        Classes::new(names, |action| self.fair_class(action))
    }

    fn runner(&self, state: &State, action: &Action) -> Option<u64> {
        runners::before(self, state, action.step)
    }

    fn runner_after(&self, before: &State, action: &Action, after: &State) -> Option<u64> {
        runners::after(self, before, action.step, after)
    }

    fn is_optional(&self, action: &Action) -> bool {
        action.step != StepId::Init && self.fair_class(action).is_none()
    }

    fn actors(&self) -> Option<Actors<'_, State, Action>> {
        let must_end = self.program.final_.is_some();
        Some(Actors::new(must_end, |state, action| self.actor(state, action)))
    }

    fn parts(&self) -> Classes<'_, Action> {
        Classes::new(self.part_names(), |action| self.part(action))
    }

    fn representative(&self, state: &State) -> Option<State> {
        if self.program.symmetries.is_empty() {
            return None;
        }
        Some(representative::representative(self, state))
    }

    fn describe(&self, state: &State, action: &Action) -> String {
        words::describe(self, state, action)
    }

    fn show(&self, state: &State) -> Vec<(String, String)> {
        words::show(self, state)
    }
}

impl Machine {
    /// Appends the successors of a state, and their updates if these are wanted.
    #[inline]
    fn expand(
        &self,
        state: &State,
        out: &mut Vec<Successor<State, Action>>,
        mut updates: Option<&mut Updates>,
    ) {
        self.note_growth(state);
        let mut executor = StepExecutor::new(self, state);
        // Collect all steps first: reading a step right after writing it stalls the processor.
        let mut steps = executor.take_candidates();
        candidates(self, state, true, |step| steps.push(step));
        for &step in &steps {
            let action = Action { step, alternative: 0 };
            let mut delta = None;
            let found = executor.look_up(
                step,
                |state| out.push(Successor { action, state, failure: None }),
                |leaf| {
                    if let (StepResult::Effects(effects), true) = (&leaf.result, updates.is_some())
                    {
                        delta = Some(Arc::clone(effects));
                    }
                },
            );
            let root = match found {
                Lookup::NoTransition => continue,
                Lookup::Done => {
                    if let (Some(delta), Some(updates)) = (&delta, &mut updates) {
                        self.report_delta(state, delta, updates);
                    }
                    continue;
                }
                Lookup::Record(root) => Some(root),
                Lookup::Execute => None,
            };
            executor.run_anew(step, root, |executor, alternative, outcome| {
                if let Some(updates) = &mut updates {
                    self.report_updates(&executor.take_updates(), updates);
                }
                out.push(outcome.successor(self, Action { step, alternative }));
            });
        }
        executor.keep_candidates(steps);
    }

    /// Returns whether the program may end in a state.
    #[must_use]
    pub fn is_final(&self, state: &State) -> bool {
        match self.program.final_ {
            _ if state.flag(INIT_FLAG) || self.something_waits(state) => false,
            Some(func) => self.answer(state, func, false),
            None => state.locks().is_empty(),
        }
    }

    /// Returns whether the program may end in a state that offers steps, all of them optional.
    #[must_use]
    pub fn may_rest(&self, state: &State) -> bool {
        self.program.final_.is_none_or(|func| self.answer(state, func, false))
    }

    /// Returns whether some steps are optional, and the program states in which states it may end.
    #[must_use]
    pub fn has_rests(&self) -> bool {
        let Program { events, handlers, threads, final_, .. } = &self.program;
        let fair = events.iter().map(|one| one.fair);
        let mut all = fair.chain(handlers.iter().map(|one| one.fair));
        final_.is_some() && (all.any(|fair| !fair) || threads.iter().any(|one| !one.fair))
    }

    /// Returns whether a state offers only optional steps, and the program may not end in it.
    #[must_use]
    pub fn rests_wrongly(&self, state: &State) -> bool {
        if self.may_rest(state) {
            return false;
        }
        let mut offered = Vec::new();
        self.successors(state, &mut offered);
        !offered.is_empty() && offered.iter().all(|one| self.is_optional(&one.action))
    }

    /// Returns whether a state without steps, in which the program may not end, is a deadlock.
    #[must_use]
    pub fn is_stuck(&self, state: &State) -> bool {
        self.program.final_.is_none() || state.flag(INIT_FLAG) || self.something_waits(state)
    }

    /// Returns the names of the invariants.
    #[must_use]
    pub fn invariants(&self) -> Vec<String> {
        self.program.invariants.iter().map(|invariant| invariant.name.clone()).collect()
    }

    /// Returns whether a state keeps an invariant, by its index.
    #[must_use]
    pub fn holds(&self, invariant: usize, state: &State) -> bool {
        match self.program.invariants.get(invariant) {
            Some(invariant) if !state.flag(INIT_FLAG) => self.answer(state, invariant.holds, false),
            _ => true,
        }
    }

    /// Returns the names of the response properties.
    #[must_use]
    pub fn responses(&self) -> Vec<String> {
        self.program.responses.iter().map(|response| response.name.clone()).collect()
    }

    /// Returns whether the trigger, and whether the response, of a response property holds in a
    /// state.
    #[must_use]
    pub fn response(&self, property: usize, state: &State) -> (bool, bool) {
        match self.program.responses.get(property) {
            Some(response) if !state.flag(INIT_FLAG) => {
                // A failure counts against the program.
                let trigger = self.answer(state, response.trigger, true);
                (trigger, self.answer(state, response.response, false))
            }
            _ => (false, true),
        }
    }

    /// Returns the fairness class of an action, if any: see [`fairness`](StateSystem::fairness).
    #[must_use]
    pub fn fair_class(&self, action: &Action) -> Option<usize> {
        let layout = &self.layout;
        let events = layout.pool() + 1;
        let threads = events + layout.members.len();
        match action.step {
            StepId::Init => None,
            StepId::Event(member) => self.event_of(member).fair.then_some(events + member as usize),
            StepId::Message { queue, .. } if queue as usize == layout.pool() => Some(layout.pool()),
            StepId::Message { queue, .. } => self.fair_slot(queue),
            StepId::Thread { origin: Origin::Slot(slot), .. } => self.fair_slot(slot),
            StepId::Thread { origin: Origin::Declared(member), .. } => {
                let (thread, _) = layout.thread_members[member as usize];
                let fair = self.program.threads[usize::from(thread)].fair;
                fair.then_some(threads + member as usize)
            }
            StepId::Thread { origin: Origin::Dynamic, .. } => {
                Some(threads + layout.thread_members.len())
            }
        }
    }

    /// Returns the names of the parts of the program: events, tasks, threads.
    #[must_use]
    pub fn part_names(&self) -> Vec<String> {
        let events = self.program.events.iter().map(|event| event.name.clone());
        let tasks = &self.program.tasks[..self.copies.declared_tasks()];
        let tasks = tasks.iter().map(|task| task.name.clone());
        let threads = self.program.threads.iter().map(|thread| thread.name.clone());
        events.chain(tasks).chain(threads).collect()
    }

    /// Returns how many tasks the program declares.
    #[must_use]
    pub fn declared_tasks(&self) -> usize {
        self.copies.declared_tasks()
    }

    /// Returns which part an action runs, if any.
    #[must_use]
    pub fn part(&self, action: &Action) -> Option<usize> {
        let tasks = self.program.events.len();
        let threads = tasks + self.copies.declared_tasks();
        match action.step {
            StepId::Event(member) => Some(usize::from(self.layout.members[member as usize].0)),
            StepId::Message { task, .. } => Some(tasks + usize::from(self.copies.original(task))),
            StepId::Thread { origin: Origin::Declared(member), .. } => {
                let (thread, _) = self.layout.thread_members[member as usize];
                Some(threads + usize::from(thread))
            }
            _ => None,
        }
    }

    /// The fairness class of a slot: that of its handler, or of its event member.
    fn fair_slot(&self, slot: u32) -> Option<usize> {
        let layout = &self.layout;
        let slot = slot as usize;
        if slot < layout.pool() {
            let handler = usize::from(layout.handler_of[slot]);
            return self.program.handlers[handler].fair.then_some(slot);
        }
        let member = layout.member_slot.iter().position(|s| *s as usize == slot)?;
        self.event_of(member as u32).fair.then_some(layout.pool() + 1 + member)
    }
}
