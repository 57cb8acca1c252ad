//! Rates of clocks, chains, the store, and closures; incremental edges against petgraph's search an insertion.
//!
//! `cargo bench -p anyorder-order`. Each figure is the best of a few runs on one core.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use anyorder_order::{
    ChainId, Chains, Clock, Dag, IncrementalDag, IncrementalReachability, ReachLimits,
    Reachability, greatest_antichain,
};
use petgraph::algo::is_cyclic_directed;
use petgraph::graph::{DiGraph, NodeIndex};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A multiplicative generator: the same numbers everywhere.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (((self.0 >> 32) * u64::from(bound)) >> 32) as u32
    }
}

fn best(runs: u32, mut run: impl FnMut()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..runs).map(time).min().unwrap_or_default()
}

fn rate(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64() / 1e6
}

fn main() {
    joins();
    placing();
    closures();
    incremental_orders();
    incremental_closures();
    antichains();
}

fn joins() {
    for chains in [16u32, 200, 4000] {
        let mut numbers = Numbers(1);
        let mut clock = || {
            let entries: Vec<u32> = (0..chains).map(|_| numbers.below(1000)).collect();
            Clock::from_slice(&entries)
        };
        let (a, b) = (clock(), clock());
        let mut kept = a.clone();
        kept.join(&b);
        let rounds = 40_000_000 / (chains as usize + 16);
        let same = best(3, || (0..rounds).for_each(|_| _ = black_box(kept.join(black_box(&b)))));
        let mut scratch = a.clone();
        let grow = best(3, || {
            for _ in 0..rounds {
                scratch.copy_from(&a);
                black_box(scratch.join(black_box(&b)));
            }
        });
        let bytes = rounds * chains as usize * 4;
        println!(
            "join, {chains} chains: {:.1} GB/s nothing new, {:.1} GB/s copied and grown",
            rate(bytes, same) / 1e3,
            rate(bytes, grow) / 1e3,
        );
    }
}

fn placing() {
    for live in [1u32, 20, 200] {
        let count = 1_000_000;
        let mut tries = 0.0;
        let time = best(3, || {
            let mut numbers = Numbers(2);
            let mut chains = Chains::new();
            for element in 0..count {
                let wanted = numbers.below(live);
                chains.place(0, |chain, _| chain.0 == wanted || element < live && chain.0 > wanted);
            }
            tries = chains.stats().tries as f64 / f64::from(count);
        });
        println!(
            "place, {live} chains at random: {:.1} M/s, {tries:.1} questions each",
            rate(count as usize, time)
        );
    }
}

/// `chains` sequences of `length`, with an edge from a random earlier node into every `every`-th node.
fn dag(chains: u32, length: u32, every: u32) -> (u32, Vec<(u32, u32)>) {
    let mut numbers = Numbers(3);
    let nodes = chains * length;
    let mut edges = Vec::new();
    for node in chains..nodes {
        edges.push((node - chains, node));
        if numbers.below(every) == 0 {
            // Not far back, as messages are.
            edges.push((node - 1 - numbers.below(node.min(8 * chains)), node));
        }
    }
    (nodes, edges)
}

fn closures() {
    for (chains, length, every) in
        [(8, 250_000, 8), (200, 10_000, 8), (200, 1000, 1), (2000, 250, 4)]
    {
        let (nodes, edges) = dag(chains, length, every);
        let mut built = None;
        let time = best(2, || {
            let dag = Dag::from_edges(nodes, &edges).expect("edges go forward");
            built = Reachability::build(&dag, ReachLimits::default()).ok();
        });
        let reach = built.expect("there is no limit");
        let queries = 4_000_000;
        let mut yes = 0usize;
        let asked = best(2, || {
            let mut numbers = Numbers(4);
            yes = (0..queries)
                .filter(|_| reach.reaches(numbers.below(nodes), numbers.below(nodes)))
                .count();
        });
        let memory = reach.memory_bytes();
        let matrix = nodes as usize * reach.chains_count() * 4;
        println!(
            "closure, {nodes} nodes on {} chains, {} edges: {:.1} M nodes/s, {:.1} M queries/s ({:.0} % yes), {:.0} MB, {:.1} times less than a matrix of clocks",
            reach.chains_count(),
            edges.len(),
            rate(nodes as usize, time),
            rate(queries, asked),
            100.0 * yes as f64 / queries as f64,
            memory as f64 / 1e6,
            matrix as f64 / memory as f64,
        );
    }
}

fn incremental_orders() {
    for (nodes, count) in [(500u32, 1500usize), (2000, 6000)] {
        // Mostly along a hidden order that is not that of the numbers, now and then against it.
        let mut numbers = Numbers(5);
        let mut hidden: Vec<u32> = (0..nodes).collect();
        (1..nodes).rev().for_each(|i| hidden.swap(i as usize, numbers.below(i + 1) as usize));
        let edges: Vec<(u32, u32)> = (0..count)
            .map(|_| {
                let (a, b) = (numbers.below(nodes), numbers.below(nodes));
                let (a, b) = (a.min(b), a.max(b));
                let against = numbers.below(50) == 0;
                let (a, b) = if against { (b, a) } else { (a, b) };
                (hidden[a as usize], hidden[b as usize])
            })
            .collect();
        let mut ours = 0;
        let time = best(3, || {
            let mut dag = IncrementalDag::new(nodes);
            ours = edges.iter().filter(|&&(a, b)| dag.insert_edge(a, b).is_ok()).count();
        });
        let mut theirs = 0;
        let baseline = best(1, || {
            let mut graph = DiGraph::<(), ()>::new();
            (0..nodes).for_each(|_| _ = graph.add_node(()));
            theirs = 0;
            for &(a, b) in &edges {
                let edge =
                    graph.add_edge(NodeIndex::new(a as usize), NodeIndex::new(b as usize), ());
                if is_cyclic_directed(&graph) {
                    graph.remove_edge(edge);
                } else {
                    theirs += 1;
                }
            }
        });
        assert_eq!(ours, theirs);
        println!(
            "incremental order, {nodes} nodes, {count} edges, {} refused: {:.2} M edges/s, {:.0} times petgraph's is_cyclic_directed an edge",
            count - ours,
            rate(count, time),
            baseline.as_secs_f64() / time.as_secs_f64(),
        );
    }
}

fn incremental_closures() {
    for (chains, length, count) in [(20u32, 1000u32, 20_000usize), (200, 100, 20_000)] {
        let nodes = chains * length;
        let mut stats = None;
        let mut memory = 0;
        let time = best(2, || {
            let mut numbers = Numbers(6);
            let mut reach = IncrementalReachability::new();
            for node in 0..nodes {
                reach.add_node(ChainId(node % chains));
            }
            let mut changed = Vec::new();
            for _ in 0..count {
                let b = chains + numbers.below(nodes - chains);
                let a = b - 1 - numbers.below(b.min(8 * chains));
                changed.clear();
                black_box(reach.insert(a, b, &mut changed).is_ok());
            }
            memory = reach.memory_bytes();
            stats = Some((reach.stats(), reach.store_stats().compactions));
        });
        let (stats, compactions) = stats.expect("ran at least once");
        println!(
            "incremental closure, {nodes} nodes on {chains} chains: {:.2} M edges/s, {:.1} M changes/s, {} inserted, {} implied, {:.0} MB, {compactions} compactions",
            rate(count, time),
            rate(stats.nodes_changed as usize, time),
            stats.inserted,
            stats.implied,
            memory as f64 / 1e6,
        );
    }
}

fn antichains() {
    for elements in [1000u32, 4000] {
        // Points of a square: ordered if both coordinates are.
        let mut numbers = Numbers(7);
        let points: Vec<(u32, u32)> =
            (0..elements).map(|_| (numbers.below(1 << 20), numbers.below(1 << 20))).collect();
        let before = |a: u32, b: u32| {
            let (a, b) = (points[a as usize], points[b as usize]);
            a.0 < b.0 && a.1 < b.1
        };
        let mut width = 0;
        let time = best(2, || width = greatest_antichain(elements, before).len());
        println!(
            "greatest antichain of {elements} points: {width}, {:.1} ms",
            time.as_secs_f64() * 1e3
        );
    }
}
