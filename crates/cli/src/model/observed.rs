//! A machine that notes which of its parts run while an engine searches it.

use anyorder_system::{
    Effects, Hash128, Place, Reducible, StateSystem, Successor, TaskKey, Updates,
};
use anyorder_vm::{Action, Machine, State};
use std::sync::atomic::{AtomicBool, Ordering};

/// A machine, and which of its parts ran.
pub(super) struct Observed<'a> {
    machine: &'a Machine,
    ran: Vec<AtomicBool>,
}

impl<'a> Observed<'a> {
    pub(super) fn new(machine: &'a Machine) -> Observed<'a> {
        let ran = machine.parts().iter().map(|_| AtomicBool::new(false)).collect();
        Observed { machine, ran }
    }

    /// Returns the parts that never ran, by their places.
    pub(super) fn never_run(&self) -> Vec<usize> {
        let ran = |part: &usize| !self.ran[*part].load(Ordering::Relaxed);
        (0..self.ran.len()).filter(ran).collect()
    }

    /// Notes the parts that transitions run.
    fn note(&self, transitions: &[Successor<State, Action>]) {
        for transition in transitions {
            if let Some(ran) = self.machine.part(&transition.action).and_then(|at| self.ran.get(at))
                && !ran.load(Ordering::Relaxed)
            {
                ran.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl StateSystem for Observed<'_> {
    type State = State;
    type Action = Action;

    fn initial(&self) -> Vec<State> {
        self.machine.initial()
    }

    fn successors(&self, state: &State, out: &mut Vec<Successor<State, Action>>) {
        let from = out.len();
        self.machine.successors(state, out);
        self.note(&out[from..]);
    }

    fn successors_telling(
        &self,
        state: &State,
        out: &mut Vec<Successor<State, Action>>,
        updates: &mut Updates,
    ) {
        let from = out.len();
        self.machine.successors_telling(state, out, updates);
        self.note(&out[from..]);
    }

    fn components(&self) -> Vec<String> {
        self.machine.components()
    }

    fn fingerprint(&self, state: &State) -> Hash128 {
        self.machine.fingerprint(state)
    }

    fn encode(&self, state: &State, out: &mut Vec<u8>) {
        self.machine.encode(state, out);
    }

    fn decode(&self, bytes: &[u8]) -> Option<State> {
        self.machine.decode(bytes)
    }

    fn is_final(&self, state: &State) -> bool {
        self.machine.is_final(state)
    }

    fn is_stuck(&self, state: &State) -> bool {
        self.machine.is_stuck(state)
    }

    fn invariants(&self) -> Vec<String> {
        self.machine.invariants()
    }

    fn holds(&self, invariant: usize, state: &State) -> bool {
        self.machine.holds(invariant, state)
    }

    fn parts(&self) -> Vec<String> {
        self.machine.parts()
    }

    fn part(&self, action: &Action) -> Option<usize> {
        self.machine.part(action)
    }

    fn describe(&self, state: &State, action: &Action) -> String {
        self.machine.describe(state, action)
    }

    fn show(&self, state: &State) -> Vec<(String, String)> {
        self.machine.show(state)
    }
}

impl Reducible for Observed<'_> {
    fn ready(&self, state: &State, out: &mut Vec<TaskKey>) {
        self.machine.ready(state, out);
    }

    fn run(&self, state: &State, task: TaskKey, out: &mut Effects<State, Action>) {
        self.machine.run(state, task, out);
        self.note(&out.successors);
    }

    fn task_of(&self, state: &State, action: &Action) -> Option<TaskKey> {
        self.machine.task_of(state, action)
    }

    fn awaits(&self, task: TaskKey, out: &mut Vec<Place>) {
        self.machine.awaits(task, out);
    }

    fn tasks(&self, out: &mut Vec<TaskKey>) {
        self.machine.tasks(out);
    }

    fn pending(&self, state: &State, out: &mut Vec<TaskKey>) {
        self.machine.pending(state, out);
    }

    fn watches(&self, invariant: usize, state: &State, out: &mut Vec<Place>) {
        self.machine.watches(invariant, state, out);
    }

    fn task_name(&self, state: &State, task: TaskKey) -> String {
        self.machine.task_name(state, task)
    }

    fn place_name(&self, place: Place) -> String {
        self.machine.place_name(place)
    }
}
