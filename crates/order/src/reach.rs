//! Static reachability in O(1) after one pass.
//!
//! **Problem.** Given a DAG in topological order, answer "is there a path from `a` to `b`?".
//!
//! **Source.** Chain decomposition: Jagadish, "A compression technique to materialize transitive closure", ACM
//! TODS 15(4), 1990; the numbers kept are vector clocks (Fidge; Mattern, 1988) with an entry a chain.
//!
//! **Guarantee.** Exact.
//!
//! **Naive version.** Boolean closure, in `tests/`.
//!
//! **Worked example.** Edges 0-1, 1-3, 2-3, 3-4: chain 0 is 0, 1, 3, 4 and chain 1 is 2. The clock of node 3 says "1 of
//! chain 1"; node 4 shares it, as its only source is the node before it on its chain. `reaches(2, 4)`: node 2 has position 1
//! on chain 1, and 1 <= 1.
//!
//! **Deviations.** 1. Chains are found greedily in the same pass (or given), not as a minimum path cover. 2. A clock has no entry for the node's
//! own chain, so that nodes without edges from other chains share their predecessor's clock as a whole: memory
//! grows with the edges *between* chains. 3. Clocks lie in a [`ClockStore`], not in a matrix.
//!
//! **Cost.** Each edge between chains costs a join of two clocks that share most of their tree. A query is one comparison on the same
//! chain, and else one entry of a clock: 1 to 3 loads up to 4096 chains.

use crate::chains::Chains;
use crate::clock::ChainId;
use crate::dag::Dag;
use crate::store::{ClockRef, ClockStore, StoreFull, StoreStats};

/// The closure of a [`Dag`]; see the module for method and cost.
///
/// ```
/// use anyorder_order::{Dag, ReachLimits, Reachability};
///
/// let dag = Dag::from_edges(5, &[(0, 1), (1, 3), (2, 3), (3, 4)])?;
/// let reach = Reachability::build(&dag, ReachLimits::default())?;
/// assert!(reach.reaches(2, 4) && reach.reaches(0, 4));
/// assert!(!reach.reaches(0, 2) && !reach.reaches(4, 4));
/// assert_eq!(reach.chains_count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reachability {
    chains: Chains,
    /// By node: what it knows of other chains. The entry of its own chain is too low and never asked.
    clocks: Vec<ClockRef>,
    store: ClockStore,
}

/// Bounds of a [`Reachability::build`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReachLimits {
    /// Bytes that the result may take, at the most.
    pub memory_bytes_max: usize,
    /// Chains that are asked for each node whose sources all have another successor on their chain. More make fewer chains and
    /// a slower pass.
    pub tries_max: u32,
}

impl Default for ReachLimits {
    /// No memory limit but that of the store, and 64 questions.
    fn default() -> ReachLimits {
        ReachLimits { memory_bytes_max: usize::MAX, tries_max: 64 }
    }
}

/// Why a closure was not built.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReachError {
    /// The limit was reached; the graph is too wide for it.
    #[error(
        "reachability of {nodes} nodes needs more than {memory_bytes_max} bytes; {nodes_done} nodes on {chains} chains were done"
    )]
    Memory {
        /// The limit.
        memory_bytes_max: usize,
        /// Nodes of the graph.
        nodes: u32,
        /// Nodes done before.
        nodes_done: u32,
        /// Chains they needed.
        chains: u32,
    },
    /// In chains given by the caller, a node is not reached by the one before it.
    #[error("node {node} is not reached by node {previous}, which stands before it on chain {}", chain.0)]
    NotAChain {
        /// The node.
        node: u32,
        /// The one before it on the chain.
        previous: u32,
        /// The chain.
        chain: ChainId,
    },
    /// The caller gave chains for another number of nodes.
    #[error("chains were given for {given} of {nodes} nodes")]
    ChainsLength {
        /// Entries given.
        given: usize,
        /// Nodes of the graph.
        nodes: u32,
    },
}

impl Reachability {
    /// Builds the closure on chains found greedily: a node extends the chain of its first source, in the order the edges were given, that
    /// ends a chain (so give program order first: otherwise sequences steal each other's chains, and many more are
    /// needed), else the chain most recently extended whose end reaches it (of those asked), else it opens one.
    ///
    /// # Errors
    ///
    /// Fails when the memory limit is reached, before it is passed.
    pub fn build(dag: &Dag, limits: ReachLimits) -> Result<Reachability, ReachError> {
        let mut building = Building::start(dag, limits)?;
        for node in 0..dag.nodes_count() {
            let chains = &building.reach.chains;
            let ends = |&source: &u32| chains.tail(chains.chain_of(source)) == source;
            if let Some(tail) = dag.sources(node).iter().copied().find(ends) {
                let clock = building.join_sources(node, Some(tail))?;
                building.extend(tail, clock);
            } else {
                let clock = building.join_sources(node, None)?;
                building.place(clock)?;
            }
        }
        Ok(building.reach)
    }

    /// Builds the closure on given chains: `chains[node]`, numbered densely.
    ///
    /// # Errors
    ///
    /// Fails when the memory limit is reached, before it is passed, and when the nodes of a chain are not ordered.
    pub fn build_on(
        dag: &Dag,
        chains: &[ChainId],
        limits: ReachLimits,
    ) -> Result<Reachability, ReachError> {
        let nodes = dag.nodes_count();
        if chains.len() != nodes as usize {
            return Err(ReachError::ChainsLength { given: chains.len(), nodes });
        }
        let mut building = Building::start(dag, limits)?;
        let mut tails: Vec<Option<u32>> = Vec::new();
        for node in 0..nodes {
            let chain = chains[node as usize];
            if chain.index() >= tails.len() {
                tails.resize(chain.index() + 1, None);
            }
            let Some(tail) = tails[chain.index()].replace(node) else {
                let clock = building.join_sources(node, None)?;
                building.open(clock)?;
                continue;
            };
            let direct = dag.sources(node).contains(&tail);
            let clock = building.join_sources(node, direct.then_some(tail))?;
            if !direct && !building.reach.knows(clock, tail) {
                return Err(ReachError::NotAChain { node, previous: tail, chain });
            }
            building.extend(tail, clock);
        }
        Ok(building.reach)
    }

    /// Returns whether a path of at least one edge leads from `a` to `b`. O(1).
    ///
    /// # Panics
    ///
    /// Panics when one of them is not a node.
    #[inline]
    #[must_use]
    pub fn reaches(&self, a: u32, b: u32) -> bool {
        let chain = self.chains.chain_of(a);
        let position = self.chains.position_of(a);
        if chain == self.chains.chain_of(b) {
            position < self.chains.position_of(b)
        } else {
            position <= self.store.get(self.clocks[b as usize], chain)
        }
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn nodes_count(&self) -> u32 {
        self.chains.len() as u32
    }

    /// Returns the number of chains: an upper bound of the width, which is the greatest number of nodes none of which reaches another.
    #[must_use]
    pub fn chains_count(&self) -> usize {
        self.chains.chains_count()
    }

    /// Returns the chains, whose elements are the nodes.
    #[must_use]
    pub fn chains(&self) -> &Chains {
        &self.chains
    }

    /// Returns what the clocks share.
    #[must_use]
    pub fn store_stats(&self) -> StoreStats {
        self.store.stats()
    }

    /// Returns the bytes held on the heap.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.chains.memory_bytes()
            + self.clocks.capacity() * size_of::<ClockRef>()
            + self.store.memory_bytes()
    }

    /// Gives its parts away, for the incremental closure to go on with.
    pub(crate) fn into_parts(self) -> (Chains, Vec<ClockRef>, ClockStore) {
        (self.chains, self.clocks, self.store)
    }

    fn knows(&self, clock: ClockRef, node: u32) -> bool {
        self.chains.position_of(node) <= self.store.get(clock, self.chains.chain_of(node))
    }
}

/// A closure in the making. Invariant: its nodes are those before the one being placed.
struct Building<'d> {
    dag: &'d Dag,
    limits: ReachLimits,
    reach: Reachability,
}

impl Building<'_> {
    /// Bytes a node takes besides its clock: its place on a chain, and the ref of its clock.
    const NODE_BYTES: usize = 8 + size_of::<ClockRef>();

    fn start(dag: &Dag, limits: ReachLimits) -> Result<Building<'_>, ReachError> {
        let nodes = dag.nodes_count();
        let fixed = (nodes as usize).saturating_mul(Self::NODE_BYTES);
        let Some(left) = limits.memory_bytes_max.checked_sub(fixed) else {
            let memory_bytes_max = limits.memory_bytes_max;
            return Err(ReachError::Memory { memory_bytes_max, nodes, nodes_done: 0, chains: 0 });
        };
        let mut chains = Chains::with_tries_max(limits.tries_max);
        chains.reserve_exact(nodes as usize);
        let clocks = Vec::with_capacity(nodes as usize);
        let store = ClockStore::with_memory_max(left);
        Ok(Building { dag, limits, reach: Reachability { chains, clocks, store } })
    }

    /// Joins what the sources of a node know and are. With `tail`, its chain is left out: the node will stand
    /// behind it.
    fn join_sources(&mut self, node: u32, tail: Option<u32>) -> Result<ClockRef, ReachError> {
        let Reachability { chains, clocks, store } = &mut self.reach;
        let sources = self.dag.sources(node);
        let base = tail.or(sources.last().copied());
        let mut edit = store.edit(base.map_or(ClockRef::EMPTY, |base| clocks[base as usize]));
        let own = tail.map(|tail| chains.chain_of(tail));
        let joined = sources.iter().rev().try_for_each(|&source| {
            let (chain, position) = (chains.chain_of(source), chains.position_of(source));
            // What is known already has brought its own knowledge along; so has the end of the own chain
            // for all of that chain.
            if own == Some(chain) || position <= edit.get(chain) {
                return Ok(());
            }
            edit.join(clocks[source as usize])?;
            edit.raise(chain, position)
        });
        let clock = edit.finish();
        match joined {
            Ok(()) => Ok(clock),
            Err(StoreFull { .. }) => Err(self.full()),
        }
    }

    fn extend(&mut self, tail: u32, clock: ClockRef) {
        let chain = self.reach.chains.chain_of(tail);
        self.reach.chains.extend(chain);
        self.reach.clocks.push(clock);
    }

    fn open(&mut self, clock: ClockRef) -> Result<(), ReachError> {
        self.reach.chains.open(0);
        self.reach.clocks.push(clock);
        self.check_memory()
    }

    fn place(&mut self, clock: ClockRef) -> Result<(), ReachError> {
        let Reachability { chains, clocks, store } = &mut self.reach;
        chains.place_after(0, |chain| store.get(clock, chain));
        clocks.push(clock);
        self.check_memory()
    }

    /// The store knows only what was left when the pass began; the table of chains grows beside it.
    fn check_memory(&self) -> Result<(), ReachError> {
        if self.reach.memory_bytes() <= self.limits.memory_bytes_max {
            Ok(())
        } else {
            Err(self.full())
        }
    }

    fn full(&self) -> ReachError {
        ReachError::Memory {
            memory_bytes_max: self.limits.memory_bytes_max,
            nodes: self.dag.nodes_count(),
            nodes_done: self.reach.clocks.len() as u32,
            chains: self.reach.chains.chains_count() as u32,
        }
    }
}
