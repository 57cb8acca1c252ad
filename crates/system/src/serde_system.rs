//! Programs in three methods, whose states serde can write.

use crate::properties::Properties;
use crate::state_system::{StateSystem, Successor};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Debug;

/// The shortest way to a [`StateSystem`]: each program with this trait is one. What the other
/// methods of a state system do, their defaults do here, and serde writes, reads and shows the
/// states.
///
/// Two states are equal if serde writes the same for both. So keep what has no order in a
/// `BTreeMap` or a `BTreeSet`, never in a hash map. Attributes that leave fields out
/// (`skip_serializing_if`) or untag enums make states that cannot be read again.
///
/// A program whose steps fail, or that has fairness or symmetry, implements [`StateSystem`] itself.
///
/// ```
/// use anyorder_system::{Properties, SerdeSystem};
/// use serde::{Deserialize, Serialize};
///
/// /// Two threads that each add one, in two steps.
/// struct LostUpdate;
///
/// #[derive(Clone, Debug, Default, Serialize, Deserialize)]
/// struct State {
///     count: u32,
///     /// What each thread has read, and whether it is done.
///     threads: [(Option<u32>, bool); 2],
/// }
///
/// impl SerdeSystem for LostUpdate {
///     type State = State;
///     type Action = usize;
///
///     fn initial(&self) -> Vec<State> {
///         vec![State::default()]
///     }
///
///     fn steps(&self, state: &State) -> Vec<(usize, State)> {
///         let mut steps = Vec::new();
///         let open = state.threads.iter().enumerate().filter(|(_, one)| !one.1);
///         for (thread, (read, done)) in open {
///             let mut next = state.clone();
///             match read {
///                 None => next.threads[thread].0 = Some(state.count),
///                 Some(read) => (next.count, next.threads[thread].1) = (read + 1, !done),
///             }
///             steps.push((thread, next));
///         }
///         steps
///     }
///
///     fn properties(&self) -> Properties<'_, State> {
///         let is_done = |state: &State| state.threads.iter().all(|(_, done)| *done);
///         let is_right = move |state: &State| !is_done(state) || state.count == 2;
///         Properties::new().invariant("none lost", is_right)
///     }
/// }
/// ```
pub trait SerdeSystem: Sync {
    /// A state. Cloning should be cheap.
    type State: Clone + Debug + Send + Sync + Serialize + DeserializeOwned;
    /// What leads from one state to the next; its `Debug` describes it.
    type Action: Clone + Debug + Send + Sync;

    /// Returns the initial states, at least one.
    fn initial(&self) -> Vec<Self::State>;

    /// Returns every step from a state, always in the same order.
    fn steps(&self, state: &Self::State) -> Vec<(Self::Action, Self::State)>;

    /// Returns the properties of states.
    fn properties(&self) -> Properties<'_, Self::State> {
        Properties::new()
    }
}

impl<P: SerdeSystem> StateSystem for P {
    type State = P::State;
    type Action = P::Action;

    fn initial(&self) -> Vec<P::State> {
        SerdeSystem::initial(self)
    }

    fn successors(&self, state: &P::State, out: &mut Vec<Successor<P::State, P::Action>>) {
        let steps = self.steps(state).into_iter();
        out.extend(steps.map(|(action, state)| Successor { action, state, failure: None }));
    }

    /// # Panics
    ///
    /// Panics if the state's `Serialize` fails.
    fn encode(&self, state: &P::State, out: &mut Vec<u8>) {
        let written = postcard::to_extend(state, std::mem::take(out));
        *out = written.expect("serde writes the state");
    }

    fn decode(&self, bytes: &[u8]) -> Option<P::State> {
        let (state, rest) = postcard::take_from_bytes(bytes).ok()?;
        rest.is_empty().then_some(state)
    }

    fn properties(&self) -> Properties<'_, P::State> {
        SerdeSystem::properties(self)
    }

    fn show(&self, state: &P::State) -> Vec<(String, String)> {
        shown(state)
    }
}

/// Returns the fields of a state with their values, those of inner structs under paths (`a.b`). A
/// state that JSON cannot express is one part.
fn shown<S: Serialize + Debug>(state: &S) -> Vec<(String, String)> {
    let mut parts = Vec::new();
    match serde_json::to_value(state) {
        Ok(value) => add("", &value, &mut parts),
        Err(_) => parts.push((String::new(), format!("{state:?}"))),
    }
    // A state without named fields has one part.
    for (name, _) in parts.iter_mut().filter(|(name, _)| name.is_empty()) {
        "state".clone_into(name);
    }
    parts
}

fn add(name: &str, value: &Value, parts: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (field, value) in fields {
                let dot = if name.is_empty() { "" } else { "." };
                add(&format!("{name}{dot}{field}"), value, parts);
            }
        }
        Value::String(text) => parts.push((name.to_owned(), text.clone())),
        other => parts.push((name.to_owned(), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    struct Any;

    #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
    struct State {
        inner: Inner,
        mode: Mode,
        sent: Vec<(u8, u8)>,
    }

    #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
    struct Inner {
        term: u64,
        vote: Option<i8>,
    }

    #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
    enum Mode {
        #[default]
        Idle,
        Busy(String),
    }

    impl SerdeSystem for Any {
        type State = State;
        type Action = ();

        fn initial(&self) -> Vec<State> {
            vec![State::default()]
        }

        fn steps(&self, _state: &State) -> Vec<((), State)> {
            Vec::new()
        }
    }

    #[test]
    fn a_state_comes_back_as_it_was_written() {
        let inner = Inner { term: u64::MAX, vote: Some(-1) };
        let state = State { inner, mode: Mode::Busy("b\u{e4}".into()), sent: vec![(1, 2), (3, 4)] };
        let mut bytes = vec![7];
        Any.encode(&state, &mut bytes);
        assert_eq!(bytes[0], 7, "encode appends");
        assert_eq!(Any.decode(&bytes[1..]), Some(state));
        assert_eq!(Any.decode(&bytes[1..bytes.len() - 1]), None);
        bytes.push(0);
        assert_eq!(Any.decode(&bytes[1..]), None, "nothing may follow");
    }

    #[test]
    fn states_are_shown_by_their_fields() {
        let part = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let shows = Any.show(&State { sent: vec![(1, 2)], ..State::default() });
        let parts = [
            part("inner.term", "0"),
            part("inner.vote", "null"),
            part("mode", "Idle"),
            part("sent", "[[1,2]]"),
        ];
        assert_eq!(shows, parts);
        assert_eq!(shown(&3), [part("state", "3")]);
        // No key of JSON.
        let pairs = BTreeMap::from([((1, 2), 3)]);
        assert_eq!(shown(&pairs), [part("state", "{(1, 2): 3}")]);
    }
}
