//! The theory of orders: what the search is told of cycles.
//!
//! A literal that becomes true brings its edges; an edge that closes a cycle is a conflict,
//! explained by the cycle that rests on the fewest literals. A literal whose edge would close a
//! cycle is implied to be false, explained when asked. When all variables have values, a
//! [candidate](super::candidate) tries to run everything; the pairs in the cycles it meets become
//! variables.

use super::blocks::Blocks;
use super::candidate::{Candidate, Cycle, Ground, Runner};
use super::condense::{Key, Keys};
use super::cone::Cone;
use super::fact::{Fact, Info};
use super::graph::Graph;
use super::known::Known;
use super::pairs::Pairs;
use super::path::{By, Hop, Paths, Roads};
use super::problem::Problem;
use super::refutation::{Link, cycle_links};
use super::sabotage::Sabotage;
use super::variables::Variables;
use crate::sat::{Lit, Output, Theory, Values, Var};

/// What the theory did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TheoryStats {
    pub(crate) candidates: u64,
    pub(crate) cycles: u64,
    pub(crate) implied: u64,
}

impl TheoryStats {
    pub(crate) fn add(&mut self, other: &TheoryStats) {
        self.candidates += other.candidates;
        self.cycles += other.cycles;
        self.implied += other.implied;
    }
}

/// A literal and one of its edges, with the end at which it is not kept.
#[derive(Clone, Copy, Debug)]
struct Watch {
    lit: Lit,
    other: Key,
    label: u32,
}

/// Why a literal was implied to be false: this edge of it would have closed a cycle with the added
/// edges before `limit`.
#[derive(Clone, Copy, Debug)]
struct Because {
    label: u32,
    limit: u32,
}

pub(crate) struct OrderTheory<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) keys: &'a Keys,
    pub(crate) blocks: &'a Blocks,
    pub(crate) pairs: &'a Pairs,
    pub(crate) known: &'a Known,
    pub(crate) graph: Graph,
    /// What each label of an added edge stands for; the first `fixed` come from saturation.
    pub(crate) infos: Vec<Info>,
    pub(crate) fixed: u32,
    pub(crate) variables: &'a mut Variables,
    /// For each literal, the labels of its edges.
    edges: Vec<std::ops::Range<u32>>,
    /// By key, the edges that leave it, and those that come to it.
    watches: Vec<Vec<Watch>>,
    watches_into: Vec<Vec<Watch>>,
    /// For each literal taken from the trail, how many edges had been added before.
    marks: Vec<u32>,
    because: Vec<Because>,
    implied: Vec<Lit>,
    /// Edges that would close a cycle: the place of their first end in the forward cone, their
    /// labels and literals.
    closing: Vec<(u32, u32, Lit)>,
    paths: Paths,
    runner: Runner,
    forward: Cone,
    backward: Cone,
    thrift: Thrift,
    /// The cycles of lemmas, by their tags, when they are kept for a proof.
    pub(crate) cycles: Option<Vec<Vec<Link>>>,
    /// The order accepted in the end.
    pub(crate) accepted: Option<Vec<Key>>,
    pub(crate) stats: TheoryStats,
    sabotage: Sabotage,
}

/// Decides whether looking ahead is worth its cost.
#[derive(Clone, Copy, Debug, Default)]
struct Thrift {
    /// Keys visited in search of implied literals, less what those found are worth.
    debt: i64,
    /// Edges taken during propagation, less what the conflicts found are worth.
    idle: i64,
}

/// So many edges of literals are looked through without a thought.
const MANY: usize = 512;
/// Visits that an implied literal is worth.
const WORTH: i64 = 400;
/// Debt at which the theory stops looking ahead.
const DEBT: i64 = 400_000;
/// Literals taken without a conflict or an implied literal after which the theory waits for full
/// assignments.
const IDLE: i64 = 20_000;
/// What a conflict or implied literal is worth in such literals.
const BUSY: i64 = 200;
/// Conflicts collected from one full assignment.
const HARVEST: usize = 64;

/// The paths that may explain: those of edges added before `limit`, at places up to that of the
/// goal.
struct Earlier<'g> {
    graph: &'g Graph,
    limit: u32,
    fixed: u32,
    last_place: u32,
}

impl Roads for Earlier<'_> {
    fn passes(&self, key: Key) -> bool {
        self.graph.place(key) <= self.last_place
    }

    fn cost(&self, index: u32, label: u32) -> Option<bool> {
        (index < self.limit).then_some(label >= self.fixed)
    }

    fn assumed(&self, _: Key, _: &mut dyn FnMut(Key, u32, u32)) {}
}

/// What saturation left to a theory.
pub(crate) struct Base<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) keys: &'a Keys,
    pub(crate) blocks: &'a Blocks,
    pub(crate) pairs: &'a Pairs,
    pub(crate) known: &'a Known,
}

impl<'a> OrderTheory<'a> {
    /// Makes a theory in which nothing is assigned.
    pub(crate) fn new(
        base: &Base<'a>,
        graph: Graph,
        infos: Vec<Info>,
        variables: &'a mut Variables,
        cycles: Option<Vec<Vec<Link>>>,
    ) -> OrderTheory<'a> {
        let keys = base.keys.len();
        let mut theory = OrderTheory {
            problem: base.problem,
            keys: base.keys,
            blocks: base.blocks,
            pairs: base.pairs,
            known: base.known,
            fixed: infos.len() as u32,
            graph,
            infos,
            variables,
            edges: Vec::new(),
            watches: vec![Vec::new(); keys],
            watches_into: vec![Vec::new(); keys],
            marks: Vec::new(),
            because: Vec::new(),
            implied: Vec::new(),
            closing: Vec::new(),
            paths: Paths::default(),
            runner: Runner::default(),
            forward: Cone::new(keys),
            backward: Cone::new(keys),
            thrift: Thrift::default(),
            cycles,
            accepted: None,
            stats: TheoryStats::default(),
            sabotage: Sabotage::None,
        };
        theory.equip();
        theory
    }

    pub(crate) fn sabotage(&mut self, sabotage: Sabotage) {
        self.sabotage = sabotage;
        self.runner.no_queues = sabotage == Sabotage::NoQueues;
    }

    /// Gives edges to the variables that have none yet.
    fn equip(&mut self) {
        for var in self.edges.len() / 2..self.variables.len() {
            let var = Var::from_index(var);
            for lit in [Lit::new(var, true), Lit::new(var, false)] {
                let start = self.infos.len() as u32;
                match self.variables.fact(lit) {
                    Some(Fact::Blocks { first, second }) => {
                        let pair = (first.0, second.0);
                        self.infos.extend(self.pairs.edges(self.problem, self.blocks, pair, lit));
                    }
                    Some(fact @ Fact::Nodes { first, second }) => {
                        self.infos.push(Info { from: first, to: second, fact, lit: Some(lit) });
                    }
                    None => {}
                }
                let labels = start..self.infos.len() as u32;
                for label in labels.clone() {
                    let (from, to) = self.ends(label);
                    self.watches[from as usize].push(Watch { lit, other: to, label });
                    self.watches_into[to as usize].push(Watch { lit, other: from, label });
                }
                // Literals come in the order of their indices: positive first.
                debug_assert_eq!(self.edges.len(), lit.index());
                self.edges.push(labels);
                self.because.push(Because { label: 0, limit: 0 });
            }
        }
    }

    fn ends(&self, label: u32) -> (Key, Key) {
        let info = &self.infos[label as usize];
        (self.keys.of(info.from), self.keys.of(info.to))
    }

    /// Returns the clause "not all that this cycle rests on", without repetitions.
    fn clause(&mut self, hops: &[Hop], out: Option<&mut Output>) -> Vec<Lit> {
        let mut clause = Vec::new();
        let mut out = out;
        for hop in hops {
            match hop.by {
                By::Added(label) => clause.extend(self.infos[label as usize].lit.map(|lit| !lit)),
                By::Assumed(first, second) => {
                    let lit = self.lit(first, second, out.as_deref_mut());
                    clause.push(!lit);
                }
                By::Chain | By::Given(_) => {}
            }
        }
        clause.sort_unstable();
        clause.dedup();
        if self.sabotage == Sabotage::ShortClauses {
            clause.pop();
        }
        clause
    }

    /// Returns the literal for the order of two blocks; a new variable is first tried as asked.
    fn lit(&mut self, first: u32, second: u32, out: Option<&mut Output>) -> Lit {
        let (first, second) = self.pairs.root(self.problem, first, second);
        if let Some(lit) = self.variables.blocks(first, second) {
            return lit;
        }
        let out = out.expect("only a candidate assumes what is no variable");
        let var = out.new_var(first < second);
        self.variables.add_blocks(var, first.min(second), first.max(second));
        self.equip();
        Lit::new(var, first < second)
    }

    fn tag(&mut self, hops: &[Hop]) -> u32 {
        self.stats.cycles += 1;
        match &mut self.cycles {
            Some(cycles) => {
                cycles.push(cycle_links(self.problem, &self.infos, hops));
                cycles.len() as u32 - 1
            }
            None => 0,
        }
    }

    /// Takes literals from the trail; each conflict is a lemma. Goes on after conflicts, up to
    /// `most` of them, and then stands where it stood before the first.
    fn take(&mut self, trail: &[Lit], values: &Values, out: &mut Output, most: usize, ahead: bool) {
        let mut first_conflict = None;
        let mut conflicts = 0;
        while self.marks.len() < trail.len() && conflicts < most {
            let lit = trail[self.marks.len()];
            let len = self.graph.len();
            self.marks.push(len);
            self.thrift.idle += 1;
            for label in self.edges[lit.index()].clone() {
                let (from, to) = self.ends(label);
                if self.graph.add(self.keys, from, to, label) {
                    if ahead {
                        self.look_ahead(from, to, values);
                    }
                    continue;
                }
                first_conflict.get_or_insert((self.marks.len() - 1, len));
                conflicts += 1;
                self.conflict(from, to, label, out);
                break;
            }
        }
        if let Some((taken, len)) = first_conflict {
            self.marks.truncate(taken);
            self.graph.truncate(len);
            self.thrift.idle -= BUSY * conflicts as i64;
            // What was implied may rest on edges that are gone.
            self.implied.clear();
        }
        for lit in self.implied.drain(..) {
            out.imply(lit);
        }
    }

    /// Explains why an edge cannot be added.
    fn conflict(&mut self, from: Key, to: Key, label: u32, out: &mut Output) {
        let mut hops = if from == to { Vec::new() } else { self.path(to, from, self.graph.len()) };
        hops.push(Hop { from, to, by: By::Added(label) });
        let clause = self.clause(&hops, None);
        let tag = self.tag(&hops);
        out.lemma(&clause, tag);
    }

    /// Returns a path resting on the fewest literals, over edges added before `limit`.
    fn path(&mut self, from: Key, to: Key, limit: u32) -> Vec<Hop> {
        let last_place = self.graph.place(to);
        let roads = Earlier { graph: &self.graph, limit, fixed: self.fixed, last_place };
        self.paths.shortest(self.keys, &self.graph, from, to, &roads).expect("the path was there")
    }

    /// Looks for literals whose edges would close a cycle through the edge just added.
    fn look_ahead(&mut self, from: Key, to: Key, values: &Values) {
        if self.thrift.debt > DEBT {
            return;
        }
        self.forward.grow::<true>(self.keys, &self.graph, to);
        if self.sabotage == Sabotage::WrongCone {
            self.backward.grow::<true>(self.keys, &self.graph, from);
        } else {
            self.backward.grow::<false>(self.keys, &self.graph, from);
        }
        self.thrift.debt += (self.forward.keys.len() + self.backward.keys.len()) as i64;
        let mut closing = std::mem::take(&mut self.closing);
        self.find_closing(&mut closing);
        for (_, label, edge) in closing.drain(..) {
            if values.is_true(edge) || values.is_false(edge) {
                continue;
            }
            // Both a literal and its opposite may be implied at once: one entry each.
            let lit = if self.sabotage == Sabotage::ImpliesOpposite { edge } else { !edge };
            self.because[lit.index()] = Because { label, limit: self.graph.len() };
            self.stats.implied += 1;
            self.thrift.debt -= WORTH;
            self.thrift.idle -= BUSY;
            self.implied.push(lit);
        }
        self.closing = closing;
        self.thrift.debt = self.thrift.debt.max(-DEBT);
        self.thrift.idle = self.thrift.idle.max(-IDLE);
    }

    /// Collects the edges from the forward to the backward cone, in the order of the forward cone:
    /// from the side that has fewer to look at. A key that most literals name would be looked
    /// through for each new edge otherwise.
    fn find_closing(&self, closing: &mut Vec<(u32, u32, Lit)>) {
        let (forward, backward) = (&self.forward, &self.backward);
        let length = |cone: &Cone, watches: &[Vec<Watch>]| -> usize {
            cone.keys.iter().map(|key| watches[*key as usize].len()).sum()
        };
        let most = length(forward, &self.watches);
        if most > MANY && most > length(backward, &self.watches_into) {
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

    fn lemma_of(&mut self, cycle: Cycle, out: &mut Output) {
        let clause = self.clause(&cycle.hops, Some(out));
        // The order that was undone is the one the candidate went on without.
        let tag = self.tag(&cycle.hops);
        out.lemma(&clause, tag);
    }

    fn candidate(&mut self) -> Candidate {
        self.stats.candidates += 1;
        let preferred = self.problem.preferred.is_some();
        let hint: Vec<u32> = (0..self.keys.len() as u32)
            .map(|key| {
                if preferred {
                    self.problem.position(self.keys.start[key as usize])
                } else {
                    self.graph.place(key)
                }
            })
            .collect();
        let ground = Ground {
            problem: self.problem,
            keys: self.keys,
            blocks: self.blocks,
            graph: &self.graph,
            known: self.known,
            fixed: self.fixed,
        };
        self.runner.run(ground, &hint)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.graph.bytes()
            + self.paths.bytes()
            + self.runner.bytes()
            + std::mem::size_of::<Info>() * self.infos.capacity()
            + 24 * self.watches.len()
            + 16 * self.infos.len()
    }
}

impl Theory for OrderTheory<'_> {
    fn propagate(&mut self, trail: &[Lit], values: &Values, out: &mut Output) {
        if self.thrift.idle < IDLE {
            self.take(trail, values, out, 1, true);
        }
    }

    fn final_check(&mut self, trail: &[Lit], values: &Values, out: &mut Output) {
        self.take(trail, values, out, HARVEST, false);
        if !out.is_empty() {
            return;
        }
        let candidate = self.candidate();
        if candidate.cycles.is_empty() {
            self.accepted = Some(candidate.order);
            return;
        }
        for cycle in candidate.cycles {
            self.lemma_of(cycle, out);
        }
    }

    fn backtrack(&mut self, len: usize) {
        if self.marks.len() > len {
            self.graph.truncate(self.marks[len]);
            self.marks.truncate(len);
        }
    }

    fn explain(&mut self, lit: Lit, out: &mut Vec<Lit>) -> u32 {
        let Because { label, limit } = self.because[lit.index()];
        let (from, to) = self.ends(label);
        let mut hops = if from == to { Vec::new() } else { self.path(to, from, limit) };
        hops.push(Hop { from, to, by: By::Added(label) });
        let clause = self.clause(&hops, None);
        out.extend(clause.into_iter().filter(|&other| other != lit));
        self.tag(&hops)
    }
}
