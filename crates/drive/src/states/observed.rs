//! A state system that notes which of its parts run while an engine searches it.

use anyorder_system::{
    Effects, Hash128, Place, Reducible, StateSystem, Successor, TaskKey, Updates,
};
use std::sync::atomic::{AtomicBool, Ordering};

/// A state system, and which of its parts ran.
pub(super) struct Observed<'a, S> {
    system: &'a S,
    ran: Vec<AtomicBool>,
}

impl<'a, S: StateSystem> Observed<'a, S> {
    pub(super) fn new(system: &'a S) -> Observed<'a, S> {
        let ran = system.parts().iter().map(|_| AtomicBool::new(false)).collect();
        Observed { system, ran }
    }

    /// Returns the parts that never ran, by their places.
    pub(super) fn never_run(&self) -> Vec<usize> {
        let ran = |part: &usize| !self.ran[*part].load(Ordering::Relaxed);
        (0..self.ran.len()).filter(ran).collect()
    }

    /// Notes the parts that transitions run.
    fn note(&self, transitions: &[Successor<S::State, S::Action>]) {
        for transition in transitions {
            if let Some(ran) = self.system.part(&transition.action).and_then(|at| self.ran.get(at))
                && !ran.load(Ordering::Relaxed)
            {
                ran.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl<S: StateSystem> StateSystem for Observed<'_, S> {
    type State = S::State;
    type Action = S::Action;

    fn initial(&self) -> Vec<S::State> {
        self.system.initial()
    }

    fn successors(&self, state: &S::State, out: &mut Vec<Successor<S::State, S::Action>>) {
        let from = out.len();
        self.system.successors(state, out);
        self.note(&out[from..]);
    }

    fn successors_telling(
        &self,
        state: &S::State,
        out: &mut Vec<Successor<S::State, S::Action>>,
        updates: &mut Updates,
    ) {
        let from = out.len();
        self.system.successors_telling(state, out, updates);
        self.note(&out[from..]);
    }

    fn components(&self) -> Vec<String> {
        self.system.components()
    }

    fn fingerprint(&self, state: &S::State) -> Hash128 {
        self.system.fingerprint(state)
    }

    fn encode(&self, state: &S::State, out: &mut Vec<u8>) {
        self.system.encode(state, out);
    }

    fn decode(&self, bytes: &[u8]) -> Option<S::State> {
        self.system.decode(bytes)
    }

    fn is_final(&self, state: &S::State) -> bool {
        self.system.is_final(state)
    }

    fn is_stuck(&self, state: &S::State) -> bool {
        self.system.is_stuck(state)
    }

    fn invariants(&self) -> Vec<String> {
        self.system.invariants()
    }

    fn holds(&self, invariant: usize, state: &S::State) -> bool {
        self.system.holds(invariant, state)
    }

    fn parts(&self) -> Vec<String> {
        self.system.parts()
    }

    fn part(&self, action: &S::Action) -> Option<usize> {
        self.system.part(action)
    }

    fn describe(&self, state: &S::State, action: &S::Action) -> String {
        self.system.describe(state, action)
    }

    fn show(&self, state: &S::State) -> Vec<(String, String)> {
        self.system.show(state)
    }
}

impl<S: Reducible> Reducible for Observed<'_, S> {
    fn ready(&self, state: &S::State, out: &mut Vec<TaskKey>) {
        self.system.ready(state, out);
    }

    fn run(&self, state: &S::State, task: TaskKey, out: &mut Effects<S::State, S::Action>) {
        self.system.run(state, task, out);
        self.note(&out.successors);
    }

    fn task_of(&self, state: &S::State, action: &S::Action) -> Option<TaskKey> {
        self.system.task_of(state, action)
    }

    fn awaits(&self, task: TaskKey, out: &mut Vec<Place>) {
        self.system.awaits(task, out);
    }

    fn tasks(&self, out: &mut Vec<TaskKey>) {
        self.system.tasks(out);
    }

    fn pending(&self, state: &S::State, out: &mut Vec<TaskKey>) {
        self.system.pending(state, out);
    }

    fn watches(&self, invariant: usize, state: &S::State, out: &mut Vec<Place>) {
        self.system.watches(invariant, state, out);
    }

    fn task_name(&self, state: &S::State, task: TaskKey) -> String {
        self.system.task_name(state, task)
    }

    fn place_name(&self, place: Place) -> String {
        self.system.place_name(place)
    }
}
