//! The solver's state, and the clauses added between searches.

use super::arena::{Arena, ClauseRef};
use super::limits::SatStats;
use super::lit::{Lit, Var};
use super::minimise::Marks;
use super::proof::{ProofLog, Recorder};
use super::restarts::Restarts;
use super::theory::Output;
use super::values::{Reason, Value, Values};
use super::vsids::Vsids;
use super::watches::Watches;

/// A set of clauses that grows, with all that was learned about it. See the [module](super).
///
/// Between searches nothing is decided: only literals of level 0 have a value.
pub struct Core {
    pub(super) arena: Arena,
    /// Input clauses and lemmas of two literals or more.
    pub(super) clauses: Vec<ClauseRef>,
    /// Learned clauses of two literals or more.
    pub(super) learned: Vec<ClauseRef>,
    /// Reasons given by the theory, in no watch list; kept while their literal has its value.
    pub(super) explained: Vec<(Lit, ClauseRef)>,
    /// The number of words in `explained`.
    pub(super) explained_words: usize,
    pub(super) watches: Watches,
    pub(super) values: Values,
    pub(super) activity: Vsids,
    /// What each clause's activity grows by when it takes part in a conflict.
    pub(super) clause_increment: f32,
    /// By variable: the value to try next.
    pub(super) phases: Vec<bool>,
    pub(super) marks: Marks,
    pub(super) restarts: Restarts,
    /// How many literals of level 0 are in the proof, and how many the simplification has used.
    pub(super) units_logged: usize,
    pub(super) units_simplified: usize,
    /// The number of propagations before the next simplification.
    pub(super) simplify_at: u64,
    /// The number of conflicts at which the next reduction of learned clauses is due.
    pub(super) reduce_at: u64,
    /// The number of conflicts at which the next walk is due, and that of the last walk.
    pub(super) walk_at: u64,
    pub(super) walked_at: u64,
    /// False when the clauses have no model.
    pub(super) consistent: bool,
    /// Whether a table overflowed: no search can be trusted to end.
    pub(super) full: bool,
    pub(super) proof: Recorder,
    /// The proof is dropped when it takes more.
    pub(super) proof_bytes_max: usize,
    pub(super) counters: SatStats,
    /// By variable, of the last answer "satisfiable".
    pub(super) model: Vec<bool>,
    pub(super) output: Output,
    /// Scratch: the literals of a conflict, all false.
    pub(super) conflict: Vec<Lit>,
    /// Scratch: the clause being learned or added.
    pub(super) clause: Vec<Lit>,
    /// Scratch: a reason given by the theory, with its literal.
    pub(super) reason: Vec<Lit>,
}

impl Default for Core {
    fn default() -> Core {
        Core::new()
    }
}

impl Core {
    /// Returns a core without variables and clauses.
    pub fn new() -> Core {
        Core {
            arena: Arena::default(),
            clauses: Vec::new(),
            learned: Vec::new(),
            explained: Vec::new(),
            explained_words: 0,
            watches: Watches::default(),
            values: Values::new(),
            activity: Vsids::new(),
            clause_increment: 1.0,
            phases: Vec::new(),
            marks: Marks::default(),
            restarts: Restarts::new(),
            units_logged: 0,
            units_simplified: 0,
            simplify_at: 0,
            reduce_at: super::reduce::FIRST,
            walk_at: super::walk::FIRST,
            walked_at: 0,
            consistent: true,
            full: false,
            proof: Recorder::default(),
            proof_bytes_max: usize::MAX,
            counters: SatStats::default(),
            model: Vec::new(),
            output: Output::default(),
            conflict: Vec::new(),
            clause: Vec::new(),
            reason: Vec::new(),
        }
    }

    /// Creates a variable. It is first tried with the value `phase`, later with its last value.
    ///
    /// When there are 2^30 variables already, the last one is returned and searches end in
    /// [`Cause::Memory`](super::Cause::Memory).
    pub fn new_var(&mut self, phase: bool) -> Var {
        if self.phases.len() == Var::COUNT_MAX {
            self.full = true;
            return Var::from_index(Var::COUNT_MAX - 1);
        }
        let var = Var::from_index(self.phases.len());
        self.phases.push(phase);
        self.values.add_var();
        self.watches.add_var();
        self.activity.add_var();
        self.marks.add_var();
        var
    }

    /// Sets the value to try next for the variable.
    ///
    /// # Panics
    /// If this core has no such variable. The same holds for all methods here that take a variable
    /// or a literal.
    pub fn set_phase(&mut self, var: Var, phase: bool) {
        self.phases[var.index()] = phase;
    }

    /// Makes the variable more likely to be decided early, as a conflict with it would.
    pub fn bump(&mut self, var: Var) {
        self.activity.bump(var);
    }

    /// Returns the number of variables.
    pub fn vars(&self) -> usize {
        self.phases.len()
    }

    /// Adds a clause of the problem permanently. Literals may repeat; the empty clause is false.
    ///
    /// Returns false when unit propagation shows that there is no model.
    pub fn add_clause(&mut self, lits: &[Lit]) -> bool {
        if self.consistent {
            self.proof.input(lits);
        }
        self.add(lits)
    }

    /// Adds a clause as [`Core::add_clause`] does; the proof records it as a lemma of the theory
    /// with this tag.
    pub fn add_lemma(&mut self, lits: &[Lit], tag: u32) -> bool {
        self.counters.lemmas += 1;
        if self.consistent {
            self.proof.lemma(lits, tag);
        }
        self.add(lits)
    }

    /// Returns the value of the literal in all models, as far as propagation has shown it.
    pub fn value(&self, lit: Lit) -> Value {
        self.values.values[lit.index()]
    }

    /// Whether the literal is true in the model of the last answer "satisfiable"; false without
    /// such an answer, and for variables made since.
    pub fn model(&self, lit: Lit) -> bool {
        self.model.get(lit.var().index()).is_some_and(|&value| value == lit.is_positive())
    }

    /// Returns the counters so far.
    pub fn stats(&self) -> SatStats {
        SatStats {
            propagations: self.watches.propagations,
            clauses: self.clauses.len() + self.learned.len(),
            memory_bytes: self.memory_bytes(),
            ..self.counters
        }
    }

    /// Records a proof from now on. Call it before the first clause; later it does nothing, as the
    /// proof would lack steps.
    pub fn log_proof(&mut self) {
        self.log_proof_up_to(usize::MAX);
    }

    /// The same, but drops the proof once it takes more than `bytes`. The size is checked now and
    /// then.
    pub fn log_proof_up_to(&mut self, bytes: usize) {
        self.proof_bytes_max = bytes;
        let untouched = self.clauses.is_empty() && self.values.trail.is_empty() && self.consistent;
        if untouched {
            self.proof.0.get_or_insert_default();
        }
    }

    /// Returns the proof, when it is recorded.
    pub fn proof(&self) -> Option<&ProofLog> {
        self.proof.0.as_ref()
    }

    /// An estimate of the memory held, in constant time.
    pub(super) fn memory_bytes(&self) -> usize {
        const WATCHES_OF_CLAUSE: usize = 2 * size_of::<super::watches::Watch>();
        let clauses = self.clauses.len() + self.learned.len();
        // Lists that grow by doubling may be half empty, so count each watch one and a half times.
        let lists = clauses * WATCHES_OF_CLAUSE * 3 / 2
            + self.watches.lists.capacity() * size_of::<Vec<()>>();
        let tables =
            4 * (self.clauses.capacity() + self.learned.capacity()) + 8 * self.explained.capacity();
        let by_var = self.phases.capacity() + self.model.capacity() + self.marks.memory_bytes();
        self.arena.memory_bytes()
            + lists
            + tables
            + by_var
            + self.values.memory_bytes()
            + self.activity.memory_bytes()
            + self.output.memory_bytes()
            + self.proof().map_or(0, ProofLog::memory_bytes)
    }

    /// Adds a clause at level 0 and propagates.
    fn add(&mut self, lits: &[Lit]) -> bool {
        debug_assert_eq!(self.values.levels(), 0);
        if !self.consistent {
            return false;
        }
        if !self.normalise(lits) {
            return true;
        }
        match *self.clause {
            [] => self.refute(),
            [unit] => {
                self.values.assign(unit, Reason::NONE);
                if self.propagate().is_some() {
                    self.refute();
                }
            }
            _ => {
                self.store();
            }
        }
        self.consistent
    }

    /// Puts the clause into `self.clause`, sorted, without repetitions and permanently false
    /// literals. Returns false when the clause is permanently true.
    pub(super) fn normalise(&mut self, lits: &[Lit]) -> bool {
        let Core { clause, values, proof, .. } = self;
        clause.clear();
        clause.extend_from_slice(lits);
        clause.sort_unstable();
        clause.dedup();
        let fixed =
            |lit: Lit, value| values.values[lit.index()] == value && values.level_of(lit) == 0;
        let holds = clause.windows(2).any(|pair| pair[0] == !pair[1])
            || clause.iter().any(|&lit| fixed(lit, Value::True));
        if holds {
            return false;
        }
        clause.retain(|&lit| !fixed(lit, Value::False));
        // Deletions name the clause as it is stored.
        if clause.len() < lits.len() {
            proof.learned(clause.iter().copied());
        }
        true
    }

    /// Stores and watches `self.clause`, of two literals or more, as a permanent clause.
    pub(super) fn store(&mut self) -> Option<ClauseRef> {
        let stored = self.arena.push(&self.clause, false, 0);
        match stored {
            Some(clause) => {
                self.clauses.push(clause);
                self.watches.attach(&self.arena, clause);
            }
            None => self.full = true,
        }
        stored
    }

    pub(super) fn propagate(&mut self) -> Option<ClauseRef> {
        self.watches.propagate(&mut self.arena, &mut self.values)
    }

    /// Records that there is no model. What holds at level 0 is in the proof already or follows by
    /// propagation.
    pub(super) fn refute(&mut self) {
        self.consistent = false;
        self.proof.learned(std::iter::empty());
    }
}
