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
    /// As many conflicts as [`Budget::conflicts`] allows.
    Conflicts,
    /// More memory than [`Budget::memory_bytes`] allows, or than the data structures can address
    /// (2^31 words of clauses, 2^30 variables).
    Memory,
    /// [`Budget::stop`] said so.
    Stopped,
}

/// Limits of one search. The default has none.
#[derive(Default)]
pub struct Budget<'a> {
    /// Greatest number of conflicts of this search.
    pub conflicts: Option<u64>,
    /// Greatest memory of the core ([`Stats::memory_bytes`], an estimate that leaves out the
    /// theory), in bytes.
    pub memory_bytes: Option<usize>,
    /// Asked at first, every hundred conflicts or thousand decisions, and after each final check:
    /// true ends the search.
    pub stop: Option<&'a mut dyn FnMut() -> bool>,
}

/// Counters over the life of a core.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Values chosen freely (assumptions not counted).
    pub decisions: u64,
    /// Clauses and theory reasons found false.
    pub conflicts: u64,
    /// Literals whose consequences were followed.
    pub propagations: u64,
    /// Searches begun anew with what was learned.
    pub restarts: u64,
    /// Clauses learned from conflicts.
    pub learned: u64,
    /// Learned clauses thrown away again.
    pub deleted: u64,
    /// Times that the learned clauses were thinned out.
    pub reductions: u64,
    /// Conflicts that a lemma or an implied literal of the theory gave.
    pub theory_conflicts: u64,
    /// Literals implied by the theory, without those that held already.
    pub theory_propagations: u64,
    /// Reasons of implied literals that were asked for.
    pub explanations: u64,
    /// Lemmas of the theory, of any kind.
    pub lemmas: u64,
    /// Lemmas false when they came.
    pub lemmas_conflicting: u64,
    /// Those of them false already below the level of that time.
    pub lemmas_conflicting_below: u64,
    /// Lemmas that gave a literal its value when they came.
    pub lemmas_unit: u64,
    /// Lemmas with two or more open literals and no true one when they came.
    pub lemmas_open: u64,
    /// Lemmas that held when they came.
    pub lemmas_satisfied: u64,
    /// Calls of [`Theory::final_check`](super::Theory::final_check).
    pub final_checks: u64,
    /// Clauses held now, learned ones included.
    pub clauses: usize,
    /// Memory held now, an estimate in bytes, of the core and its proof.
    pub memory_bytes: usize,
}
