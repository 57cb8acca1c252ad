//! What running a task in a state gives, as far as it does not depend on who is numbered how.

use anyorder_system::{Effects, Hash128, Place, Reducible, StateSystem, TaskKey, TouchKind};
use anyorder_vm::Machine;
use std::collections::BTreeSet;

pub(crate) type State = <Machine as StateSystem>::State;

/// What one alternative leads to.
#[derive(Clone)]
pub(crate) struct Lead {
    pub(crate) state: State,
    pub(crate) failure: Option<String>,
    /// Which alternative of which step it is: tasks that stand for several messages have several of
    /// one number.
    pub(crate) alternative: u32,
}

/// What an attempt was.
#[derive(Clone)]
pub(crate) struct Attempt {
    pub(crate) leads: Vec<Lead>,
    /// What was touched, and how.
    pub(crate) touched: BTreeSet<(Place, TouchKind)>,
    pub(crate) awaited: BTreeSet<Place>,
}

impl Attempt {
    pub(crate) fn of(machine: &Machine, state: &State, task: TaskKey) -> Attempt {
        let mut effects = Effects::default();
        machine.run(state, task, &mut effects);
        let leads = effects.successors.into_iter().map(|s| Lead {
            state: s.state,
            failure: s.failure.map(|failure| failure.to_string()),
            alternative: s.action.alternative(),
        });
        Attempt {
            leads: leads.collect(),
            touched: effects.touched.iter().map(|t| (t.place, t.kind)).collect(),
            awaited: awaited(machine, task),
        }
    }

    pub(crate) fn writes(&self, place: Place) -> bool {
        self.touched.contains(&(place, TouchKind::Write))
    }

    /// Whether it writes a place, also without changing anything.
    pub(crate) fn writes_at_all(&self, place: Place) -> bool {
        self.writes(place) || self.touched.contains(&(place, TouchKind::SilentWrite))
    }

    /// Whether it depends on a place: by reading or writing it, or waiting for it.
    pub(crate) fn touches(&self, place: Place) -> bool {
        let kinds = [TouchKind::Read, TouchKind::SilentWrite, TouchKind::Write];
        self.awaited.contains(&place) || kinds.iter().any(|k| self.touched.contains(&(place, *k)))
    }

    /// What is written, whether or not that changes anything.
    pub(crate) fn written(&self) -> impl Iterator<Item = Place> + '_ {
        self.touched.iter().filter(|(_, kind)| *kind == TouchKind::Write).map(|(place, _)| *place)
    }

    /// Whether one of two writes what the other touches; silent writes are reads, which is the
    /// stronger claim.
    pub(crate) fn conflicts(&self, other: &Attempt) -> bool {
        self.written().any(|place| other.touches(place))
            || other.written().any(|place| self.touches(place))
    }

    /// What it touches, in words.
    pub(crate) fn words(&self, machine: &Machine) -> Vec<String> {
        let word = |(place, kind): &(Place, TouchKind)| {
            format!("{kind:?} {} ({:x})", machine.place_name(*place), place.0)
        };
        self.touched.iter().map(word).collect()
    }

    /// The failures of its alternatives, in any order.
    pub(crate) fn failures(&self) -> Vec<Option<&str>> {
        let mut all: Vec<_> = self.leads.iter().map(|lead| lead.failure.as_deref()).collect();
        all.sort_unstable();
        all
    }

    /// The failures of its alternatives, each once.
    fn kinds(&self) -> BTreeSet<Option<&str>> {
        self.leads.iter().map(|lead| lead.failure.as_deref()).collect()
    }

    /// Whether two attempts have the same alternatives, as far as can be told without where they
    /// lead. Of a task that stands for several messages or threads, those that are equal once
    /// nothing refers to them are one.
    pub(crate) fn has_failures_of(&self, other: &Attempt) -> bool {
        if self.is_shared() || other.is_shared() {
            return self.kinds() == other.kinds();
        }
        self.failures() == other.failures()
    }

    /// Where its alternatives lead, in any order: failures by what they say.
    pub(crate) fn ends(
        &self,
        machine: &Machine,
        then: impl Fn(&State) -> State,
    ) -> Vec<(Option<&str>, u128)> {
        let mut all: Vec<(Option<&str>, u128)> = self
            .leads
            .iter()
            .map(|lead| match &lead.failure {
                Some(failure) => (Some(failure.as_str()), 0),
                None => (None, machine.fingerprint(&then(&lead.state)).0),
            })
            .collect();
        all.sort_unstable();
        all
    }

    /// Whether the task stood for several messages or threads.
    pub(crate) fn is_shared(&self) -> bool {
        let numbers: BTreeSet<u32> = self.leads.iter().map(|lead| lead.alternative).collect();
        numbers.len() < self.leads.len()
    }
}

pub(crate) fn awaited(machine: &Machine, task: TaskKey) -> BTreeSet<Place> {
    let mut awaited = Vec::new();
    machine.awaits(task, &mut awaited);
    awaited.into_iter().collect()
}

/// The tasks that are ready in a state.
pub(crate) fn ready(machine: &Machine, state: &State) -> BTreeSet<TaskKey> {
    let mut keys = Vec::new();
    machine.ready(state, &mut keys);
    let set: BTreeSet<TaskKey> = keys.iter().copied().collect();
    assert_eq!(set.len(), keys.len(), "each key once");
    set
}

/// The tasks that are there, ready or not.
pub(crate) fn pending(machine: &Machine, state: &State) -> BTreeSet<TaskKey> {
    let mut keys = Vec::new();
    machine.pending(state, &mut keys);
    keys.into_iter().collect()
}

/// All transitions of a state: what they fail with, where they lead.
pub(crate) fn transitions(machine: &Machine, state: &State) -> Vec<(Option<String>, Hash128)> {
    let mut all = Vec::new();
    machine.successors(state, &mut all);
    let mut all: Vec<(Option<String>, Hash128)> = all
        .into_iter()
        .map(|s| match s.failure {
            Some(failure) => (Some(failure.to_string()), Hash128(0)),
            None => (None, machine.fingerprint(&s.state)),
        })
        .collect();
    all.sort_unstable_by(|a, b| (&a.0, a.1.0).cmp(&(&b.0, b.1.0)));
    all
}
