//! A program whose states are values: what full search works on.

use crate::failure::Failure;
use crate::hash::Hash128;
use crate::update::Updates;

/// What one transition leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Successor<S, A> {
    /// What was done.
    pub action: A,
    /// The state after it.
    pub state: S,
    /// What failed on the way: an assertion, an exception. The state after a failure is not expanded.
    pub failure: Option<Failure>,
}

/// A program as states and transitions, for engines that keep states in memory. It needs no names and no schedules: an
/// action is whatever the program likes, and equal actions in equal states do the same.
///
/// A [`TaskSystem`](crate::TaskSystem) that can save and restore is one too, by way of an adapter; a `StateSystem` is
/// what a model written in Rust implements directly.
pub trait StateSystem: Sync {
    /// A state. Cloning should be cheap: share what does not change.
    type State: Clone + Send + Sync;
    /// What leads from one state to the next.
    type Action: Clone + Send + Sync;

    /// Returns the initial states, at least one.
    fn initial(&self) -> Vec<Self::State>;

    /// Appends every transition from a state, always in the same order. None at all: the state is final or a deadlock,
    /// see [`is_final`](Self::is_final).
    fn successors(&self, state: &Self::State, out: &mut Vec<Successor<Self::State, Self::Action>>);

    /// As [`successors`](Self::successors), and tells the updates of each transition, a failing one included, in the same order. Only asked where there are
    /// [`components`](Self::components).
    fn successors_telling(
        &self,
        state: &Self::State,
        out: &mut Vec<Successor<Self::State, Self::Action>>,
        updates: &mut Updates,
    ) {
        let before = out.len();
        self.successors(state, out);
        (before..out.len()).for_each(|_| updates.end());
    }

    /// Returns the names of the components whose updates must not overwrite each other, fixed; none: update conflicts are not looked for.
    fn components(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns a hash of the canonical form of a state: equal states have equal fingerprints.
    fn fingerprint(&self, state: &Self::State) -> Hash128;

    /// Appends the canonical form of a state as bytes, from which [`decode`](Self::decode) makes it again: two states are equal
    /// exactly if their bytes are.
    fn encode(&self, state: &Self::State, out: &mut Vec<u8>);

    /// Makes a state from its canonical form; `None` when the bytes are not one.
    fn decode(&self, bytes: &[u8]) -> Option<Self::State>;

    /// Returns whether it is fine that nothing can happen in this state. Where it is not, that is a deadlock.
    fn is_final(&self, _state: &Self::State) -> bool {
        true
    }

    /// Returns whether something waits for ever in a state that offers nothing and is not final: a deadlock. If not, all is done,
    /// and the state is only not one that the program may end in.
    fn is_stuck(&self, _state: &Self::State) -> bool {
        true
    }

    /// Returns the names of the invariants, fixed.
    fn invariants(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns whether the state keeps an invariant, by its index.
    fn holds(&self, _invariant: usize, _state: &Self::State) -> bool {
        true
    }

    /// Returns the names of the response properties "whenever the trigger holds, the response holds then or later", fixed.
    fn responses(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns whether the trigger, and whether the response, of a response property hold in a state.
    fn response(&self, _property: usize, _state: &Self::State) -> (bool, bool) {
        (false, true)
    }

    /// Returns the number of fairness classes: the processes or handlers that do not wait for ever while they can go on
    /// (weak fairness).
    fn fair_classes(&self) -> usize {
        0
    }

    /// Returns the fairness class that an action belongs to, if any.
    fn fair_class(&self, _action: &Self::Action) -> Option<usize> {
        None
    }

    /// Returns the names of the parts of the program that should each run at least once, fixed: events, tasks, handlers.
    fn parts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns which part an action runs, if any.
    fn part(&self, _action: &Self::Action) -> Option<usize> {
        None
    }

    /// Returns a representative of the states that are the same but for the names of identical components, where the
    /// program declares such a symmetry. The same for all of them.
    fn representative(&self, _state: &Self::State) -> Option<Self::State> {
        None
    }

    /// Returns an action in words, for counterexamples.
    fn describe(&self, state: &Self::State, action: &Self::Action) -> String;

    /// Returns a state in words: named parts and their values, in a fixed order.
    fn show(&self, state: &Self::State) -> Vec<(String, String)>;
}
