//! Executable models of types, and the search for mistakes in a specification.

pub use check::{CheckLimits, Counterexample, Difference, Verdict, check};
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

/// The behaviour of a type on its abstract states; specifications are checked against it.
pub trait Model {
    /// An abstract state. States are equal exactly when they behave alike.
    type State: Clone + Ord + std::fmt::Debug;

    /// Returns the states of new objects.
    fn initial(&self) -> Vec<Self::State>;

    /// Returns the calls to try: a finite selection of arguments for the methods.
    fn calls(&self) -> Vec<Call>;

    /// Returns the outcomes of a call in a state: each next state, with the result. If there is
    /// none, the call blocks there.
    fn apply(&self, state: &Self::State, call: &Call) -> Vec<(Self::State, Value)>;

    /// Returns the value of a state function used in conditions of logic L1.
    fn function(&self, _state: &Self::State, _name: &str, _arguments: &[Value]) -> Option<Value> {
        None
    }
}

mod check;
mod mutate;
