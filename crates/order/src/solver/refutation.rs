//! Proofs that there is no order: cycles of labelled edges, and clauses that follow from them.

use super::fact::{Fact, Info};
use super::path::{AddedBefore, Hop, HopKind, Paths};
use super::prepare::Prepared;
use super::problem::{Node, Problem, Tag};
use super::variables::Variables;
use crate::sat::{self, Lit, ProofLog};
use std::collections::{BTreeMap, HashSet};

/// Why one node comes before another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// Both are on one chain.
    Chain,
    /// An order given with this tag.
    Given(Tag),
    /// This fact alone. All nodes of the first block come before all of the second. Where the queue
    /// keeps the order of the two, the entry of the first also comes before that of the second.
    Decided(Fact),
}

/// One edge of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// The node that comes first.
    pub from: Node,
    /// The node that comes later.
    pub to: Node,
    /// The justification.
    pub why: Why,
}

/// A part of a clause.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Claim {
    /// An order.
    Fact(Fact),
    /// A literal of a free variable, which stands for no order.
    Free(Lit),
}

/// One step of a [`Refutation`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RefutationStep {
    /// A clause of the problem.
    Input(Vec<Claim>),
    /// A closed chain of links: not all of its facts hold.
    Cycle(Vec<Link>),
    /// At least one of these holds, by unit propagation from the earlier steps.
    Derived(Vec<Claim>),
    /// One copy of this clause is not used afterwards.
    Forget(Vec<Claim>),
}

/// A proof that there is no order. The last derived clause is empty, or names assumptions that
/// cannot hold together. A cycle without facts is a proof by itself. There may be steps that no
/// later step needs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Refutation {
    /// The steps in order.
    pub steps: Vec<RefutationStep>,
}

/// The data from which the steps are built: a problem, and the edges that saturation added.
pub(crate) struct Source<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) on: &'a Prepared,
}

impl Source<'_> {
    /// Builds the proof from one cycle of given and saturated edges.
    pub(crate) fn by_cycle(&self, hops: &[Hop]) -> Refutation {
        let last = cycle_links(self.problem, &self.on.infos, hops);
        let mut steps = self.forced_steps(std::slice::from_ref(&last));
        let rests_on_facts = last.iter().any(|link| matches!(link.why, Why::Decided(_)));
        steps.push(RefutationStep::Cycle(last));
        if rests_on_facts {
            steps.push(RefutationStep::Derived(Vec::new()));
        }
        Refutation { steps }
    }

    /// Builds the proof from the log of the search.
    pub(crate) fn by_search(
        &self,
        log: &ProofLog,
        cycles: &[Vec<Link>],
        variables: &Variables,
    ) -> Refutation {
        let claims = |lits: &[Lit]| {
            lits.iter()
                .map(|&lit| variables.fact(lit).map_or(Claim::Free(lit), Claim::Fact))
                .collect::<Vec<_>>()
        };
        let mut steps = Vec::new();
        let mut all = Vec::new();
        for step in log.steps() {
            let step = match step {
                sat::ClauseStep::Input(lits) => RefutationStep::Input(claims(lits)),
                sat::ClauseStep::Lemma(lits, tag) => {
                    let links = &cycles[tag as usize];
                    all.push(links.clone());
                    let mut clause = claims(lits);
                    clause.sort_unstable();
                    if clause != broken(links) {
                        // In the search, the clause has the literals of root pairs.
                        steps.push(RefutationStep::Cycle(links.clone()));
                        RefutationStep::Derived(clause)
                    } else {
                        RefutationStep::Cycle(links.clone())
                    }
                }
                sat::ClauseStep::Learned(lits) => RefutationStep::Derived(claims(lits)),
                sat::ClauseStep::Deleted(lits) => RefutationStep::Forget(claims(lits)),
            };
            steps.push(step);
        }
        let mut proof = self.forced_steps(&all);
        proof.extend(self.equal_steps(&all));
        proof.append(&mut steps);
        Refutation { steps: proof }
    }

    /// Returns the proofs of all saturated facts on which some cycles depend, each before its first
    /// use.
    fn forced_steps(&self, cycles: &[Vec<Link>]) -> Vec<RefutationStep> {
        let mut direct: BTreeMap<Fact, u32> = BTreeMap::new();
        for forced in &self.on.forced {
            direct.entry(Fact::of_blocks(forced.first, forced.second)).or_insert(forced.limit);
        }
        // The first edge of each fact that has edges but was not forced by itself.
        let mut edge: BTreeMap<Fact, u32> = BTreeMap::new();
        for (label, info) in self.on.infos[..self.on.graph.len() as usize].iter().enumerate() {
            edge.entry(info.fact).or_insert(label as u32);
        }
        let mut todo: Vec<Fact> = Vec::new();
        let mut proofs: BTreeMap<(u32, Fact), Vec<Link>> = BTreeMap::new();
        let mut seen: HashSet<Fact> = HashSet::new();
        let mut paths = Paths::default();
        let want = |links: &[Link], todo: &mut Vec<Fact>, seen: &mut HashSet<Fact>| {
            for link in links {
                if let Why::Decided(fact @ Fact::Blocks { first, second }) = link.why
                    && self.on.known.is(first.0, second.0)
                    && seen.insert(fact)
                {
                    todo.push(fact);
                }
            }
        };
        for links in cycles {
            want(links, &mut todo, &mut seen);
        }
        while let Some(fact) = todo.pop() {
            let limit =
                direct.get(&fact).or(edge.get(&fact)).copied().unwrap_or(self.on.graph.len());
            let Fact::Blocks { first, second } = fact else { continue };
            let links = self.force(first.0, second.0, limit, &mut paths);
            want(&links, &mut todo, &mut seen);
            proofs.insert((limit, fact), links);
        }
        proofs.into_values().map(RefutationStep::Cycle).collect()
    }

    /// Returns the cycle that the opposite of a forced pair closes.
    fn force(&self, first: u32, second: u32, limit: u32, paths: &mut Paths) -> Vec<Link> {
        let (blocks, rules) = (&self.on.blocks, AddedBefore(limit));
        let mut found = |from, to| paths.shortest(&self.on.keys, &self.on.graph, from, to, &rules);
        let problem = self.problem;
        let (hops, start, end) =
            match found(blocks.first[first as usize], blocks.last[second as usize]) {
                Some(hops) => {
                    let start = problem.blocks[first as usize].first;
                    (hops, start, problem.blocks[second as usize].last)
                }
                None => {
                    debug_assert!(problem.keeps(first, second));
                    let (from, to) = (blocks.entry[first as usize], blocks.entry[second as usize]);
                    let hops = found(from, to).expect("a forced pair has a path");
                    (hops, problem.entry_node(first), problem.entry_node(second))
                }
            };
        let mut links = path_links(problem, &self.on.infos, &hops, start, end);
        let closing =
            Link { from: end, to: start, why: Why::Decided(Fact::of_blocks(second, first)) };
        links.push(closing);
        links
    }

    /// Returns the proofs that pairs below a root have the order of their root, for the pairs on
    /// the cycles.
    fn equal_steps(&self, cycles: &[Vec<Link>]) -> Vec<RefutationStep> {
        let mut seen: HashSet<(u32, u32)> = HashSet::new();
        let mut steps = Vec::new();
        for link in cycles.iter().flatten() {
            let Why::Decided(Fact::Blocks { first, second }) = link.why else { continue };
            let (mut first, mut second) = (first.0, second.0);
            while let Some((outer, other)) = self.on.pairs.above(self.problem, first, second) {
                if !seen.insert((first.min(second), first.max(second))) {
                    break;
                }
                for (a, b, p, q) in [(first, second, outer, other), (second, first, other, outer)] {
                    // Given p before q, assume b before a: the entry of b comes before that of a,
                    // but a's is within p and b's within q.
                    let node = |block: u32| self.problem.entry_node(block);
                    steps.push(RefutationStep::Cycle(vec![
                        Link {
                            from: node(a),
                            to: node(b),
                            why: Why::Decided(Fact::of_blocks(p, q)),
                        },
                        Link {
                            from: node(b),
                            to: node(a),
                            why: Why::Decided(Fact::of_blocks(b, a)),
                        },
                    ]));
                }
                (first, second) = (outer, other);
            }
        }
        steps
    }
}

/// Turns hops that close a cycle into links.
pub(crate) fn cycle_links(problem: &Problem, infos: &[Info], hops: &[Hop]) -> Vec<Link> {
    let mut links = hop_links(problem, infos, hops);
    if let Some(first) = links.first().copied() {
        continue_to(&mut links, first.from);
    }
    links
}

/// Turns hops into links from one node to another.
fn path_links(
    problem: &Problem,
    infos: &[Info],
    hops: &[Hop],
    start: Node,
    end: Node,
) -> Vec<Link> {
    let mut links = hop_links(problem, infos, hops);
    let leaves = links.first().map_or(end, |link| link.from);
    if leaves != start {
        links.insert(0, Link { from: start, to: leaves, why: Why::Chain });
    }
    continue_to(&mut links, end);
    links
}

/// Turns hops into links, and adds links along chains between the arrival and the departure at a
/// key.
fn hop_links(problem: &Problem, infos: &[Info], hops: &[Hop]) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    for hop in hops {
        let link = match hop.kind {
            HopKind::Chain => continue,
            HopKind::Given(edge) => {
                let edge = problem.edges[edge as usize];
                Link { from: edge.from, to: edge.to, why: Why::Given(edge.tag) }
            }
            HopKind::Added(label) => {
                let info = infos[label as usize];
                Link { from: info.from, to: info.to, why: Why::Decided(info.fact) }
            }
            HopKind::Assumed(first, second) => Link {
                from: problem.blocks[first as usize].last,
                to: problem.blocks[second as usize].first,
                why: Why::Decided(Fact::of_blocks(first, second)),
            },
        };
        continue_to(&mut links, link.from);
        links.push(link);
    }
    links
}

/// Adds a link along the chain from the end of the last link to a node, unless it ends there.
fn continue_to(links: &mut Vec<Link>, to: Node) {
    if let Some(last) = links.last().copied().filter(|last| last.to != to) {
        links.push(Link { from: last.to, to, why: Why::Chain });
    }
}

/// Returns the clause of a cycle: not all of its facts hold.
fn broken(links: &[Link]) -> Vec<Claim> {
    let mut clause: Vec<Claim> = links
        .iter()
        .filter_map(|link| match link.why {
            Why::Decided(fact) => Some(Claim::Fact(fact.opposite())),
            _ => None,
        })
        .collect();
    clause.sort_unstable();
    clause.dedup();
    clause
}
