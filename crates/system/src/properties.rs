//! The properties of a program's states, and the classes of its actions: named items with
//! functions.

use crate::reducible::Place;
use std::fmt;

type Function<'s, A, R> = Box<dyn Fn(&A) -> R + Send + Sync + 's>;
type Watching<'s, S> = Box<dyn Fn(&S, &mut Vec<Place>) + Send + Sync + 's>;

/// A property that must hold in every state.
pub struct Invariant<'s, S> {
    /// Its name, for results.
    pub name: String,
    holds: Function<'s, S, bool>,
    watches: Option<Watching<'s, S>>,
}

impl<S> Invariant<'_, S> {
    /// Returns whether it holds in a state.
    #[inline]
    #[must_use]
    pub fn holds(&self, state: &S) -> bool {
        (self.holds)(state)
    }

    /// Appends the places that it may read in a state.
    #[inline]
    pub fn watches(&self, state: &S, out: &mut Vec<Place>) {
        if let Some(watches) = &self.watches {
            watches(state, out);
        }
    }

    /// Returns whether it lists the places that it reads: reduced searches need that.
    #[must_use]
    pub fn is_watching(&self) -> bool {
        self.watches.is_some()
    }
}

/// "Whenever the trigger holds, the response holds then or later."
pub struct Response<'s, S> {
    /// Its name, for results.
    pub name: String,
    holds: Function<'s, S, (bool, bool)>,
}

impl<S> Response<'_, S> {
    /// Returns whether the trigger, and whether the response, holds in a state.
    #[inline]
    #[must_use]
    pub fn holds(&self, state: &S) -> (bool, bool) {
        (self.holds)(state)
    }
}

/// What a state offers to a run that has reached it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offers {
    /// No transition.
    Nothing,
    /// Transitions, and all of them are [optional](crate::StateSystem::is_optional).
    Optional,
    /// A transition that is not optional; a failing one counts.
    More,
}

impl Offers {
    /// Returns what a state with these transitions offers, given for each whether it is optional.
    pub fn of(transitions: impl IntoIterator<Item = bool>) -> Offers {
        let mut offers = Offers::Nothing;
        for optional in transitions {
            if !optional {
                return Offers::More;
            }
            offers = Offers::Optional;
        }
        offers
    }

    /// Returns whether a run may end in the state.
    #[must_use]
    pub fn is_end(self) -> bool {
        self != Offers::More
    }
}

/// The meaning of an end: a state in which a run may end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The program may end here.
    Fine,
    /// A task waits for ever: a deadlock.
    Deadlock,
    /// Everything is done, but the program must not end in this state. Results call this kind of
    /// finding `final`, after the property of the model language.
    Wrong,
}

/// The properties of a program's states.
///
/// ```
/// use anyorder_system::{End, Properties};
/// let properties = Properties::new()
///     .invariant("at most 9", |count: &u32| *count <= 9)
///     .response("an odd count is mended", |count| (count % 2 == 1, count % 2 == 0))
///     .end(|count| if *count == 0 { End::Fine } else { End::Deadlock });
/// assert!(!properties.invariants[0].holds(&10));
/// assert_eq!(properties.end_of(&3), End::Deadlock);
/// ```
pub struct Properties<'s, S> {
    /// The invariants.
    pub invariants: Vec<Invariant<'s, S>>,
    /// The response properties.
    pub responses: Vec<Response<'s, S>>,
    end: Function<'s, S, End>,
    rest: Option<Function<'s, S, bool>>,
    waits: Option<Function<'s, S, String>>,
}

impl<'s, S> Properties<'s, S> {
    /// No properties: the program may end in any state.
    #[must_use]
    pub fn new() -> Properties<'s, S> {
        let end: Function<'s, S, End> = Box::new(|_| End::Fine);
        Properties { invariants: Vec::new(), responses: Vec::new(), end, rest: None, waits: None }
    }

    /// Adds an invariant. It may look at anything, so only full search checks it: a reduced search
    /// needs [`invariant_of`](Self::invariant_of).
    #[must_use]
    pub fn invariant(
        mut self,
        name: impl Into<String>,
        holds: impl Fn(&S) -> bool + Send + Sync + 's,
    ) -> Properties<'s, S> {
        let (name, holds) = (name.into(), Box::new(holds));
        self.invariants.push(Invariant { name, holds, watches: None });
        self
    }

    /// Adds an invariant that depends only on places that `watches` appends: see the contract of
    /// [`Reducible`](crate::Reducible).
    ///
    /// It costs reduction: all orders of the steps that write watched places are kept. So watch few
    /// places. What is claimed only of the end of a run costs less as [`end`](Self::end).
    #[must_use]
    pub fn invariant_of(
        mut self,
        name: impl Into<String>,
        holds: impl Fn(&S) -> bool + Send + Sync + 's,
        watches: impl Fn(&S, &mut Vec<Place>) + Send + Sync + 's,
    ) -> Properties<'s, S> {
        let watches: Watching<'s, S> = Box::new(watches);
        let (name, holds) = (name.into(), Box::new(holds));
        self.invariants.push(Invariant { name, holds, watches: Some(watches) });
        self
    }

    /// Adds a response property. The function returns whether the trigger, and whether the
    /// response, holds in a state.
    #[must_use]
    pub fn response(
        mut self,
        name: impl Into<String>,
        holds: impl Fn(&S) -> (bool, bool) + Send + Sync + 's,
    ) -> Properties<'s, S> {
        self.responses.push(Response { name: name.into(), holds: Box::new(holds) });
        self
    }

    /// Returns the indices of the invariants that do not hold in a state.
    pub fn broken<'p>(&'p self, state: &'p S) -> impl Iterator<Item = usize> + use<'p, 's, S> {
        let invariants = self.invariants.iter().enumerate();
        invariants.filter(|(_, invariant)| !invariant.holds(state)).map(|(index, _)| index)
    }

    /// Sets the meaning of states where nothing can happen.
    #[must_use]
    pub fn end(mut self, end: impl Fn(&S) -> End + Send + Sync + 's) -> Properties<'s, S> {
        self.end = Box::new(end);
        self
    }

    /// Sets whether the program may end in a state that offers only optional transitions. Such a
    /// state is no deadlock: something may still happen. Without this, it is a wrong end where
    /// [`end`](Self::end) says so.
    #[must_use]
    pub fn rest(mut self, may_end: impl Fn(&S) -> bool + Send + Sync + 's) -> Properties<'s, S> {
        self.rest = Some(Box::new(may_end));
        self
    }

    /// Sets the description of what waits in a deadlock. Deadlocks with one description are one
    /// finding. It must be the same for states that differ only in the names of identical
    /// components.
    #[must_use]
    pub fn waits(mut self, places: impl Fn(&S) -> String + Send + Sync + 's) -> Properties<'s, S> {
        self.waits = Some(Box::new(places));
        self
    }

    /// Returns the meaning of a state where nothing can happen.
    #[must_use]
    pub fn end_of(&self, state: &S) -> End {
        (self.end)(state)
    }

    /// Returns the meaning of a state as an end, given what it offers; `None` if it is no end.
    #[must_use]
    pub fn end_at(&self, state: &S, offers: Offers) -> Option<End> {
        match (offers, &self.rest) {
            (Offers::More, _) => None,
            (Offers::Nothing, _) => Some(self.end_of(state)),
            (Offers::Optional, Some(rest)) => {
                Some(if rest(state) { End::Fine } else { End::Wrong })
            }
            (Offers::Optional, None) => match self.end_of(state) {
                End::Deadlock => Some(End::Fine),
                end => Some(end),
            },
        }
    }

    /// Returns the description of what waits in a deadlock.
    #[must_use]
    pub fn waiting_in(&self, state: &S) -> String {
        self.waits.as_ref().map_or_else(String::new, |waits| waits(state))
    }
}

impl<S> Default for Properties<'_, S> {
    fn default() -> Self {
        Properties::new()
    }
}

impl<S> fmt::Debug for Properties<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let invariants: Vec<&str> = self.invariants.iter().map(|one| &*one.name).collect();
        let responses: Vec<&str> = self.responses.iter().map(|one| &*one.name).collect();
        f.debug_struct("Properties")
            .field("invariants", &invariants)
            .field("responses", &responses)
            .finish_non_exhaustive()
    }
}

/// Named classes of actions, such as the handlers that they run on.
pub struct Classes<'s, A> {
    /// The name of each class.
    pub names: Vec<String>,
    of: Function<'s, A, Option<usize>>,
}

impl<'s, A> Classes<'s, A> {
    /// No classes.
    #[must_use]
    pub fn none() -> Classes<'s, A> {
        Classes { names: Vec::new(), of: Box::new(|_| None) }
    }

    /// Makes classes from their names and a function that returns the class of an action, if it has
    /// one.
    #[must_use]
    pub fn new(
        names: Vec<String>,
        of: impl Fn(&A) -> Option<usize> + Send + Sync + 's,
    ) -> Classes<'s, A> {
        Classes { names, of: Box::new(of) }
    }

    /// Returns the number of classes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the class of an action, as an index into the names.
    #[inline]
    #[must_use]
    pub fn of(&self, action: &A) -> Option<usize> {
        if self.names.is_empty() { None } else { (self.of)(action) }
    }
}

impl<A> fmt::Debug for Classes<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Classes").field(&self.names).finish()
    }
}
