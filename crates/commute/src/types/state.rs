//! The states of the models, and small helpers to write them.

use crate::model::Call;
use crate::value::Value;

/// An abstract state; each model documents the meaning of its numbers.
pub(super) type State = Vec<i64>;

/// The outcomes of a call: next states, with results.
pub(super) type Outcomes = Vec<(State, Value)>;

/// The only outcome of a call.
pub(super) fn one(state: State, result: impl Into<Value>) -> Outcomes {
    vec![(state, result.into())]
}

/// The only outcome of a call that returns a number, or `null`.
pub(super) fn one_or_null(state: State, result: Option<i64>) -> Outcomes {
    vec![(state, result.map_or(Value::Null, Value::Int))]
}

/// The number at a position of the arguments; 0 if there is none, which does not occur in the calls
/// of the models.
pub(super) fn int(arguments: &[Value], at: usize) -> i64 {
    arguments.get(at).and_then(Value::as_int).unwrap_or(0)
}

/// The index into a state for an argument; larger ones wrap around.
pub(super) fn index(state: &State, arguments: &[Value], at: usize) -> usize {
    let places = i64::try_from(state.len().max(1)).unwrap_or(i64::MAX);
    usize::try_from(int(arguments, at).rem_euclid(places)).unwrap_or(0)
}

/// Calls of methods with one argument each, from a list.
pub(super) fn calls_of(methods: &[&str], values: std::ops::Range<i64>) -> Vec<Call> {
    let mut calls = Vec::new();
    for method in methods {
        calls.extend(values.clone().map(|value| Call::new(method, vec![Value::Int(value)])));
    }
    calls
}

/// Calls of methods without arguments.
pub(super) fn plain_calls(methods: &[&str]) -> Vec<Call> {
    methods.iter().map(|method| Call::new(method, Vec::new())).collect()
}

/// The functions of a state, for models without any.
pub(super) fn no_functions(_: &State, _: &str, _: &[Value]) -> Option<Value> {
    None
}
