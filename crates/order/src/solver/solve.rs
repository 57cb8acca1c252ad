//! The solver: a problem, clauses over orders, and answers.

use super::fact::Fact;
use super::formula::Formula;
use super::prepare::Prepared;
use super::problem::{Block, Node, Problem, ProblemError};
use super::refutation::{Link, Refutation, Source};
use super::sabotage::Sabotage;
use super::theory::{OrderTheory, TheoryStats};
use super::variables::Variables;
use super::witness::linearise;
use crate::sat::{self, Cause, Core, Limits, Lit, Var};

/// The answer of a solver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// A total order of all nodes in which everything holds.
    Ordered(Vec<Node>),
    /// There is no such order.
    Impossible {
        /// Assumptions that cannot hold together; empty when there is no order even without any.
        core: Vec<Lit>,
    },
    /// A limit was reached first.
    Unknown(Cause),
}

/// Counters of a solver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SolverStats {
    /// Keys: the nodes left after condensation.
    pub keys: u64,
    /// Pairs of blocks of one resource.
    pub pairs: u64,
    /// Pairs left undecided by saturation; 0 when it refuted the problem.
    pub undecided: u64,
    /// Pairs that saturation forced one by one (others follow from these).
    pub forced: u64,
    /// Pairs that became variables.
    pub variables: u64,
    /// Decisions of the search.
    pub decisions: u64,
    /// Conflicts of the search.
    pub conflicts: u64,
    /// Literals propagated by the search.
    pub propagations: u64,
    /// Literals that the theory of orders implied.
    pub implied: u64,
    /// Of these, literals whose reason was requested.
    pub explained: u64,
    /// Candidates tried.
    pub candidates: u64,
    /// Cycles turned into clauses.
    pub cycles: u64,
    /// Restarts of the search.
    pub restarts: u64,
    /// Memory in bytes, estimated.
    pub memory_bytes: u64,
}

/// Finds a total order of the nodes of a [`Problem`] under which clauses over orders hold.
///
/// Clauses, literals and formulas may be added between calls of [`solve`](Self::solve); learned
/// clauses stay.
#[derive(Default)]
pub struct Solver {
    pub(super) problem: Problem,
    pub(super) core: Core,
    pub(super) variables: Variables,
    pub(super) prepared: Option<Prepared>,
    /// The links of cycles turned into clauses, if a proof is kept.
    pub(super) cycles: Option<Vec<Vec<Link>>>,
    /// The refutation, when the problem alone has no order.
    pub(super) contradiction: Option<Refutation>,
    pub(super) impossible: bool,
    pub(super) scopes: Vec<Lit>,
    pub(super) stats: SolverStats,
    pub(super) theory_stats: TheoryStats,
    pub(super) sabotage: Sabotage,
}

impl Solver {
    /// Makes a solver for a problem.
    #[must_use]
    pub fn new(problem: Problem) -> Solver {
        Solver { problem, ..Solver::default() }
    }

    /// Keeps the data for [`refutation`](Self::refutation). Call it before anything else.
    pub fn keep_proof(&mut self) {
        self.keep_proof_up_to(usize::MAX);
    }

    /// The same, but drops the proof once the log of the search takes more than `bytes`: a long
    /// search wastes no memory on a proof too long to read.
    pub fn keep_proof_up_to(&mut self, bytes: usize) {
        self.core.log_proof_up_to(bytes);
        self.cycles = Some(Vec::new());
    }

    /// Enables a fault, for mutation tests. Call it before anything else.
    #[cfg(test)]
    pub fn sabotage(&mut self, sabotage: Sabotage) {
        self.sabotage = sabotage;
    }

    /// Makes a variable that stands for no order.
    pub fn free(&mut self) -> Lit {
        self.variables.add_free(&mut self.core)
    }

    /// Returns the literal "`first` comes before `second`"; its negation is the opposite order.
    ///
    /// # Errors
    ///
    /// Fails when there is no such node, or both are the same.
    pub fn before(&mut self, first: Node, second: Node) -> Result<Lit, ProblemError> {
        self.problem.check(first)?;
        self.problem.check(second)?;
        if first == second {
            return Err(ProblemError::SameNode(first));
        }
        if let Some(lit) = self.variables.nodes(first, second) {
            return Ok(lit);
        }
        let var = self.core.new_var(first < second);
        self.variables.add_nodes(var, first.min(second), first.max(second));
        Ok(Lit::new(var, first < second))
    }

    /// Returns the literal "block `first` comes before block `second`".
    ///
    /// # Panics
    ///
    /// Panics when the blocks are not two of one resource.
    pub fn order(&mut self, first: Block, second: Block) -> Lit {
        let resource = |block: Block| self.problem.blocks[block.index()].resource;
        assert!(
            first != second && resource(first) == resource(second),
            "two blocks of one resource"
        );
        let (first, second) = match &self.prepared {
            Some(prepared) => prepared.pairs.root(&self.problem, first.0, second.0),
            None => (first.0, second.0),
        };
        if let Some(lit) = self.variables.blocks(first, second) {
            return lit;
        }
        let var = self.core.new_var(first < second);
        self.variables.add_blocks(var, first.min(second), first.max(second));
        Lit::new(var, first < second)
    }

    /// Returns the value of a literal in the last answer [`Answer::Ordered`].
    #[must_use]
    pub fn value(&self, lit: Lit) -> bool {
        self.core.model(lit)
    }

    /// Returns the order that a literal states, if it states one.
    #[must_use]
    pub fn fact(&self, lit: Lit) -> Option<Fact> {
        self.variables.fact(lit)
    }

    /// Requires that at least one of the literals holds, in the current scope.
    pub fn clause(&mut self, lits: &[Lit]) {
        let mut clause: Vec<Lit> = lits.to_vec();
        clause.extend(self.scopes.last().map(|&scope| !scope));
        self.impossible |= !self.core.add_clause(&clause);
    }

    /// Requires that a formula holds, in the current scope. Linear in its size.
    pub fn require(&mut self, formula: &Formula) {
        let mut clauses: Vec<Vec<Lit>> = Vec::new();
        let (core, variables) = (&mut self.core, &mut self.variables);
        formula
            .clauses(&mut || variables.add_free(core), &mut |clause| clauses.push(clause.to_vec()));
        for clause in clauses {
            self.clause(&clause);
        }
    }

    /// Opens a scope: requirements added from now on hold until [`pop`](Self::pop).
    pub fn push(&mut self) {
        let scope = self.free();
        self.scopes.push(scope);
    }

    /// Closes the last scope and drops its requirements. Does nothing when there is none.
    pub fn pop(&mut self) {
        if let Some(scope) = self.scopes.pop() {
            self.impossible |= !self.core.add_clause(&[!scope]);
        }
    }

    /// Searches for a total order in which the problem, all clauses and the assumptions hold.
    pub fn solve(&mut self, assumptions: &[Lit], limits: &mut Limits<'_>) -> Answer {
        let mut never = || false;
        let stop: &mut dyn FnMut() -> bool = match &mut limits.stop {
            Some(stop) => &mut **stop,
            None => &mut never,
        };
        if self.contradiction.is_none()
            && let Err(cause) = self.prepare(limits.memory_bytes, stop)
        {
            return Answer::Unknown(cause);
        }
        if self.contradiction.is_some() || self.impossible {
            return Answer::Impossible { core: Vec::new() };
        }
        let prepared = self.prepared.take().expect("prepared above");
        let mut theory = OrderTheory::new(
            (&self.problem, prepared),
            &mut self.variables,
            &mut self.cycles,
            &mut self.theory_stats,
            self.sabotage,
        );
        let mut all: Vec<Lit> = self.scopes.clone();
        all.extend_from_slice(assumptions);
        let mut limits = Limits {
            conflicts: limits.conflicts,
            memory_bytes: limits.memory_bytes.map(|bytes| bytes.saturating_sub(theory.bytes())),
            stop: Some(stop),
        };
        let answer = self.core.solve(&all, &mut theory, &mut limits);
        let (accepted, bytes) = (theory.accepted.take(), theory.bytes());
        let prepared = theory.into_prepared();
        let answer = match answer {
            sat::Answer::Sat => Answer::Ordered(
                self.order_of_model(&prepared, &accepted.expect("a model was accepted")),
            ),
            sat::Answer::Unsat { core } => Answer::Impossible {
                core: core.into_iter().filter(|lit| assumptions.contains(lit)).collect(),
            },
            sat::Answer::Unknown(cause) => Answer::Unknown(cause),
        };
        self.prepared = Some(prepared);
        self.count(bytes);
        answer
    }

    /// Returns an order of all nodes that satisfies the facts of the model.
    fn order_of_model(&self, prepared: &Prepared, accepted: &[u32]) -> Vec<Node> {
        let facts = (0..self.variables.len()).filter_map(|var| {
            let lit = Lit::new(Var::from_index(var), true);
            let fact = self.variables.fact(lit)?;
            Some(if self.core.model(lit) { fact } else { fact.opposite() })
        });
        linearise(&self.problem, &prepared.keys, &prepared.blocks, accepted, facts)
    }

    fn count(&mut self, bytes: usize) {
        let core = self.core.stats();
        self.stats = SolverStats {
            variables: self.variables.pairs() as u64,
            decisions: core.decisions,
            conflicts: core.conflicts,
            propagations: core.propagations,
            restarts: core.restarts,
            implied: self.theory_stats.implied,
            explained: core.explanations,
            candidates: self.theory_stats.candidates,
            cycles: self.theory_stats.cycles,
            memory_bytes: (core.memory_bytes + bytes) as u64,
            ..self.stats
        };
    }

    /// Returns the counters so far.
    #[must_use]
    pub fn stats(&self) -> SolverStats {
        self.stats
    }

    /// Returns whether saturation alone settled the order of two blocks of one resource.
    #[must_use]
    pub fn settled(&self, first: Block, second: Block) -> bool {
        self.prepared.as_ref().is_some_and(|prepared| {
            prepared.known.is(first.0, second.0) || prepared.known.is(second.0, first.0)
        })
    }

    /// Returns the proof of the last answer [`Answer::Impossible`]: `None` when
    /// [`keep_proof`](Self::keep_proof) was not called in time.
    #[must_use]
    pub fn refutation(&self) -> Option<Refutation> {
        if let Some(refutation) = &self.contradiction {
            return Some(refutation.clone());
        }
        let (log, cycles) = (self.core.proof()?, self.cycles.as_ref()?);
        let prepared = self.prepared.as_ref()?;
        let source = Source { problem: &self.problem, on: prepared };
        Some(source.by_search(log, cycles, &self.variables))
    }
}
