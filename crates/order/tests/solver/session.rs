//! One random session with a solver: clauses come and go, and each answer is checked independently.

use crate::tests::solver::encoding::Encoding;
use crate::tests::solver::oracle::{self, Atom, Condition};
use crate::tests::solver::proof::Seen;
use crate::tests::solver::random::{Random, Spec, spec};
use crate::tests::solver::saturation;
use anyorder_order::sat::{Lit, Var};
use anyorder_order::solver::{Answer, Block, Fact, Formula, Limits, Sabotage, Solver, SolverStats};
use batsat::{BasicSolver, SolverInterface, lbool};
use std::collections::{BTreeMap, BTreeSet};

/// Counters of what occurred.
#[derive(Default)]
pub(crate) struct Counters(pub(crate) BTreeMap<&'static str, u64>);

impl Counters {
    pub(crate) fn add(&mut self, name: &'static str, count: u64) {
        *self.0.entry(name).or_default() += count;
    }

    pub(crate) fn note(&mut self, name: &'static str, is: bool) {
        self.add(name, u64::from(is));
    }
}

/// The parameters of a session.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// The greatest number of nodes. With more than `SMALL`, or too many orders, the plain encoding
    /// is the oracle.
    pub(crate) nodes: u32,
    pub(crate) sabotage: Sabotage,
    /// A bound on conflicts, for faults that would never end.
    pub(crate) most_conflicts: Option<u64>,
}

pub(crate) const SMALL: u32 = 12;
pub(crate) const FREES: u32 = 3;

/// The source of the right answer.
pub(crate) enum Oracle {
    Orders(Vec<Vec<u32>>),
    Encoding(Encoding),
}

pub(crate) struct Session<'c> {
    pub(crate) spec: Spec,
    pub(crate) judge: Oracle,
    pub(crate) random: Random,
    pub(crate) solver: Solver,
    pub(crate) blocks: Vec<Block>,
    pub(crate) frees: Vec<Lit>,
    /// All atoms made so far, with their literals.
    pub(crate) atoms: BTreeMap<Atom, Lit>,
    /// The required conditions, by scope.
    pub(crate) required: Vec<Vec<Condition>>,
    pub(crate) scopes: Vec<Lit>,
    pub(crate) inputs: Vec<Vec<Lit>>,
    pub(crate) formulas: bool,
    pub(crate) proof: bool,
    pub(crate) plan: Plan,
    pub(crate) counters: &'c mut Counters,
    pub(crate) seen: Seen,
}

/// Runs a session, and returns its answers, or the mistake in one.
pub(crate) fn run(plan: Plan, counters: &mut Counters) -> Result<Vec<Answer>, String> {
    let mut random = Random::new(plan.seed);
    let mut spec = spec(&mut random, plan.nodes);
    let orders = if plan.nodes > SMALL { None } else { oracle::orders(&spec) };
    let judge = match orders {
        Some(orders) => Oracle::Orders(orders),
        None => Oracle::Encoding(Encoding::of(&spec)),
    };
    counters.note("judged by all orders", matches!(judge, Oracle::Orders(_)));
    spec.preferred = match (&judge, random.below(6)) {
        (_, 0) => Some(random.shuffled(spec.nodes())),
        (Oracle::Orders(orders), 1 | 2) if !orders.is_empty() => {
            Some(orders[random.below(orders.len() as u32) as usize].clone())
        }
        _ => None,
    };
    let (problem, blocks) = spec.problem();
    let mut solver = Solver::new(problem);
    solver.sabotage(plan.sabotage);
    let proof = random.often(75);
    if proof {
        solver.keep_proof();
    }
    let frees = (0..FREES).map(|_| solver.free()).collect();
    let mut session = Session {
        spec,
        judge,
        random,
        solver,
        blocks,
        frees,
        atoms: BTreeMap::new(),
        required: vec![Vec::new()],
        scopes: Vec::new(),
        inputs: Vec::new(),
        formulas: false,
        proof,
        plan,
        counters,
        seen: Seen::default(),
    };
    let answers = session.go()?;
    session.finish()?;
    Ok(answers)
}

impl Session<'_> {
    fn go(&mut self) -> Result<Vec<Answer>, String> {
        let mut answers = Vec::new();
        // Often the problem is solved alone first.
        if self.random.often(60) {
            answers.push(self.solve(&[])?);
        }
        if self.random.often(15) {
            // Clauses of three literals, about as many as are still satisfiable.
            let nodes = self.spec.nodes();
            for _ in 0..nodes * (4 + self.random.below(8)) {
                self.clause_of(3);
            }
            answers.push(self.solve(&[])?);
        }
        for _ in 0..1 + self.random.below(3) {
            for _ in 0..self.random.below(7) {
                match self.random.below(10) {
                    0 => self.push(),
                    1 => self.pop(),
                    2 | 3 => self.formula(),
                    _ => self.clause(),
                }
            }
            let mut assumed = Vec::new();
            for _ in 0..self.random.below(3) * self.random.below(3) {
                let Some(atom) = self.atom() else { break };
                assumed.push((atom, self.random.often(50)));
            }
            answers.push(self.solve(&assumed)?);
        }
        Ok(answers)
    }

    fn atom(&mut self) -> Option<Atom> {
        let nodes = self.spec.nodes();
        let (a, b) = (self.random.below(nodes), self.random.below(nodes));
        match self.random.below(8) {
            0 => Some(Atom::Free(self.random.below(FREES))),
            1..=3 if self.spec.blocks.len() > 1 => {
                let count = self.spec.blocks.len() as u32;
                let (a, b) = (self.random.below(count), self.random.below(count));
                let joint = |block: u32| self.spec.blocks[block as usize].resource;
                (a != b && joint(a) == joint(b)).then_some(Atom::Blocks(a, b))
            }
            _ => (a != b).then_some(Atom::Nodes(a, b)),
        }
    }

    fn lit(&mut self, atom: Atom, value: bool) -> Lit {
        let solver = &mut self.solver;
        let lit = match atom {
            Atom::Free(index) => self.frees[index as usize],
            Atom::Nodes(a, b) => solver.before(a, b).unwrap(),
            Atom::Blocks(a, b) => solver.order(self.blocks[a as usize], self.blocks[b as usize]),
        };
        self.counters.note("atoms between blocks", matches!(atom, Atom::Blocks(..)));
        self.atoms.insert(atom, lit);
        if let (Atom::Blocks(a, b), Some(fact)) = (atom, solver.fact(lit)) {
            let own =
                Fact::Blocks { first: self.blocks[a as usize], second: self.blocks[b as usize] };
            self.counters.note("pairs merged with their root", fact != own);
        }
        if value { lit } else { !lit }
    }

    fn require(&mut self, condition: Condition) {
        self.required.last_mut().expect("the outermost scope stays").push(condition);
    }

    fn clause(&mut self) {
        let len = 1 + self.random.below(3);
        self.clause_of(len);
    }

    fn clause_of(&mut self, len: u32) {
        let mut lits = Vec::new();
        let mut parts = Vec::new();
        for _ in 0..len {
            let Some(atom) = self.atom() else { continue };
            let value = self.random.often(50);
            lits.push(self.lit(atom, value));
            parts.push(Condition::Is(atom, value));
        }
        if parts.is_empty() && !self.random.often(3) {
            return;
        }
        self.counters.note("empty clauses", parts.is_empty());
        self.solver.clause(&lits);
        lits.extend(self.scopes.last().map(|&scope| !scope));
        self.inputs.push(lits);
        self.require(Condition::Any(parts));
    }

    fn formula(&mut self) {
        let (formula, condition) = self.nested(3);
        self.counters.add("formulas", 1);
        self.solver.require(&formula);
        self.formulas = true;
        self.require(condition);
    }

    fn nested(&mut self, depth: u32) -> (Formula, Condition) {
        if depth == 0 || self.random.often(25) {
            let atom = self.atom().unwrap_or(Atom::Free(0));
            let value = self.random.often(50);
            return (Formula::from(self.lit(atom, value)), Condition::Is(atom, value));
        }
        let len = self.random.below(4);
        let parts: Vec<_> = (0..len).map(|_| self.nested(depth - 1)).collect();
        match self.random.below(3) {
            0 => {
                let (formula, condition) = self.nested(depth - 1);
                (!formula, Condition::Not(Box::new(condition)))
            }
            1 => {
                let (formulas, conditions): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
                (Formula::and(formulas), Condition::All(conditions))
            }
            _ => {
                let (formulas, conditions): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
                (Formula::or(formulas), Condition::Any(conditions))
            }
        }
    }

    fn push(&mut self) {
        // Variables are numbered consecutively, so the next one is that of the scope.
        let probe = self.solver.free();
        self.solver.push();
        self.scopes.push(Lit::new(Var::from_index(probe.var().index() + 1), true));
        self.required.push(Vec::new());
        self.counters.add("push", 1);
    }

    fn pop(&mut self) {
        self.solver.pop();
        if let Some(scope) = self.scopes.pop() {
            self.inputs.push(vec![!scope]);
            self.required.pop();
            self.counters.add("pop", 1);
        }
    }

    pub(crate) fn truth(&self, assumed: &[(Atom, bool)]) -> bool {
        let mut conditions: Vec<Condition> = self.required.iter().flatten().cloned().collect();
        conditions.extend(assumed.iter().map(|&(atom, value)| Condition::Is(atom, value)));
        match &self.judge {
            Oracle::Orders(orders) => {
                orders.iter().any(|order| oracle::all_hold(&self.spec, &conditions, order, FREES))
            }
            Oracle::Encoding(encoding) => self.encoded(encoding, &conditions),
        }
    }

    fn encoded(&self, encoding: &Encoding, conditions: &[Condition]) -> bool {
        let mut plain = encoding.with_frees(FREES);
        for condition in conditions {
            plain.require(&self.spec, condition);
        }
        let mut solver = BasicSolver::default();
        let table: Vec<_> = (0..=plain.variables).map(|_| solver.new_var_default()).collect();
        for clause in plain.clauses {
            let lits = clause
                .iter()
                .map(|&lit| batsat::Lit::new(table[lit.unsigned_abs() as usize], lit > 0));
            solver.add_clause_reuse(&mut lits.collect());
        }
        solver.solve_limited(&[]) == lbool::TRUE
    }

    fn solve(&mut self, assumed: &[(Atom, bool)]) -> Result<Answer, String> {
        let lits: Vec<Lit> = assumed.iter().map(|&(atom, value)| self.lit(atom, value)).collect();
        self.limited(&lits)?;
        let mut limits = Limits { conflicts: self.plan.most_conflicts, ..Limits::default() };
        let answer = self.solver.solve(&lits, &mut limits);
        self.check(&answer, assumed, &lits)?;
        Ok(answer)
    }

    /// With a small limit, the answer must be right or `Unknown`.
    fn limited(&mut self, lits: &[Lit]) -> Result<(), String> {
        if !self.random.often(15) {
            return Ok(());
        }
        let mut left = self.random.below(4);
        let mut stop = || {
            left = left.saturating_sub(1);
            left == 0
        };
        let mut limits = match self.random.below(3) {
            0 => Limits { conflicts: Some(0), ..Limits::default() },
            1 => {
                Limits { memory_bytes: Some(self.random.below(5000) as usize), ..Limits::default() }
            }
            _ => Limits { stop: Some(&mut stop), ..Limits::default() },
        };
        let assumed: Vec<(Atom, bool)> = lits.iter().filter_map(|&lit| self.named(lit)).collect();
        let truth = self.truth(&assumed);
        match self.solver.solve(lits, &mut limits) {
            Answer::Unknown(_) => self.counters.add("unknown for a limit", 1),
            Answer::Ordered(_) if truth => self.counters.add("an answer within a limit", 1),
            Answer::Impossible { .. } if !truth => self.counters.add("an answer within a limit", 1),
            answer => return Err(format!("{answer:?} within a limit")),
        }
        Ok(())
    }

    /// Returns the atom of a literal of the caller, and its sign.
    fn named(&self, lit: Lit) -> Option<(Atom, bool)> {
        self.atoms
            .iter()
            .find(|(_, own)| own.var() == lit.var())
            .map(|(&atom, &own)| (atom, own == lit))
    }

    /// The counters must agree with the slow saturation.
    fn finish(&mut self) -> Result<(), String> {
        let stats = self.solver.stats();
        self.tally(&stats);
        if self.plan.sabotage == Sabotage::SearchOnly {
            return Ok(());
        }
        let forced = saturation::forced(&self.spec);
        let Some(forced) = forced else {
            self.counters.note("refuted by saturation", stats.pairs > 0);
            self.counters.note("refuted by a given cycle", stats.pairs == 0);
            return if stats.undecided == 0 && stats.decisions == 0 {
                Ok(())
            } else {
                Err("saturation did not refute".into())
            };
        };
        let mut undecided = 0;
        for (i, a) in self.spec.blocks.iter().enumerate() {
            for (j, b) in self.spec.blocks.iter().enumerate().take(i) {
                if a.resource != b.resource {
                    continue;
                }
                let settled = forced[i][j] || forced[j][i];
                if self.solver.settled(self.blocks[i], self.blocks[j]) != settled {
                    return Err(format!("saturation settles blocks {j} and {i}: not {settled}"));
                }
                undecided += u64::from(!settled);
            }
        }
        self.counters.add("pairs forced by saturation", stats.pairs - undecided);
        self.counters.add("pairs left undecided", undecided);
        if undecided == stats.undecided {
            Ok(())
        } else {
            Err("wrong count of undecided pairs".into())
        }
    }

    fn tally(&mut self, stats: &SolverStats) {
        let ranks: BTreeSet<_> =
            self.spec.blocks.iter().map(|block| block.entry.map(|entry| entry.1)).collect();
        let counters = &mut *self.counters;
        counters.add("sessions", 1);
        counters.note("with a proof kept", self.proof);
        counters.note("with a preferred order", self.spec.preferred.is_some());
        counters.note("with blocks without entry", ranks.contains(&None));
        counters.note("with entries at several ranks", ranks.len() > 2);
        let entries: BTreeSet<_> =
            self.spec.blocks.iter().filter_map(|b| Some((b.resource, b.entry?.0))).collect();
        let enter = self.spec.blocks.iter().filter(|block| block.entry.is_some()).count();
        counters.note("with several entries at one node", entries.len() < enter);
        counters.note("with pairs as variables", stats.variables > 0);
        counters.note("with decisions", stats.decisions > 0);
        counters.note("with conflicts", stats.conflicts > 0);
        counters.note("with more than 10 conflicts", stats.conflicts > 10);
        counters.note("with more than two candidates", stats.candidates > 2);
        counters.note("with cycles as clauses", stats.cycles > 0);
        counters.add("literals implied by the theory", stats.implied);
        counters.add("implied literals explained", stats.explained);
        let seen = &self.seen;
        for (name, count) in [
            ("proof: links along chains", seen.chain_links),
            ("proof: given links", seen.given_links),
            ("proof: links between blocks", seen.block_links),
            ("proof: links between entries", seen.entry_links),
            ("proof: links of atoms", seen.node_links),
            ("proof: derived clauses", seen.derived),
            ("proof: forgotten clauses", seen.forgotten),
        ] {
            counters.add(name, count);
        }
    }
}
