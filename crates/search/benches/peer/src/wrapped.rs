//! Our models as models of `stateright`.

use crate::models::registers::{Protocol, Registers, State};
use crate::models::two_phase::{self, TwoPhase};
use anyorder_system::StateSystem;
use stateright::{Model, Property};
use std::fmt::Debug;
use std::hash::Hash;

/// A model that names what may happen before it does it.
pub(crate) trait Acts: StateSystem {
    type Act: Debug + PartialEq + Copy;

    fn acts(&self, state: &Self::State, out: &mut Vec<Self::Act>);

    fn act(&self, state: &Self::State, act: Self::Act) -> Option<Self::State>;
}

impl Acts for TwoPhase {
    type Act = two_phase::Action;

    fn acts(&self, state: &two_phase::State, out: &mut Vec<two_phase::Action>) {
        self.actions(state, |action| out.push(action));
    }

    fn act(&self, state: &two_phase::State, act: two_phase::Action) -> Option<two_phase::State> {
        Some(state.after(act))
    }
}

impl<P: Protocol> Acts for Registers<P> {
    /// The place of a message.
    type Act = usize;

    fn acts(&self, state: &State<P::Server>, out: &mut Vec<usize>) {
        out.extend(self.deliveries(state));
    }

    fn act(&self, state: &State<P::Server>, act: usize) -> Option<State<P::Server>> {
        self.deliver(state, act)
    }
}

/// Actions first, then the states after them.
pub(crate) struct OwnWay<S>(pub(crate) S);

impl<S> Model for OwnWay<S>
where
    S: Acts + Send + 'static,
    S::State: Hash + Debug + PartialEq,
{
    type State = S::State;
    type Action = S::Act;

    fn init_states(&self) -> Vec<S::State> {
        self.0.initial()
    }

    fn actions(&self, state: &S::State, actions: &mut Vec<S::Act>) {
        self.0.acts(state, actions);
    }

    fn next_state(&self, state: &S::State, action: S::Act) -> Option<S::State> {
        self.0.act(state, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        // A property that is never discovered keeps the peer from stopping early.
        vec![Property::always("invariant", |model: &OwnWay<S>, state| model.0.properties().invariants[0].holds(state))]
    }
}

/// Each successor is an action.
pub(crate) struct ReadyMade<S>(pub(crate) S);

impl<S> Model for ReadyMade<S>
where
    S: StateSystem + Send + 'static,
    S::State: Hash + Debug + PartialEq,
{
    type State = S::State;
    type Action = S::State;

    fn init_states(&self) -> Vec<S::State> {
        self.0.initial()
    }

    fn actions(&self, state: &S::State, actions: &mut Vec<S::State>) {
        let mut successors = Vec::new();
        self.0.successors(state, &mut successors);
        actions.extend(successors.into_iter().map(|successor| successor.state));
    }

    fn next_state(&self, _state: &S::State, action: S::State) -> Option<S::State> {
        Some(action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("invariant", |model: &ReadyMade<S>, state| model.0.properties().invariants[0].holds(state))]
    }
}
