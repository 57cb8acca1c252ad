//! The theory of orders: reports cycles to the SAT search.
//!
//! A literal that becomes true adds its edges. An edge that closes a cycle is a conflict, explained
//! by the cycle with the fewest literals. A literal whose edge would close a cycle is implied to be
//! false; the explanation is built on request. When all variables have values, a
//! [candidate](super::candidate) tries to run everything; the pairs in the cycles that block it
//! become variables.

use super::candidate::{Candidate, CandidateRunner};
use super::condense::Key;
use super::cone::Cone;
use super::fact::{Fact, Info};
use super::graph::Graph;
use super::path::{Hop, HopKind, PathRules, Paths};
use super::prepare::Prepared;
use super::problem::Problem;
use super::refutation::{Link, cycle_links};
use super::sabotage::Sabotage;
use super::variables::Variables;
use crate::sat::{Lit, Output, Theory, Values, Var};

/// Counters of the theory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TheoryStats {
    pub(crate) candidates: u64,
    pub(crate) cycles: u64,
    pub(crate) implied: u64,
}

/// A literal and one of its edges; the list that holds the watch gives the other end.
#[derive(Clone, Copy, Debug)]
struct Watch {
    lit: Lit,
    other: Key,
    label: u32,
}

/// Why a literal is false: with the added edges before `limit`, this edge would have closed a
/// cycle.
#[derive(Clone, Copy, Debug)]
struct ImpliedBy {
    label: u32,
    limit: u32,
}

pub(crate) struct OrderTheory<'a> {
    problem: &'a Problem,
    /// The result of saturation; decided edges are added to its graph.
    on: Prepared,
    /// The number of edges that come from saturation.
    fixed: u32,
    variables: &'a mut Variables,
    /// For each literal, the labels of its edges.
    edges: Vec<std::ops::Range<u32>>,
    /// By key, the edges that leave it, and those that arrive.
    watches: Vec<Vec<Watch>>,
    watches_into: Vec<Vec<Watch>>,
    /// For each literal taken from the trail, the number of edges added before.
    marks: Vec<u32>,
    implied_by: Vec<ImpliedBy>,
    implied: Vec<Lit>,
    /// Edges that would close a cycle: the position of their first end in the forward cone, their
    /// labels and literals.
    closing: Vec<(u32, u32, Lit)>,
    paths: Paths,
    runner: CandidateRunner,
    forward: Cone,
    backward: Cone,
    budget: LookAheadBudget,
    /// The cycles of lemmas, by tag, if a proof is kept.
    cycles: &'a mut Option<Vec<Vec<Link>>>,
    /// The accepted order.
    pub(crate) accepted: Option<Vec<Key>>,
    stats: &'a mut TheoryStats,
    sabotage: Sabotage,
}

/// Decides whether look-ahead is worth its cost.
#[derive(Clone, Copy, Debug, Default)]
struct LookAheadBudget {
    /// Keys visited in search of implied literals, less the value of those found.
    debt: i64,
    /// Literals taken during propagation, less the value of the conflicts found.
    idle: i64,
}

/// Up to this many edges of literals are scanned in the forward direction.
const SCAN_MAX: usize = 512;
/// The value of an implied literal, in visited keys.
const IMPLIED_VALUE: i64 = 400;
/// The debt at which the theory stops looking ahead.
const DEBT_MAX: i64 = 400_000;
/// After this many literals without a conflict or an implied literal, the theory waits for full
/// assignments.
const IDLE_MAX: i64 = 20_000;
/// The value of a conflict or an implied literal, in such literals.
const CONFLICT_VALUE: i64 = 200;
/// The greatest number of conflicts collected from one full assignment.
const CONFLICTS_MAX: usize = 64;

/// The paths allowed in explanations: over edges added before `limit`, at places up to that of the
/// goal.
struct Earlier<'g> {
    graph: &'g Graph,
    limit: u32,
    fixed: u32,
    last_place: u32,
}

impl PathRules for Earlier<'_> {
    fn passes(&self, key: Key) -> bool {
        self.graph.place(key) <= self.last_place
    }

    fn cost(&self, index: u32, label: u32) -> Option<bool> {
        (index < self.limit).then_some(label >= self.fixed)
    }
}

impl<'a> OrderTheory<'a> {
    /// Makes a theory with an empty assignment.
    pub(crate) fn new(
        (problem, on): (&'a Problem, Prepared),
        variables: &'a mut Variables,
        cycles: &'a mut Option<Vec<Vec<Link>>>,
        stats: &'a mut TheoryStats,
        sabotage: Sabotage,
    ) -> OrderTheory<'a> {
        let keys = on.keys.len();
        let mut runner = CandidateRunner::default();
        runner.no_queues = sabotage == Sabotage::NoQueues;
        let mut theory = OrderTheory {
            problem,
            fixed: on.infos.len() as u32,
            on,
            variables,
            edges: Vec::new(),
            watches: vec![Vec::new(); keys],
            watches_into: vec![Vec::new(); keys],
            marks: Vec::new(),
            implied_by: Vec::new(),
            implied: Vec::new(),
            closing: Vec::new(),
            paths: Paths::default(),
            runner,
            forward: Cone::new(keys),
            backward: Cone::new(keys),
            budget: LookAheadBudget::default(),
            cycles,
            accepted: None,
            stats,
            sabotage,
        };
        theory.add_edges();
        theory
    }

    /// Returns the result of saturation, without the edges of literals.
    pub(crate) fn into_prepared(mut self) -> Prepared {
        self.on.graph.truncate(self.fixed);
        self.on.infos.truncate(self.fixed as usize);
        self.on
    }

    /// Adds edges to the variables that have none yet.
    fn add_edges(&mut self) {
        for var in self.edges.len() / 2..self.variables.len() {
            let var = Var::from_index(var);
            for lit in [Lit::new(var, true), Lit::new(var, false)] {
                let start = self.on.infos.len() as u32;
                match self.variables.fact(lit) {
                    Some(Fact::Blocks { first, second }) => {
                        let pair = (first.0, second.0);
                        self.on.infos.extend(self.on.pairs.edges(self.problem, pair, lit));
                    }
                    Some(fact @ Fact::Nodes { first, second }) => {
                        self.on.infos.push(Info { from: first, to: second, fact, lit: Some(lit) });
                    }
                    None => {}
                }
                let labels = start..self.on.infos.len() as u32;
                for label in labels.clone() {
                    let (from, to) = self.on.ends(label);
                    self.watches[from as usize].push(Watch { lit, other: to, label });
                    self.watches_into[to as usize].push(Watch { lit, other: from, label });
                }
                // Literals come in the order of their indices: positive first.
                debug_assert_eq!(self.edges.len(), lit.index());
                self.edges.push(labels);
                self.implied_by.push(ImpliedBy { label: 0, limit: 0 });
            }
        }
    }

    /// Returns the clause "not all literals of this cycle hold", without repetitions.
    fn clause(&mut self, hops: &[Hop], out: Option<&mut Output>) -> Vec<Lit> {
        let mut clause = Vec::new();
        let mut out = out;
        for hop in hops {
            match hop.kind {
                HopKind::Added(label) => {
                    clause.extend(self.on.infos[label as usize].lit.map(|lit| !lit))
                }
                HopKind::Assumed(first, second) => {
                    let lit = self.lit(first, second, out.as_deref_mut());
                    clause.push(!lit);
                }
                HopKind::Chain | HopKind::Given(_) => {}
            }
        }
        clause.sort_unstable();
        clause.dedup();
        if self.sabotage == Sabotage::ShortClauses {
            clause.pop();
        }
        clause
    }

    /// Returns the literal for the order of two blocks; a new variable is first tried as requested.
    fn lit(&mut self, first: u32, second: u32, out: Option<&mut Output>) -> Lit {
        let (first, second) = self.on.pairs.root(self.problem, first, second);
        if let Some(lit) = self.variables.blocks(first, second) {
            return lit;
        }
        let out = out.expect("only a candidate assumes what is no variable");
        let var = out.new_var(first < second);
        self.variables.add_blocks(var, first.min(second), first.max(second));
        self.add_edges();
        Lit::new(var, first < second)
    }

    fn tag(&mut self, hops: &[Hop]) -> u32 {
        self.stats.cycles += 1;
        match self.cycles {
            Some(cycles) => {
                cycles.push(cycle_links(self.problem, &self.on.infos, hops));
                cycles.len() as u32 - 1
            }
            None => 0,
        }
    }

    /// Takes literals from the trail; each conflict becomes a lemma. Continues after a conflict, up
    /// to `most` of them, and then restores the state before the first.
    fn take(&mut self, trail: &[Lit], values: &Values, out: &mut Output, most: usize, ahead: bool) {
        let mut first_conflict = None;
        let mut conflicts = 0;
        while self.marks.len() < trail.len() && conflicts < most {
            let lit = trail[self.marks.len()];
            let len = self.on.graph.len();
            self.marks.push(len);
            self.budget.idle += 1;
            for label in self.edges[lit.index()].clone() {
                let (from, to) = self.on.ends(label);
                if self.on.graph.add(&self.on.keys, from, to, label) {
                    if ahead {
                        self.look_ahead(from, to, values);
                    }
                    continue;
                }
                first_conflict.get_or_insert((self.marks.len() - 1, len));
                conflicts += 1;
                let cycle = self.cycle_of(label, self.on.graph.len());
                self.lemma(&cycle, out);
                break;
            }
        }
        if let Some((taken, len)) = first_conflict {
            self.marks.truncate(taken);
            self.on.graph.truncate(len);
            self.budget.idle -= CONFLICT_VALUE * conflicts as i64;
            // Implied literals may depend on removed edges.
            self.implied.clear();
        }
        for lit in self.implied.drain(..) {
            out.imply(lit);
        }
    }

    /// Returns the cycle with the fewest literals that an edge would close over edges added before
    /// `limit`.
    fn cycle_of(&mut self, label: u32, limit: u32) -> Vec<Hop> {
        let graph = &self.on.graph;
        let last_place = graph.place(self.on.ends(label).0);
        let rules = Earlier { graph, limit, fixed: self.fixed, last_place };
        self.on.cycle_of(label, &mut self.paths, &rules)
    }

    /// Adds the lemma that not all literals of a cycle hold.
    fn lemma(&mut self, cycle: &[Hop], out: &mut Output) {
        let clause = self.clause(cycle, Some(out));
        let tag = self.tag(cycle);
        out.lemma(&clause, tag);
    }

    /// Searches for literals whose edges would close a cycle through the edge just added.
    fn look_ahead(&mut self, from: Key, to: Key, values: &Values) {
        if self.budget.debt > DEBT_MAX {
            return;
        }
        self.forward.grow::<true>(&self.on.keys, &self.on.graph, to);
        if self.sabotage == Sabotage::WrongCone {
            self.backward.grow::<true>(&self.on.keys, &self.on.graph, from);
        } else {
            self.backward.grow::<false>(&self.on.keys, &self.on.graph, from);
        }
        self.budget.debt += (self.forward.keys.len() + self.backward.keys.len()) as i64;
        let mut closing = std::mem::take(&mut self.closing);
        self.find_closing(&mut closing);
        for (_, label, edge) in closing.drain(..) {
            if values.is_true(edge) || values.is_false(edge) {
                continue;
            }
            // A literal and its opposite may be implied at once: one entry each.
            let lit = if self.sabotage == Sabotage::ImpliesOpposite { edge } else { !edge };
            self.implied_by[lit.index()] = ImpliedBy { label, limit: self.on.graph.len() };
            self.stats.implied += 1;
            self.budget.debt -= IMPLIED_VALUE;
            self.budget.idle -= CONFLICT_VALUE;
            self.implied.push(lit);
        }
        self.closing = closing;
        self.budget.debt = self.budget.debt.max(-DEBT_MAX);
        self.budget.idle = self.budget.idle.max(-IDLE_MAX);
    }

    /// Collects the edges from the forward to the backward cone, in the order of the forward cone.
    /// It scans the side with fewer edges: otherwise a key that most literals name would be scanned
    /// for each new edge.
    fn find_closing(&self, closing: &mut Vec<(u32, u32, Lit)>) {
        let (forward, backward) = (&self.forward, &self.backward);
        let length = |cone: &Cone, watches: &[Vec<Watch>]| -> usize {
            cone.keys.iter().map(|key| watches[*key as usize].len()).sum()
        };
        let most = length(forward, &self.watches);
        if most > SCAN_MAX && most > length(backward, &self.watches_into) {
            for &key in &backward.keys {
                let closes = |watch: &&Watch| forward.has(watch.other);
                let found = self.watches_into[key as usize].iter().filter(closes);
                closing.extend(found.map(|w| (forward.place(w.other), w.label, w.lit)));
            }
            closing.sort_unstable_by_key(|(place, label, _)| (*place, *label));
        } else {
            for (place, &key) in (0..).zip(&forward.keys) {
                let closes = |watch: &&Watch| backward.has(watch.other);
                let found = self.watches[key as usize].iter().filter(closes);
                closing.extend(found.map(|w| (place, w.label, w.lit)));
            }
        }
    }

    fn candidate(&mut self) -> Candidate {
        self.stats.candidates += 1;
        let on = &self.on;
        let hint: Vec<u32> = match &self.problem.preferred {
            Some(positions) => on.keys.start.iter().map(|&node| positions[node as usize]).collect(),
            None => (0..on.keys.len() as u32).map(|key| on.graph.place(key)).collect(),
        };
        self.runner.run(self.problem, on, self.fixed, &hint)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.on.graph.bytes()
            + self.on.keys.bytes()
            + self.on.known.bytes()
            + self.on.blocks.bytes()
            + self.paths.bytes()
            + self.runner.bytes()
            + std::mem::size_of::<Info>() * self.on.infos.capacity()
            + 24 * self.watches.len()
            + 16 * self.on.infos.len()
    }
}

impl Theory for OrderTheory<'_> {
    fn propagate(&mut self, trail: &[Lit], values: &Values, out: &mut Output) {
        if self.budget.idle < IDLE_MAX {
            self.take(trail, values, out, 1, true);
        }
    }

    fn final_check(&mut self, trail: &[Lit], values: &Values, out: &mut Output) {
        self.take(trail, values, out, CONFLICTS_MAX, false);
        if !out.is_empty() {
            return;
        }
        let candidate = self.candidate();
        if candidate.cycles.is_empty() {
            self.accepted = Some(candidate.order);
            return;
        }
        for cycle in &candidate.cycles {
            self.lemma(cycle, out);
        }
    }

    fn backtrack(&mut self, len: usize) {
        if self.marks.len() > len {
            self.on.graph.truncate(self.marks[len]);
            self.marks.truncate(len);
        }
    }

    fn explain(&mut self, lit: Lit, out: &mut Vec<Lit>) -> u32 {
        let ImpliedBy { label, limit } = self.implied_by[lit.index()];
        let hops = self.cycle_of(label, limit);
        let clause = self.clause(&hops, None);
        out.extend(clause.into_iter().filter(|&other| other != lit));
        self.tag(&hops)
    }
}
