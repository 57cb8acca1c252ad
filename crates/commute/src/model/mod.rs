//! Executable models of types, and the search for what is wrong with a specification.

pub use check::{Counterexample, Difference, Limits, Verdict, check};
pub use mutate::{Mutant, mutants};

use crate::value::Value;

/// A call before it happens.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Call {
    /// The name of the method.
    pub method: String,
    /// The arguments.
    pub arguments: Vec<Value>,
}

impl Call {
    /// Returns a call.
    #[must_use]
    pub fn new(method: &str, arguments: Vec<Value>) -> Call {
        Call { method: method.to_owned(), arguments }
    }
}

/// A type as it behaves, on its abstract states: what a specification is checked against.
pub trait Model {
    /// An abstract state. Equal states must behave alike, and states that do not behave alike must
    /// differ.
    type State: Clone + Ord + std::fmt::Debug;

    /// Returns the states of new objects.
    fn initial(&self) -> Vec<Self::State>;

    /// Returns the calls to try: a finite choice of the methods' arguments.
    fn calls(&self) -> Vec<Call>;

    /// Returns what a call can do in a state: each next state, with the result. Nothing: the call
    /// blocks there.
    fn apply(&self, state: &Self::State, call: &Call) -> Vec<(Self::State, Value)>;

    /// Returns the value of a function of the state that conditions of logic L1 use.
    fn function(&self, _state: &Self::State, _name: &str, _arguments: &[Value]) -> Option<Value> {
        None
    }
}

mod check;
mod mutate;
