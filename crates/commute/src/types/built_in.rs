//! A built-in type: its specifications, its communication and its model.

use super::state::{Outcomes, State};
use super::{
    containers, numbers, resources, semaphore, sequences, synchronization, union_find, wait_group,
};
use crate::model::{Call, Model};
use crate::text::{Document, SpecErrors};
use crate::value::Value;

/// A type whose specification comes with the crate.
///
/// As a [`Model`], it is the reference for the proofs of its specifications.
pub struct BuiltIn {
    /// The name, which its specifications share.
    pub name: &'static str,
    /// The clauses of a specification that uses arguments and methods only, or less than possible:
    /// cheap to evaluate.
    pub coarse: &'static str,
    /// The clauses of the most precise specification, as the tests prove on its model.
    pub fine: &'static str,
    /// The observations of invocations: the clauses of its `comm` item.
    pub comm: &'static str,
    /// The conditions that calls wait for: the clauses of its `waits` item; none for types whose
    /// calls always return.
    pub waits: &'static str,
    pub(super) initial: fn() -> Vec<State>,
    pub(super) calls: fn() -> Vec<Call>,
    pub(super) apply: fn(&State, &str, &[Value]) -> Outcomes,
    pub(super) function: fn(&State, &str, &[Value]) -> Option<Value>,
}

/// Returns all built-in types, in the order of the documentation.
#[must_use]
pub fn built_in_types() -> &'static [BuiltIn] {
    &TYPES
}

/// Returns the built-in type with a name.
#[must_use]
pub fn built_in_type(name: &str) -> Option<&'static BuiltIn> {
    TYPES.iter().find(|built_in| built_in.name == name)
}

static TYPES: [BuiltIn; 16] = [
    numbers::REGISTER,
    numbers::COUNTER,
    containers::SET,
    containers::MAP,
    containers::MULTISET,
    sequences::QUEUE,
    sequences::STACK,
    union_find::UNION_FIND,
    synchronization::CHANNEL,
    synchronization::CONDITION,
    synchronization::CONTEXT,
    resources::FILE,
    resources::MEMORY,
    synchronization::FUTURE,
    semaphore::SEMAPHORE,
    wait_group::WAIT_GROUP,
];

impl BuiltIn {
    /// Parses the coarse specification, the communication and the wait rules.
    ///
    /// # Errors
    /// None: the tests parse all texts.
    pub fn coarse(&self) -> Result<Document, SpecErrors> {
        self.document(self.coarse)
    }

    /// Parses the fine specification, the communication and the wait rules.
    ///
    /// # Errors
    /// None: the tests parse all texts.
    pub fn fine(&self) -> Result<Document, SpecErrors> {
        self.document(self.fine)
    }

    /// Returns an item of a text about this type: its kind and its clauses. Empty without clauses.
    #[must_use]
    pub fn item(&self, kind: &str, clauses: &str) -> String {
        match clauses {
            "" => String::new(),
            clauses => format!("{kind} {} {{{}\n}}\n", self.name, clauses.trim_end()),
        }
    }

    fn document(&self, spec: &str) -> Result<Document, SpecErrors> {
        let items = [("spec", spec), ("comm", self.comm), ("waits", self.waits)];
        Document::parse(&items.map(|(kind, clauses)| self.item(kind, clauses)).concat())
    }
}

impl Model for &BuiltIn {
    /// Each type documents the meaning of its numbers. States must come from this model: others may
    /// lack positions that a method reads.
    type State = Vec<i64>;

    fn initial(&self) -> Vec<State> {
        (self.initial)()
    }

    fn calls(&self) -> Vec<Call> {
        (self.calls)()
    }

    fn apply(&self, state: &State, call: &Call) -> Vec<(State, Value)> {
        (self.apply)(state, &call.method, &call.arguments)
    }

    fn function(&self, state: &State, name: &str, arguments: &[Value]) -> Option<Value> {
        (self.function)(state, name, arguments)
    }
}
