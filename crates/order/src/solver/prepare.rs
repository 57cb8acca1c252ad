//! Preparation: condensation, a first candidate, saturation.

use super::blocks::Blocks;
use super::candidate::{CandidateInput, CandidateRunner};
use super::condense::{Key, Keys};
use super::fact::Info;
use super::graph::Graph;
use super::known::Known;
use super::pairs::Pairs;
use super::path::{Hop, HopKind, PathRules, Paths};
use super::problem::Edge;
use super::refutation::{Link, Refutation, Source, Step, Why};
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
    pub(super) infos: Vec<Info>,
    pub(super) forced: Vec<Forced>,
    /// The number of atoms.
    pub(super) variables: usize,
}

/// The memory for rows of saturation when no limit is smaller, in bytes.
const ROWS: usize = 256 << 20;
/// The memory for the sets of known pairs, in bytes.
const KNOWN: usize = 512 << 20;

struct Everywhere;

impl PathRules for Everywhere {
    fn passes(&self, _: u32) -> bool {
        true
    }

    fn cost(&self, _: u32, _: u32) -> Option<bool> {
        Some(true)
    }

    fn assumed(&self, _: u32, _: &mut dyn FnMut(u32, u32, u32)) {}
}

/// Refutes an edge against the order of its chain.
fn against_its_chain(edge: Edge) -> Refutation {
    let mut cycle = vec![Link { from: edge.from, to: edge.to, why: Why::Given(edge.tag) }];
    if edge.from != edge.to {
        cycle.push(Link { from: edge.to, to: edge.from, why: Why::Chain });
    }
    Refutation { steps: vec![Step::Cycle(cycle)] }
}

/// No block was entered from within another.
static EMPTY: Pairs = Pairs::EMPTY;

/// The results of saturation so far.
#[derive(Clone, Copy)]
struct Saturated<'s> {
    graph: &'s Graph,
    known: &'s Known,
    infos: &'s [Info],
    forced: &'s [Forced],
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
        let Some(first) = self.first_order(&keys, &blocks) else { return Ok(()) };
        let graph = Graph::new(first);
        let rows = memory.map_or(ROWS, |bytes| ROWS.min(bytes / 4));
        let most_known = memory.map_or(KNOWN, |bytes| KNOWN.min(bytes / 4));
        self.stats.keys = keys.len() as u64;
        self.stats.pairs = blocks.pairs();
        self.stats.undecided = self.stats.pairs;
        if Known::bytes_for(&blocks) > most_known || self.sabotage == Sabotage::SearchOnly {
            // The search alone is complete; without saturation it only has more to find.
            let pairs = Pairs::build(&self.problem, &blocks);
            let known = Known::default();
            let (infos, forced) = (Vec::new(), Vec::new());
            self.prepared =
                Some(Prepared { keys, blocks, pairs, known, graph, infos, forced, variables });
            return Ok(());
        }
        let mut saturation = Saturation::new(&self.problem, &keys, &blocks, graph);
        saturation.sabotage = self.sabotage;
        let end = saturation.run(rows, stop);
        if end == End::Stopped {
            return Err(Cause::Stopped);
        }
        self.stats.memory_bytes = saturation.bytes() as u64;
        let Saturation { graph, known, infos, forced, .. } = saturation;
        self.stats.forced = forced.len() as u64;
        if end == End::Refuted {
            self.stats.undecided = 0;
            let saturated =
                Saturated { graph: &graph, known: &known, infos: &infos, forced: &forced };
            self.contradiction = Some(self.by_saturation(&keys, &blocks, &saturated));
            return Ok(());
        }
        self.stats.undecided = self.stats.pairs - known.count();
        let pairs = Pairs::build(&self.problem, &blocks);
        self.prepared =
            Some(Prepared { keys, blocks, pairs, known, graph, infos, forced, variables });
        Ok(())
    }

    /// Returns an order of the keys, close to the preferred one; `None` if it recorded a
    /// contradiction.
    fn first_order(&mut self, keys: &Keys, blocks: &Blocks) -> Option<Vec<Key>> {
        let graph = &Graph::new((0..keys.len() as u32).collect());
        let known = &Known::default();
        let hint: Vec<u32> = keys.start.iter().map(|&node| self.problem.position(node)).collect();
        let problem = &self.problem;
        let first = CandidateRunner::default()
            .run(CandidateInput { problem, keys, blocks, graph, known, fixed: 0 }, &hint);
        self.theory_stats.candidates += 1;
        let Some(cycle) = first.cycles.iter().find(|cycle| cycle.undone.is_none()) else {
            return Some(first.order);
        };
        let saturated = Saturated { graph, known, infos: &[], forced: &[] };
        self.contradiction =
            Some(self.saturated_source(keys, blocks, &saturated, 0).by_cycle(&cycle.hops));
        None
    }

    /// Refutes the problem by the cycle that the last edge of saturation closed.
    fn by_saturation(&self, keys: &Keys, blocks: &Blocks, found: &Saturated<'_>) -> Refutation {
        let closing = found.infos.last().expect("the pair that closed a cycle has an edge");
        let (from, to) = (keys.of(closing.from), keys.of(closing.to));
        let mut paths = Paths::default();
        let back = (from != to).then(|| paths.shortest(keys, found.graph, to, from, &Everywhere));
        let mut hops = back.map_or(Vec::new(), |hops| hops.expect("the edge closes a cycle"));
        hops.push(Hop { from, to, kind: HopKind::Added(found.infos.len() as u32 - 1) });
        self.saturated_source(keys, blocks, found, found.graph.len()).by_cycle(&hops)
    }

    fn saturated_source<'s>(
        &'s self,
        keys: &'s Keys,
        blocks: &'s Blocks,
        found: &Saturated<'s>,
        fixed: u32,
    ) -> Source<'s> {
        let Saturated { graph, known, infos, forced } = *found;
        let (problem, pairs) = (&self.problem, &EMPTY);
        Source { problem, keys, blocks, pairs, graph, known, infos, forced, fixed }
    }
}
