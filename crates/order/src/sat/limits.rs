//! Answers, the limits that end a search early, and counters.

use super::lit::Lit;

/// The outcome of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// There is a model; see [`Core::model`](super::Core::model).
    Sat,
    /// There is none.
    Unsat {
        /// A subset of the assumptions that cannot hold together, not necessarily a least one;
        /// empty when there is no model even without assumptions.
        core: Vec<Lit>,
    },
    /// A limit was reached first.
    Unknown(Cause),
}

/// The limit that was reached.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// As many conflicts as [`Limits::conflicts`] allows.
    Conflicts,
    /// More memory than [`Limits::memory_bytes`] allows, or than the data structures can address
    /// (2^31 words of clauses, 2^30 variables).
    Memory,
    /// [`Limits::stop`] returned true.
    Stopped,
}

/// Limits of one search. The default has none.
#[derive(Default)]
pub struct Limits<'a> {
    /// Greatest number of conflicts of this search.
    pub conflicts: Option<u64>,
    /// Greatest memory, in bytes, by an estimate. For a [`Core`](super::Core) it leaves out the
    /// theory; for a [`Solver`](crate::solver::Solver) it includes everything.
    pub memory_bytes: Option<usize>,
    /// Called first, then every hundred conflicts or thousand decisions, and after each final
    /// check. True ends the search.
    pub stop: Option<&'a mut dyn FnMut() -> bool>,
}

/// Counters over the life of a core.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct SatStats {
    /// Values chosen freely (assumptions not counted).
    pub decisions: u64,
    /// Clauses and theory reasons that were false.
    pub conflicts: u64,
    /// Literals propagated.
    pub propagations: u64,
    /// Restarts of the search; learned clauses stay.
    pub restarts: u64,
    /// Clauses learned from conflicts.
    pub learned: u64,
    /// Learned clauses deleted.
    pub deleted: u64,
    /// Reductions of the learned clauses.
    pub reductions: u64,
    /// Conflicts from a lemma or an implied literal of the theory.
    pub theory_conflicts: u64,
    /// Literals implied by the theory that had no value before.
    pub theory_propagations: u64,
    /// Reasons of implied literals that were requested.
    pub explanations: u64,
    /// Lemmas of the theory, of any kind.
    pub lemmas: u64,
    /// Lemmas that were false when added.
    pub lemmas_conflicting: u64,
    /// Of these, lemmas that were false below the level of that time.
    pub lemmas_conflicting_below: u64,
    /// Lemmas that gave a literal its value when added.
    pub lemmas_unit: u64,
    /// Lemmas with two or more open literals and no true one when added.
    pub lemmas_open: u64,
    /// Lemmas that were true when added.
    pub lemmas_satisfied: u64,
    /// Calls of [`Theory::final_check`](super::Theory::final_check).
    pub final_checks: u64,
    /// Clauses held now, learned ones included.
    pub clauses: usize,
    /// Memory held now, an estimate in bytes, of the core and its proof.
    pub memory_bytes: usize,
}
