//! Preparation: condensation, a first candidate, saturation.

use super::blocks::Blocks;
use super::candidate::CandidateRunner;
use super::condense::{Key, Keys};
use super::fact::Info;
use super::graph::Graph;
use super::known::Known;
use super::pairs::Pairs;
use super::path::{AddedBefore, Hop, HopKind, PathRules, Paths};
use super::problem::Edge;
use super::refutation::{Link, Refutation, RefutationStep, Source, Why};
use super::sabotage::Sabotage;
use super::saturate::{End, Forced, Saturation};
use super::solve::Solver;
use crate::sat::Cause;

/// A problem condensed and saturated.
pub(super) struct Prepared {
    pub(super) keys: Keys,
    pub(super) blocks: Blocks,
    pub(super) pairs: Pairs,
    pub(super) known: Known,
    pub(super) graph: Graph,
    /// The cause of each added edge, by label.
    pub(super) infos: Vec<Info>,
    pub(super) forced: Vec<Forced>,
    /// The number of atoms.
    pub(super) variables: usize,
}

impl Prepared {
    /// Returns the ends of an edge, by its label.
    pub(super) fn ends(&self, label: u32) -> (Key, Key) {
        let info = &self.infos[label as usize];
        (self.keys.of(info.from), self.keys.of(info.to))
    }

    /// Returns the cycle that an edge would close, with a path of least cost.
    ///
    /// # Panics
    ///
    /// Panics when the edge would close none.
    pub(super) fn cycle_of(
        &self,
        label: u32,
        paths: &mut Paths,
        rules: &impl PathRules,
    ) -> Vec<Hop> {
        let (from, to) = self.ends(label);
        let mut hops = Vec::new();
        if from != to {
            let back = paths.shortest(&self.keys, &self.graph, to, from, rules);
            hops = back.expect("the edge closes a cycle");
        }
        hops.push(Hop { from, to, kind: HopKind::Added(label) });
        hops
    }
}

/// The memory for rows of saturation when no limit is smaller, in bytes.
const ROWS: usize = 256 << 20;
/// The memory for the sets of known pairs, in bytes.
const KNOWN: usize = 512 << 20;

/// Refutes an edge against the order of its chain.
fn against_its_chain(edge: Edge) -> Refutation {
    let mut cycle = vec![Link { from: edge.from, to: edge.to, why: Why::Given(edge.tag) }];
    if edge.from != edge.to {
        cycle.push(Link { from: edge.to, to: edge.from, why: Why::Chain });
    }
    Refutation { steps: vec![RefutationStep::Cycle(cycle)] }
}

impl Solver {
    /// Condenses and saturates, unless a limit stops it. Records a contradiction if one is found.
    pub(super) fn prepare(
        &mut self,
        memory: Option<usize>,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<(), Cause> {
        if let Some(prepared) = &self.prepared
            && (prepared.variables == self.variables.len()
                || self.variables.atom_nodes().all(|node| prepared.keys.is_loose(node)))
        {
            return Ok(());
        }
        self.prepared = None;
        if memory.is_some_and(|limit| self.problem.bytes() > limit) {
            return Err(Cause::Memory);
        }
        if stop() {
            return Err(Cause::Stopped);
        }
        let variables = self.variables.len();
        let keys = match Keys::build(&self.problem, self.variables.atom_nodes()) {
            Ok(keys) => keys,
            Err(edge) => {
                self.contradiction = Some(against_its_chain(self.problem.edges[edge]));
                return Ok(());
            }
        };
        let blocks = Blocks::build(&self.problem, &keys);
        // Besides the keys and blocks: the graph, candidates and searches take about as much again
        // each.
        let held = self.problem.bytes() + 3 * (keys.bytes() + blocks.bytes());
        if memory.is_some_and(|limit| held > limit) {
            return Err(Cause::Memory);
        }
        let mut prepared = Prepared {
            graph: Graph::new((0..keys.len() as u32).collect()),
            keys,
            blocks,
            pairs: Pairs::default(),
            known: Known::default(),
            infos: Vec::new(),
            forced: Vec::new(),
            variables,
        };
        let Some(first) = self.first_order(&prepared) else { return Ok(()) };
        prepared.graph = Graph::new(first);
        self.stats.keys = prepared.keys.len() as u64;
        self.stats.pairs = prepared.blocks.pairs();
        self.stats.undecided = self.stats.pairs;
        if !self.saturate(&mut prepared, memory, stop)? {
            self.contradiction = Some(self.by_saturation(&prepared));
            return Ok(());
        }
        prepared.pairs = Pairs::build(&self.problem, &prepared.blocks);
        self.prepared = Some(prepared);
        Ok(())
    }

    /// Derives the orders of pairs that have only one possible direction. Returns false if they
    /// contradict each other. The search alone is complete; without saturation it only has more to
    /// find, so a problem too large for the memory is not saturated.
    fn saturate(
        &mut self,
        prepared: &mut Prepared,
        memory: Option<usize>,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<bool, Cause> {
        let known_max = memory.map_or(KNOWN, |bytes| KNOWN.min(bytes / 4));
        if Known::bytes_for(&prepared.blocks) > known_max || self.sabotage == Sabotage::SearchOnly {
            return Ok(true);
        }
        let rows = memory.map_or(ROWS, |bytes| ROWS.min(bytes / 4));
        let mut saturation = Saturation::new(&self.problem, prepared, self.sabotage);
        let end = saturation.run(rows, stop);
        if end == End::Stopped {
            return Err(Cause::Stopped);
        }
        self.stats.memory_bytes = saturation.bytes() as u64;
        self.stats.forced = prepared.forced.len() as u64;
        if end == End::Refuted {
            self.stats.undecided = 0;
            return Ok(false);
        }
        self.stats.undecided -= prepared.known.count();
        Ok(true)
    }

    /// Returns an order of the keys, close to the preferred one; `None` if it recorded a
    /// contradiction.
    fn first_order(&mut self, on: &Prepared) -> Option<Vec<Key>> {
        let problem = &self.problem;
        let hint: Vec<u32> = on.keys.start.iter().map(|&node| problem.position(node)).collect();
        let first = CandidateRunner::default().run(problem, on, 0, &hint);
        self.theory_stats.candidates += 1;
        if !first.refuted {
            return Some(first.order);
        }
        let cycle = first.cycles.last().expect("the cycle that refutes");
        self.contradiction = Some(Source { problem, on }.by_cycle(cycle));
        None
    }

    /// Refutes the problem by the cycle that the last edge of saturation closed.
    fn by_saturation(&self, on: &Prepared) -> Refutation {
        let label = on.infos.len() as u32 - 1;
        let cycle = on.cycle_of(label, &mut Paths::default(), &AddedBefore(u32::MAX));
        Source { problem: &self.problem, on }.by_cycle(&cycle)
    }
}
