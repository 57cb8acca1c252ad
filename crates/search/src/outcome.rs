//! What a search found.

use crate::path::Path;
use anyorder_system::{Place, StateSystem, StopReason};
use std::fmt;

/// What cut a search.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Limit {
    /// [`Options::states_max`](crate::Options::states_max), or more states than can be numbered (2^31 - 2).
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

    /// Returns whether it bounds what is asked, not how far the search came: with a limit on the depth, the answer is about all
    /// runs of so many steps; with one on states, about no set of runs that could be named.
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
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Property {
    /// A transition failed, with this message. Each message is a property of its own.
    Failure(String),
    /// The invariant with this index.
    Invariant(usize),
    /// Nothing can happen in a state that is not final, and something waits there.
    Deadlock,
    /// All is done, in a state that is not final.
    Final,
    /// The response property with this index.
    Response(usize),
}

/// A property that does not hold, and the shortest way to see it.
pub struct Violation<S: StateSystem> {
    /// What is violated.
    pub property: Property,
    /// The name of the property: the system's, the message of a failure, `deadlock`, or `final`.
    pub name: String,
    /// The way to it. A failure is its last step; a violated invariant, a deadlock and a wrong end are in its last state; a violated
    /// response property repeats the steps from [`Path::repeats_from`] for ever, or stays in its last state for ever.
    pub path: Path<S>,
}

/// Two components have updated one attribute, one right after the other.
pub struct UpdateConflict<S: StateSystem> {
    /// The attribute.
    pub place: Place,
    /// The components by their indices, the lower first.
    pub components: (u32, u32),
    /// A shortest way to it: the second update is in its last step.
    pub path: Path<S>,
}

/// What was done to find it, in numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// The states found.
    pub states: u64,
    /// The transitions taken, those to known states included.
    pub transitions: u64,
    /// The runs of the program from its start: 0 for a search of states, the walks of a simulation.
    pub executions: u64,
    /// The greatest number of steps from an initial state to a state found, on the way that it was found.
    pub max_depth: u64,
    /// The most states that waited: breadth-first the largest level.
    pub frontier_peak: u64,
    /// The bytes that a state takes at the end, rounded up: table, links, encodings and graph, without states that wait.
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

/// What a search found.
pub struct Outcome<S: StateSystem> {
    /// Whether all states were seen: nothing was cut, nothing may have been missed but for fingerprints that are equal by chance.
    pub complete: bool,
    /// What cut it, sorted. Empty as well when the search ended because something was found.
    pub limits: Vec<Limit>,
    /// What is violated, the shortest first.
    pub violations: Vec<Violation<S>>,
    /// All update conflicts, the shortest first; none where nobody asked, or the system has no components.
    pub conflicts: Option<Vec<UpdateConflict<S>>>,
    /// The verdict for each response property.
    pub responses: Vec<ResponseVerdict>,
    /// The indices of parts that never run; `None` unless the search is complete.
    pub never_run: Option<Vec<usize>>,
    /// Numbers.
    pub stats: Stats,
}

impl<S: StateSystem> fmt::Debug for Outcome<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let violations: Vec<_> = self
            .violations
            .iter()
            .map(|violation| (&violation.name, violation.path.steps.len()))
            .collect();
        let conflicts = self.conflicts.iter().flatten().map(|one| (one.place, one.components));
        let conflicts: Vec<_> = conflicts.collect();
        f.debug_struct("Outcome")
            .field("complete", &self.complete)
            .field("limits", &self.limits)
            .field("violations", &violations)
            .field("conflicts", &conflicts)
            .field("responses", &self.responses)
            .field("never_run", &self.never_run)
            .field("stats", &self.stats)
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
