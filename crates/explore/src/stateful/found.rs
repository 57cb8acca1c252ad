//! What came of expanding some states: written by a thread, taken in by `commit`.

use anyorder_system::{End, Failure, Hash128, TaskKey, Touched, Updates};
use std::collections::VecDeque;

/// A state to expand.
#[derive(Debug)]
pub(crate) struct Item<T> {
    pub(crate) number: u32,
    pub(crate) state: T,
    /// Tasks to put into S in any case, as bits; may be shorter than a set.
    pub(crate) extra: Vec<u64>,
}

/// In place of a number: not known when the block began.
pub(crate) const NEW: u32 = u32::MAX;

/// What came of one state.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// Whether it has a task not met before, and waits until that has a number.
    pub(crate) deferred: bool,
    /// Whether every ready task was attempted.
    pub(crate) full: bool,
    /// What is wrong where nothing can happen.
    pub(crate) dead: Option<End>,
    pub(crate) end: bool,
    /// The set of ready tasks, or [`NEW`].
    pub(crate) ready: u32,
    /// The ends of its parts in the lists of [`Found`].
    pub(crate) attempts: usize,
    pub(crate) unknown: usize,
}

/// In place of a source: the attempt is blocked in the parent, and so in this state.
pub(crate) const SOURCE_BLOCKED: u32 = u32::MAX - 1;

/// An attempt, or an inferred one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) task: u32,
    /// Its footprint, or [`NEW`].
    pub(crate) footprint: u32,
    /// The end of its list of touches, where the footprint is not known.
    pub(crate) touched: u32,
    /// The end of its list of targets.
    pub(crate) targets: u32,
    /// Where nothing was run, the state whose edge leads to the same place; else [`NEW`].
    pub(crate) source: u32,
    /// The list of updates of the parent's step, where nothing was run.
    pub(crate) source_updates: u32,
}

/// What came of some states, one after the other. Lists are of what came up in this order.
#[derive(Debug)]
pub(crate) struct Found<T> {
    /// The chunks of states that were taken, and how many states of each were done.
    pub(crate) chunks: Vec<(usize, usize)>,
    pub(crate) units: Vec<Unit>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) touched: Vec<Touched>,
    /// Where the alternatives lead: a state, `FAILED`, or [`NEW`].
    pub(crate) targets: Vec<u32>,
    /// The states that were not known when the block began.
    pub(crate) arrivals: VecDeque<(Hash128, T)>,
    pub(crate) failures: VecDeque<Failure>,
    /// The updates of alternatives; nothing when nobody asks.
    pub(crate) updates: Updates,
    pub(crate) unknown: Vec<TaskKey>,
    /// For each state not deferred its ready tasks and then S.
    pub(crate) sets: Vec<u64>,
    /// For each fresh state and observer, what is watched: a footprint, or [`NEW`] and the end of a
    /// list of touches.
    pub(crate) watched: Vec<(u32, usize)>,
    /// Violated invariants: unit and index.
    pub(crate) broken: Vec<(usize, usize)>,
    pub(crate) executions: u64,
    /// Which parts of the program ran.
    pub(crate) parts: Vec<bool>,
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
        }
    }
}

impl<T> Found<T> {
    /// Empties all lists and keeps their room.
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
    }
}
