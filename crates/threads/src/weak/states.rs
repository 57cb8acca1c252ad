//! The states of objects, by number, and what operations make of them.
//!
//! A register, or data, has its value for a state. All other states are numbered as they come.

use super::behaviour::NodeId;
use crate::ids::{ObjectId, ThreadId};
use crate::object::Object;
use crate::op::Act;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The result of an operation and the state after it; `None` if it waits.
type Effect = Option<(u64, u64)>;

#[derive(Clone, Default)]
pub(super) struct States {
    all: Vec<Object>,
    numbers: FxHashMap<Object, u64>,
    /// By object, the state in which it is made.
    initial: Vec<Option<u64>>,
    /// By object, whether its writes need not depend on the ones before: a register, or data.
    loose: Vec<bool>,
    /// Whether an operation that leaves an object as it is only reads it.
    pub(super) has_readers: bool,
    /// By place and phase of the operation, state and alternative.
    effects: FxHashMap<(NodeId, u8, u64, u32), Effect>,
    /// The numbers that several searches use, if there are several.
    shared: Option<Arc<Mutex<Numbers>>>,
}

/// Objects by number, and the other way round.
#[derive(Default)]
struct Numbers {
    all: Vec<Object>,
    numbers: FxHashMap<Object, u64>,
}

impl States {
    pub(super) fn make(&mut self, object: ObjectId, initial: impl FnOnce() -> Object) {
        if self.initial.len() <= object.index() {
            self.initial.resize(object.index() + 1, None);
            self.loose.resize(object.index() + 1, false);
        }
        if self.initial[object.index()].is_none() {
            let number = match initial() {
                Object::Register(value) | Object::Data(value) => {
                    self.loose[object.index()] = true;
                    value
                }
                other => self.number(other),
            };
            self.initial[object.index()] = Some(number);
        }
    }

    /// Whether an object is a register, or data.
    pub(super) fn is_loose(&self, object: u32) -> bool {
        self.loose.get(object as usize).copied().unwrap_or(false)
    }

    pub(super) fn initial(&self, object: u32) -> u64 {
        self.initial.get(object as usize).copied().flatten().unwrap_or(0)
    }

    pub(super) fn state(&self, number: u64) -> Option<&Object> {
        self.all.get(number as usize)
    }

    /// The same states, for other searches that have the same numbers from now on.
    pub(super) fn sharing(&self) -> States {
        let numbers = Numbers { all: self.all.clone(), numbers: self.numbers.clone() };
        States { shared: Some(Arc::new(Mutex::new(numbers))), ..self.clone() }
    }

    /// Takes over the numbers that other searches have given.
    pub(super) fn update(&mut self) {
        if let Some(shared) = self.shared.clone() {
            let shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            self.take_over(&shared);
        }
    }

    fn take_over(&mut self, shared: &Numbers) {
        for (number, state) in shared.all.iter().enumerate().skip(self.all.len()) {
            self.all.push(state.clone());
            self.numbers.insert(state.clone(), number as u64);
        }
    }

    fn number(&mut self, state: Object) -> u64 {
        if let Some(shared) = self.shared.clone() {
            if let Some(number) = self.numbers.get(&state) {
                return *number;
            }
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            let next = shared.all.len() as u64;
            let number = *shared.numbers.entry(state.clone()).or_insert(next);
            if number == next {
                shared.all.push(state);
            }
            self.take_over(&shared);
            return number;
        }
        let next = self.all.len() as u64;
        let number = *self.numbers.entry(state.clone()).or_insert(next);
        if number == next {
            self.all.push(state);
        }
        number
    }

    /// What a thread's operation does in a state.
    pub(super) fn perform(
        &mut self,
        (thread, act): (ThreadId, &Act),
        at: (NodeId, u8),
        state: u64,
        alternative: u32,
    ) -> Effect {
        let key = (at.0, at.1, state, alternative);
        if let Some(effect) = self.effects.get(&key) {
            return *effect;
        }
        let mut object = self.state(state)?.clone();
        let result = object.perform(thread, act, alternative);
        let effect = result.map(|result| (result, self.number(object)));
        self.effects.insert(key, effect);
        effect
    }

    /// In how many ways a thread's operation can be performed in a state in which it does not wait.
    pub(super) fn alternatives(&self, act: &Act, state: u64) -> u32 {
        match (act, self.state(state)) {
            (Act::Notify { all: false, .. }, Some(Object::Condition { waiting, .. })) => {
                (waiting.len() as u32).max(1)
            }
            _ => 1,
        }
    }
}
