//! What a search found.

use crate::path::Path;
use anyorder_system::{End, Failure, Place, StateSystem, StopReason};
use std::fmt;

/// What cut a search.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Limit {
    /// [`Options::states_max`](crate::Options::states_max), or more states than can be numbered
    /// (2^31 - 2).
    States,
    /// [`Options::depth_max`](crate::Options::depth_max): what lies deeper is not covered.
    Depth,
    /// [`Options::transitions_max`](crate::Options::transitions_max).
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
        }
    }

    /// Returns whether it bounds what is asked, not how far the search came: with a limit on the
    /// depth, the answer is about all runs of so many steps; with one on states, about no set of
    /// runs that could be named.
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

/// What was violated.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Property {
    /// A transition failed. Each failure that reads otherwise is a property of its own.
    Failure(Failure),
    /// The invariant with this index.
    Invariant(usize),
    /// Nothing can happen in a state that is not final, and something waits there.
    Deadlock,
    /// All is done, in a state that is not final.
    Final,
    /// The response property with this index.
    Response(usize),
}

impl Property {
    /// Returns what is wrong where nothing can happen, if that is wrong.
    #[must_use]
    pub const fn of_end(end: End) -> Option<Property> {
        match end {
            End::Fine => None,
            End::Deadlock => Some(Property::Deadlock),
            End::Wrong => Some(Property::Final),
        }
    }

    /// Returns its name: the system's, the text of a failure, `deadlock`, or `final`.
    #[must_use]
    pub fn name<S: StateSystem>(&self, system: &S) -> String {
        match self {
            Property::Failure(failure) => failure.to_string(),
            Property::Invariant(index) => {
                let invariants = system.properties().invariants;
                invariants.get(*index).map_or_else(String::new, |one| one.name.clone())
            }
            Property::Deadlock => "deadlock".to_owned(),
            Property::Final => "final".to_owned(),
            Property::Response(index) => {
                let responses = system.properties().responses;
                responses.get(*index).map_or_else(String::new, |one| one.name.clone())
            }
        }
    }
}

/// A property that does not hold, and a path that shows it.
pub struct Violation<S: StateSystem> {
    /// What is violated.
    pub property: Property,
    /// The name of the property: see [`Property::name`].
    pub name: String,
    /// A shortest path to it among those that were explored. A failure is its last step; a violated
    /// invariant, a deadlock and a wrong end are in its last state; a violated response property
    /// repeats the steps from [`Path::repeats_from`] for ever, or stays in its last state for ever.
    pub path: Path<S>,
}

impl<S: StateSystem> Violation<S> {
    /// Makes one of a path that shows it. A failure that was read from a checkpoint, as text, gets
    /// its parts from the path.
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

/// Two components have updated one attribute, one right after the other.
pub struct UpdateConflict<S: StateSystem> {
    /// The attribute.
    pub place: Place,
    /// The components by their indices, the lower first.
    pub components: (u32, u32),
    /// A shortest path to it: the second update is in its last step.
    pub path: Path<S>,
}

/// Sorts violations as results list them: the shortest path first.
pub fn sort_violations<S: StateSystem>(violations: &mut [Violation<S>]) {
    violations
        .sort_by(|a, b| (a.path.steps.len(), &a.property).cmp(&(b.path.steps.len(), &b.property)));
}

/// Sorts update conflicts likewise.
pub fn sort_conflicts<S: StateSystem>(conflicts: &mut [UpdateConflict<S>]) {
    conflicts.sort_by_key(|one| (one.path.steps.len(), one.place, one.components));
}

/// What every engine counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// The states found.
    pub states: u64,
    /// The transitions taken, those to known states included.
    pub transitions: u64,
    /// What was run: 0 for a full search, the walks of a simulation, the tasks that a reduced
    /// search ran.
    pub executions: u64,
    /// The greatest number of steps from an initial state to a state found, on the way that it was
    /// found.
    pub max_depth: u64,
    /// The most states that waited: breadth-first the largest level.
    pub frontier_peak: u64,
    /// The bytes that a state takes at the end, rounded up, without states that wait.
    pub bytes_per_state: u64,
}

/// Whether a response property holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ResponseVerdict {
    /// On all fair runs.
    Holds,
    /// There is a violation.
    Violated,
    /// The search did not get far enough, or was not asked.
    Unknown,
}

/// What a search found. `D` is what one engine counts and keeps beyond what all do.
pub struct Outcome<S: StateSystem, D = ()> {
    /// Whether all was covered: nothing was cut, nothing may have been missed but for fingerprints
    /// that are equal by chance.
    pub complete: bool,
    /// What cut it, sorted. Empty as well when the search ended because something was found.
    pub limits: Vec<Limit>,
    /// What is violated, the shortest path first.
    pub violations: Vec<Violation<S>>,
    /// All update conflicts, the shortest path first; none where nobody asked, or the system has no
    /// components.
    pub conflicts: Option<Vec<UpdateConflict<S>>>,
    /// The verdict for each response property; reduced searches know none.
    pub responses: Vec<ResponseVerdict>,
    /// The indices of parts that never run; `None` unless the search is complete.
    pub never_run: Option<Vec<usize>>,
    /// Numbers.
    pub stats: Stats,
    /// What this engine tells besides.
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
