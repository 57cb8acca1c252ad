//! Which actor takes a transition, and at which place: livelocks are defined by both.

use crate::failure::FailureSite;
use std::fmt;

/// Why something may run for ever.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Role {
    /// It comes from outside: an input event.
    Input,
    /// It is declared to have no end of its own.
    Daemon,
    /// Neither.
    Worker,
}

/// A part of a program, and a place in it. The numbers of identical parts are left out.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PlaceOfStep {
    /// The kind of the part: `event`, `task`, `thread`; empty if it needs no word.
    pub kind: &'static str,
    /// The name of the part.
    pub part: String,
    /// The position in the source, if there is one.
    pub site: Option<FailureSite>,
}

impl PlaceOfStep {
    /// Returns the part in words: `task paint`.
    #[must_use]
    pub fn words(&self) -> String {
        match self.kind {
            "" => self.part.clone(),
            kind => format!("{kind} {}", self.part),
        }
    }
}

/// What takes a transition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Actor {
    /// Where the transition stands in the program.
    pub place: PlaceOfStep,
    /// Why it may run for ever.
    pub role: Role,
}

type Of<'s, S, A> = Box<dyn Fn(&S, &A) -> Actor + Send + Sync + 's>;

/// What takes the transitions of a program, for programs that are to end.
///
/// ```
/// use anyorder_system::{Actor, Actors, PlaceOfStep, Role};
/// let place = |name: &str| PlaceOfStep { kind: "", part: name.to_owned(), site: None };
/// let actors = Actors::new(false, |_state: &u8, action: &&str| Actor {
///     place: place(*action),
///     role: Role::Worker,
/// });
/// assert_eq!(actors.of(&1, &"poll").place.part, "poll");
/// ```
pub struct Actors<'s, S, A> {
    /// Whether the program says that its runs end, by saying in which states they may.
    pub must_end: bool,
    of: Of<'s, S, A>,
}

impl<'s, S, A> Actors<'s, S, A> {
    /// Makes it from a function of a state and one of its actions. What it returns must be the same
    /// for all alternatives of a task, in all states where the task reads the same, and for states
    /// that differ only in the names of identical components.
    #[must_use]
    pub fn new(
        must_end: bool,
        of: impl Fn(&S, &A) -> Actor + Send + Sync + 's,
    ) -> Actors<'s, S, A> {
        Actors { must_end, of: Box::new(of) }
    }

    /// Returns what takes an action in a state.
    #[must_use]
    pub fn of(&self, state: &S, action: &A) -> Actor {
        (self.of)(state, action)
    }
}

impl<S, A> fmt::Debug for Actors<'_, S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Actors").field("must_end", &self.must_end).finish_non_exhaustive()
    }
}
