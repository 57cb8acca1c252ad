//! Programs whose states are values: the input of full search.

use crate::actors::Actors;
use crate::failure::Failure;
use crate::properties::{Classes, Properties};
use crate::update::Updates;
use anyorder_common::hash::Hash128;
use anyorder_common::state_hash::StateHash;
use std::fmt::Debug;

/// The result of one transition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Successor<S, A> {
    /// Its action.
    pub action: A,
    /// The state after it.
    pub state: S,
    /// Its failure: an assertion, an exception. The state after a failure is not expanded.
    pub failure: Option<Failure>,
}

/// A program as states and transitions, for engines that store states in memory. It needs no names
/// and no schedules. Actions may have any type; equal actions in equal states must have the same
/// effect.
///
/// Where serde can write the states, [`SerdeSystem`](crate::SerdeSystem) is the shorter way.
///
/// The core is [`initial`](Self::initial), [`successors`](Self::successors),
/// [`encode`](Self::encode) and [`decode`](Self::decode). All other methods are optional, and the
/// engine calls them once. By default a program has no properties, no fairness and no symmetry, and
/// its states are shown by `Debug`.
///
/// An example: two nodes write to their registers on messages, and must agree in the end:
///
/// ```
/// use anyorder_system::{End, Properties, StateSystem, Successor};
///
/// struct Registers;
///
/// /// What each node holds, and the messages on their way: to whom, and what to write.
/// #[derive(Clone, PartialEq, Eq, Debug)]
/// struct State {
///     held: [u8; 2],
///     sent: Vec<(u8, u8)>,
/// }
///
/// impl StateSystem for Registers {
///     type State = State;
///     /// The message that is delivered.
///     type Action = (u8, u8);
///
///     fn initial(&self) -> Vec<State> {
///         vec![State { held: [0; 2], sent: vec![(0, 7), (0, 8), (1, 7), (1, 8)] }]
///     }
///
///     fn successors(&self, state: &State, out: &mut Vec<Successor<State, (u8, u8)>>) {
///         for (at, (node, value)) in state.sent.iter().enumerate() {
///             let mut next = state.clone();
///             next.held[usize::from(*node)] = *value;
///             next.sent.remove(at);
///             out.push(Successor { action: (*node, *value), state: next, failure: None });
///         }
///     }
///
///     fn encode(&self, state: &State, out: &mut Vec<u8>) {
///         out.extend(state.held);
///         out.extend(state.sent.iter().flat_map(|(node, value)| [*node, *value]));
///     }
///
///     fn decode(&self, bytes: &[u8]) -> Option<State> {
///         let (held, sent) = bytes.split_first_chunk::<2>()?;
///         let sent = sent.chunks_exact(2).map(|one| (one[0], one[1])).collect();
///         Some(State { held: *held, sent })
///     }
///
///     fn properties(&self) -> Properties<'_, State> {
///         let agree = |state: &State| state.held[0] == state.held[1];
///         Properties::new().end(move |state| if agree(state) { End::Fine } else { End::Wrong })
///     }
/// }
///
/// // The nodes get the writes in different orders.
/// let apart = State { held: [8, 7], sent: vec![] };
/// assert_eq!(Registers.properties().end_of(&apart), End::Wrong);
/// ```
pub trait StateSystem: Sync {
    /// A state. Cloning should be cheap: share what does not change.
    type State: Clone + Debug + Send + Sync;
    /// What leads from one state to the next.
    type Action: Clone + Debug + Send + Sync;

    /// Returns the initial states, at least one.
    fn initial(&self) -> Vec<Self::State>;

    /// Appends every transition from a state, always in the same order.
    fn successors(&self, state: &Self::State, out: &mut Vec<Successor<Self::State, Self::Action>>);

    /// Appends the canonical form of a state as bytes, from which [`decode`](Self::decode) makes it
    /// again: two states are equal exactly if their bytes are.
    fn encode(&self, state: &Self::State, out: &mut Vec<u8>);

    /// Makes a state from its canonical form; `None` when the bytes are not one.
    fn decode(&self, bytes: &[u8]) -> Option<Self::State>;

    /// Returns a hash of the canonical form of a state: equal states have equal fingerprints.
    /// Override it if this is faster than encoding.
    fn fingerprint(&self, state: &Self::State) -> Hash128 {
        let mut bytes = Vec::new();
        self.encode(state, &mut bytes);
        StateHash::of_bytes(&bytes)
    }

    /// Returns the properties of states: invariants, response properties, and the states in which
    /// the program may end.
    fn properties(&self) -> Properties<'_, Self::State> {
        Properties::new()
    }

    /// Returns the fairness classes of actions: the processes or handlers that do not wait for ever
    /// while they can run (weak fairness).
    fn fairness(&self) -> Classes<'_, Self::Action> {
        Classes::none()
    }

    /// Returns whether a transition is *optional*: it need not come, however long it is offered. A
    /// state that offers no other transitions is an end, as one that offers none: a run may end
    /// there. By default none is.
    fn is_optional(&self, _action: &Self::Action) -> bool {
        false
    }

    /// Returns what takes the transitions, if livelocks are faults of the program: states from
    /// which no run can end. By default they are none.
    fn actors(&self) -> Option<Actors<'_, Self::State, Self::Action>> {
        None
    }

    /// Returns the parts of the program that should each run at least once: events, tasks,
    /// handlers.
    fn parts(&self) -> Classes<'_, Self::Action> {
        Classes::none()
    }

    /// Returns the representative of all states that differ only in the names of identical
    /// components, if the program declares such a symmetry.
    fn representative(&self, _state: &Self::State) -> Option<Self::State> {
        None
    }

    /// Returns the names of the components whose updates must not overwrite each other. Empty:
    /// engines do not report update conflicts.
    fn components(&self) -> Vec<String> {
        Vec::new()
    }

    /// Like [`successors`](Self::successors), and reports the updates of each transition, including
    /// failing ones, in the same order. Called only if there are
    /// [`components`](Self::components).
    fn successors_with_updates(
        &self,
        state: &Self::State,
        out: &mut Vec<Successor<Self::State, Self::Action>>,
        updates: &mut Updates,
    ) {
        let before = out.len();
        self.successors(state, out);
        (before..out.len()).for_each(|_| updates.end());
    }

    /// Returns who takes a transition of a state, as a number: a thread, a handler. Of equally
    /// short counterexamples, a front end shows one in which few steps follow a step of another
    /// runner. `None`: nobody who takes another one. By default no runners are known.
    fn runner(&self, _state: &Self::State, _action: &Self::Action) -> Option<u64> {
        None
    }

    /// Returns the number that the runner of a transition has in the state after it; `None` if it
    /// takes no further step. Override it if the numbers of runners depend on the state.
    fn runner_after(
        &self,
        before: &Self::State,
        action: &Self::Action,
        _after: &Self::State,
    ) -> Option<u64> {
        self.runner(before, action)
    }

    /// Returns the description of an action, for counterexamples.
    fn describe(&self, _state: &Self::State, action: &Self::Action) -> String {
        format!("{action:?}")
    }

    /// Returns the description of a state: named parts and their values, in a fixed order.
    fn show(&self, state: &Self::State) -> Vec<(String, String)> {
        vec![("state".to_owned(), format!("{state:?}"))]
    }
}
