//! The results of expanding some states: a thread writes them, `commit` merges them.

use anyorder_search::Property;
use anyorder_system::{Failure, Hash128, TaskKey, Touched, Updates};
use std::collections::VecDeque;

/// A state to expand.
#[derive(Debug)]
pub(crate) struct Item<T> {
    pub(crate) number: u32,
    pub(crate) state: T,
    /// Tasks to add to S in any case, as bits; may be shorter than a set.
    pub(crate) extra: Vec<u64>,
}

/// In place of a number: unknown when the block began.
pub(crate) const NEW: u32 = u32::MAX;

/// The result of one state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unit {
    /// Whether it has a new task. Then it waits until the task has a number.
    pub(crate) deferred: bool,
    /// Whether every ready task was attempted.
    pub(crate) full: bool,
    /// The violation, if a run must not end here and may.
    pub(crate) dead: Option<Property>,
    /// Whether a run may end here.
    pub(crate) end: bool,
    /// The set of ready tasks, or [`NEW`].
    pub(crate) ready: u32,
    /// The end of its entries in the lists of [`Found`].
    pub(crate) attempts: usize,
    pub(crate) unknown: usize,
}

/// In place of a source: the attempt is blocked in the parent, and therefore in this state.
pub(crate) const SOURCE_BLOCKED: u32 = u32::MAX - 1;

/// An executed or inferred attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) task: u32,
    /// Its footprint, or [`NEW`].
    pub(crate) footprint: u32,
    /// The end of its list of touches, if the footprint is unknown.
    pub(crate) touched: u32,
    /// The end of its list of targets.
    pub(crate) targets: u32,
    /// For an inferred attempt: the state whose edge leads to the same state; else [`NEW`].
    pub(crate) source: u32,
    /// For an inferred attempt: the list of updates of the parent's step.
    pub(crate) source_updates: u32,
    /// For an executed attempt: whether its transitions are optional.
    pub(crate) optional: bool,
}

/// The positions in the lists of [`Found`] up to which they are committed.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    pub(crate) units: usize,
    pub(crate) attempts: usize,
    pub(crate) touched: usize,
    pub(crate) targets: usize,
    pub(crate) unknown: usize,
    pub(crate) sets: usize,
    pub(crate) watched: usize,
    pub(crate) broken: usize,
}

/// The results of some states, one after the other. Each list is in the order of occurrence.
#[derive(Debug)]
pub(crate) struct Found<T> {
    /// The chunks of states taken, and the number of finished states in each.
    pub(crate) chunks: Vec<(usize, usize)>,
    pub(crate) units: Vec<Unit>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) touched: Vec<Touched>,
    /// The targets of alternatives: a state, `FAILED`, or [`NEW`].
    pub(crate) targets: Vec<u32>,
    /// The states that were unknown when the block began.
    pub(crate) arrivals: VecDeque<(Hash128, T)>,
    pub(crate) failures: VecDeque<Failure>,
    /// The updates of alternatives; empty if not requested.
    pub(crate) updates: Updates,
    pub(crate) unknown: Vec<TaskKey>,
    /// For each state not deferred: its ready tasks, then S.
    pub(crate) sets: Vec<u64>,
    /// For each new state and observer, the watched places: a footprint, or [`NEW`] and the end of
    /// a list of touches.
    pub(crate) watched: Vec<(u32, usize)>,
    /// Violated invariants: unit and index.
    pub(crate) broken: Vec<(usize, usize)>,
    pub(crate) executions: u64,
    /// Which parts of the program ran.
    pub(crate) parts: Vec<bool>,
    pub(crate) at: Cursor,
}

impl<T> Default for Found<T> {
    fn default() -> Found<T> {
        Found {
            chunks: Vec::new(),
            units: Vec::new(),
            attempts: Vec::new(),
            touched: Vec::new(),
            targets: Vec::new(),
            arrivals: VecDeque::new(),
            failures: VecDeque::new(),
            updates: Updates::default(),
            unknown: Vec::new(),
            sets: Vec::new(),
            watched: Vec::new(),
            broken: Vec::new(),
            executions: 0,
            parts: Vec::new(),
            at: Cursor::default(),
        }
    }
}

impl<T> Found<T> {
    /// Empties all lists and keeps their memory.
    pub(crate) fn clear(&mut self) {
        self.chunks.clear();
        self.units.clear();
        self.attempts.clear();
        self.touched.clear();
        self.targets.clear();
        self.arrivals.clear();
        self.failures.clear();
        self.updates.clear();
        self.unknown.clear();
        self.sets.clear();
        self.watched.clear();
        self.broken.clear();
        self.executions = 0;
        self.at = Cursor::default();
    }
}
