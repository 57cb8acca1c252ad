//! The outcome of a search.

use crate::path::Path;
use anyorder_common::order::{order_of, rearrange};
use anyorder_system::{
    End, Failure, Offers, Place, PlaceOfStep, Properties, StateSystem, StopReason,
};
use std::collections::BTreeMap;
use std::fmt;

/// A limit that cut a search.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Limit {
    /// [`SearchOptions::states_max`](crate::SearchOptions::states_max), or the largest state number
    /// (2^31 - 2).
    States,
    /// [`SearchOptions::depth_max`](crate::SearchOptions::depth_max): deeper states are not
    /// covered.
    Depth,
    /// [`SearchOptions::transitions_max`](crate::SearchOptions::transitions_max).
    Transitions,
    /// The limit on executions of the control.
    Executions,
    /// The memory limit of the control.
    Memory,
    /// The time limit, kept by the front end.
    Time,
    /// The user.
    Interrupt,
    /// Bitstate storage may have taken new states for known ones.
    Bitstate,
    /// [`DEADLOCKS_MAX`]: further deadlocks are left out.
    Deadlocks,
    /// [`LIVELOCKS_MAX`](crate::LIVELOCKS_MAX): further livelocks are left out.
    Livelocks,
    /// The algorithm does not check all properties of the program.
    Algorithm,
}

impl Limit {
    /// Returns the name under which a report lists it among its `limits`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Limit::States => "max-states",
            Limit::Depth => "max-depth",
            Limit::Transitions => "max-transitions",
            Limit::Executions => "max-executions",
            Limit::Memory => "memory-limit",
            Limit::Time => "time-limit",
            Limit::Interrupt => "interrupt",
            Limit::Bitstate => "bitstate",
            Limit::Deadlocks => "max-deadlocks",
            Limit::Livelocks => "max-livelocks",
            Limit::Algorithm => "algorithm",
        }
    }

    /// Returns whether the limit bounds the question, not the progress of the search. With a limit
    /// on the depth, the answer covers all runs of that many steps. With one on states, it covers
    /// no set of runs that could be described.
    #[must_use]
    pub const fn is_bound(self) -> bool {
        matches!(self, Limit::Depth)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl From<StopReason> for Limit {
    fn from(reason: StopReason) -> Limit {
        match reason {
            StopReason::Interrupted => Limit::Interrupt,
            StopReason::TimeLimit => Limit::Time,
            StopReason::MemoryLimit => Limit::Memory,
        }
    }
}

/// A violated property.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Property {
    /// A transition failed. Each failure with another text is a property of its own.
    Failure(Failure),
    /// The invariant with this index.
    Invariant(usize),
    /// A deadlock: nothing can happen in a state that is not final, and something waits there. Each
    /// description of [what waits](Properties::waits) is a property of its own.
    Deadlock(String),
    /// A wrong end: a run may end in a state that is not final, and that is no deadlock.
    Final,
    /// The response property with this index.
    Response(usize),
    /// A livelock: from here no run can end. Each set of places where steps are repeated is a
    /// property of its own.
    Livelock(Vec<PlaceOfStep>),
}

impl Property {
    /// Returns the violation of a run that ends in a state, given what the state offers.
    #[must_use]
    pub fn at_end<S>(
        properties: &Properties<'_, S>,
        state: &S,
        offers: Offers,
    ) -> Option<Property> {
        match properties.end_at(state, offers)? {
            End::Fine => None,
            End::Deadlock => Some(Property::Deadlock(properties.waiting_in(state))),
            End::Wrong => Some(Property::Final),
        }
    }

    /// Returns the property that a note during a search names: the first of several deadlocks will
    /// do.
    #[must_use]
    pub fn to_report(&self) -> Property {
        match self {
            Property::Deadlock(_) => Property::Deadlock(String::new()),
            Property::Livelock(_) => Property::Livelock(Vec::new()),
            property => property.clone(),
        }
    }

    /// Returns its name: the system's, the text of a failure, `deadlock`, `final`, or `livelock`.
    #[must_use]
    pub fn name<S: StateSystem>(&self, system: &S) -> String {
        match self {
            Property::Failure(failure) => failure.to_string(),
            Property::Invariant(index) => {
                let invariants = system.properties().invariants;
                invariants.get(*index).map_or_else(String::new, |one| one.name.clone())
            }
            Property::Deadlock(_) => "deadlock".to_owned(),
            Property::Final => "final".to_owned(),
            Property::Livelock(_) => "livelock".to_owned(),
            Property::Response(index) => {
                let responses = system.properties().responses;
                responses.get(*index).map_or_else(String::new, |one| one.name.clone())
            }
        }
    }
}

/// A property that does not hold, and a path that shows it.
pub struct Violation<S: StateSystem> {
    /// The property.
    pub property: Property,
    /// The name of the property: see [`Property::name`].
    pub name: String,
    /// A shortest path to it among the explored ones. Its last step is the failure, or its last
    /// state violates the invariant, is the deadlock or the wrong end. For a response property, the
    /// run repeats the steps from [`Path::repeats_from`] for ever, or stays in the last state for
    /// ever. For a livelock, it repeats them for ever.
    pub path: Path<S>,
}

impl<S: StateSystem> Violation<S> {
    /// Builds a violation from its path. A failure read from a checkpoint has only its text; the
    /// path supplies its parts.
    #[must_use]
    pub fn of(system: &S, property: Property, path: Path<S>) -> Violation<S> {
        let last = path.steps.last().and_then(|step| step.failure.as_ref());
        let property = match (property, last) {
            (Property::Failure(known), Some(shown)) if known == *shown => {
                Property::Failure(shown.clone())
            }
            (property, _) => property,
        };
        Violation { name: property.name(system), property, path }
    }
}

/// The most deadlocks that a search reports. Each takes a run, and independent parts that can each
/// wait at several places multiply.
pub const DEADLOCKS_MAX: usize = 1_000;

/// Drops the deadlocks beyond [`DEADLOCKS_MAX`], those with the longest runs. Returns whether there
/// were any.
pub fn keep_deadlocks<V>(found: &mut BTreeMap<Property, V>, length: impl Fn(&V) -> u32) -> bool {
    let deadlocks = found.iter().filter(|(key, _)| matches!(key, Property::Deadlock(_)));
    let mut deadlocks: Vec<(u32, &Property)> =
        deadlocks.map(|(key, value)| (length(value), key)).collect();
    if deadlocks.len() <= DEADLOCKS_MAX {
        return false;
    }
    deadlocks.sort_unstable();
    let dropped: Vec<Property> =
        deadlocks[DEADLOCKS_MAX..].iter().map(|(_, key)| (*key).clone()).collect();
    dropped.iter().for_each(|key| drop(found.remove(key)));
    true
}

/// Two components have updated one attribute, one right after the other.
pub struct UpdateConflict<S: StateSystem> {
    /// The attribute.
    pub place: Place,
    /// The indices of the components, the lower first.
    pub components: (u32, u32),
    /// A shortest path to it: the second update is in its last step.
    pub path: Path<S>,
}

/// Sorts violations as results list them: the shortest path first.
pub fn sort_violations<S: StateSystem>(violations: &mut [Violation<S>]) {
    let key = |one: &Violation<S>| (one.path.steps.len(), one.property.clone());
    let order = order_of(violations.iter().map(key).collect());
    rearrange(violations, order);
}

/// Sorts update conflicts likewise.
pub fn sort_conflicts<S: StateSystem>(conflicts: &mut [UpdateConflict<S>]) {
    let key = |one: &UpdateConflict<S>| (one.path.steps.len(), one.place, one.components);
    let order = order_of(conflicts.iter().map(key).collect());
    rearrange(conflicts, order);
}

/// Counters of every engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// The states found.
    pub states: u64,
    /// The transitions taken, including those to known states.
    pub transitions: u64,
    /// Executions: 0 for a full search, the number of walks for a simulation, the number of task
    /// runs for a reduced search.
    pub executions: u64,
    /// The greatest depth of a state, along the path by which it was first found.
    pub max_depth: u64,
    /// The most waiting states; breadth-first the largest level.
    pub frontier_peak: u64,
    /// The bytes for each state at the end, rounded up, without waiting states.
    pub bytes_per_state: u64,
}

/// Whether a response property holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ResponseVerdict {
    /// On all fair runs.
    Holds,
    /// There is a violation.
    Violated,
    /// The search did not get far enough, or did not check it.
    Unknown,
}

/// The result of a search. `D` holds the additional counters and data of one engine.
pub struct Outcome<S: StateSystem, D = ()> {
    /// Whether the search covered everything: no limit cut it, and only equal fingerprints may hide
    /// a state.
    pub complete: bool,
    /// The limits that cut it, sorted. Also empty if the search ended because of a violation.
    pub limits: Vec<Limit>,
    /// The violations, the shortest path first.
    pub violations: Vec<Violation<S>>,
    /// All update conflicts, the shortest path first. `None` if they were not requested, or the
    /// system has no components.
    pub conflicts: Option<Vec<UpdateConflict<S>>>,
    /// The verdict for each response property; reduced searches know none.
    pub responses: Vec<ResponseVerdict>,
    /// Whether some run ends in an end that is no deadlock: where a program may have to be final.
    pub ended: bool,
    /// The response properties that say nothing: their triggers hold in no state. Known only of
    /// complete searches that check them.
    pub untriggered: Vec<usize>,
    /// Whether livelocks were searched for, in all that was explored.
    pub livelocks_checked: bool,
    /// The indices of parts that never run; `None` unless the search is complete.
    pub never_run: Option<Vec<usize>>,
    /// Counters.
    pub stats: Stats,
    /// Additional results of this engine.
    pub detail: D,
}

/// Returns the indices of the parts that did not run.
#[must_use]
pub fn never_run(ran: &[bool]) -> Vec<usize> {
    (0..ran.len()).filter(|part| !ran[*part]).collect()
}

impl<S: StateSystem, D: fmt::Debug> fmt::Debug for Outcome<S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let violations: Vec<_> = self
            .violations
            .iter()
            .map(|violation| (&violation.name, violation.path.steps.len()))
            .collect();
        f.debug_struct("Outcome")
            .field("complete", &self.complete)
            .field("limits", &self.limits)
            .field("violations", &violations)
            .field("conflicts", &self.conflicts)
            .field("responses", &self.responses)
            .field("never_run", &self.never_run)
            .field("stats", &self.stats)
            .field("detail", &self.detail)
            .finish()
    }
}

impl<S: StateSystem> fmt::Debug for Violation<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Violation")
            .field("property", &self.property)
            .field("steps", &self.path.steps.len())
            .field("repeats_from", &self.path.repeats_from)
            .finish_non_exhaustive()
    }
}

impl<S: StateSystem> fmt::Debug for UpdateConflict<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpdateConflict")
            .field("place", &self.place)
            .field("components", &self.components)
            .field("steps", &self.path.steps.len())
            .finish_non_exhaustive()
    }
}
