//! Reachability, incremental orders and antichains, against Warshall's closure and all subsets.

mod support;

use anyorder_order::{
    ChainId, Dag, DagError, IncrementalDag, IncrementalReachability, InsertError, ReachError,
    ReachLimits, Reachability, greatest_antichain,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use support::{Closure, Counters, antichain_size, runner};

fn any_edges(nodes_max: u32, edges_max: usize) -> impl Strategy<Value = (u32, Vec<(u32, u32)>)> {
    (1..=nodes_max)
        .prop_flat_map(move |n| (Just(n), prop::collection::vec((0..n, 0..n), 0..edges_max)))
}

fn forward_edges(
    nodes_max: u32,
    edges_max: usize,
) -> impl Strategy<Value = (u32, Vec<(u32, u32)>)> {
    any_edges(nodes_max, edges_max)
        .prop_map(|(n, edges)| (n, edges.into_iter().filter(|(a, b)| a < b).collect()))
}

fn all_pairs(nodes: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..nodes).flat_map(move |a| (0..nodes).map(move |b| (a, b)))
}

#[test]
fn static_reachability_is_the_closure() {
    let counters = Counters::default();
    let instance = (forward_edges(40, 90), prop::sample::select(vec![0u32, 1, 64]));
    let result = runner(4000).run(&instance, |((nodes, edges), tries_max)| {
        let closure = Closure::new(nodes as usize, &edges);
        let dag = Dag::from_edges(nodes, &edges).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let limits = ReachLimits { tries_max, ..ReachLimits::default() };
        let reach =
            Reachability::build(&dag, limits).map_err(|e| TestCaseError::fail(e.to_string()))?;
        for (a, b) in all_pairs(nodes) {
            prop_assert_eq!(reach.reaches(a, b), closure.get(a, b), "{} -> {}", a, b);
        }
        let width = greatest_antichain(nodes, |a, b| closure.get(a, b)).len();
        prop_assert!(reach.chains_count() >= width);
        counters.add("as few chains as the width", u64::from(reach.chains_count() == width));
        counters.add("more chains than the width", u64::from(reach.chains_count() > width));
        counters.add("more than 16 chains", u64::from(reach.chains_count() > 16));
        counters.add("placed by question", reach.chains().stats().tries);
        counters.add("clock shared", reach.store_stats().clocks_shared);

        // The same on its own chains, and on one chain too few.
        let mut given: Vec<ChainId> =
            (0..nodes).map(|node| reach.chains().chain_of(node)).collect();
        let again = Reachability::build_on(&dag, &given, limits)
            .map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert!(all_pairs(nodes).all(|(a, b)| again.reaches(a, b) == closure.get(a, b)));
        for chain in &mut given {
            chain.0 = chain.0.min(1);
        }
        let mut broken = None;
        let mut tails = [None; 2];
        for node in 0..nodes {
            let tail = tails[given[node as usize].index()].replace(node);
            if let Some(previous) = tail.filter(|&tail| !closure.get(tail, node)) {
                let chain = given[node as usize];
                broken = broken.or(Some(ReachError::NotAChain { node, previous, chain }));
            }
        }
        counters.add(if broken.is_some() { "not a chain" } else { "two chains do" }, 1);
        prop_assert_eq!(Reachability::build_on(&dag, &given, limits).err(), broken);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    counters.check(&[
        "as few chains as the width",
        "more chains than the width",
        "more than 16 chains",
        "placed by question",
        "clock shared",
        "not a chain",
        "two chains do",
    ]);
}

#[test]
fn bad_edges_and_limits_are_errors() {
    assert_eq!(Dag::from_edges(2, &[(1, 1)]), Err(DagError::NotForward { from: 1, to: 1 }));
    let out = DagError::OutOfRange { from: 0, to: 2, nodes: 2 };
    assert_eq!(Dag::from_edges(2, &[(0, 2)]), Err(out));
    // A thousand unordered sources of a thousand targets: no chain helps.
    let edges: Vec<(u32, u32)> =
        (0..1000).flat_map(|a| (0..5).map(move |i| (a, 1000 + (a * 7 + i * 131) % 1000))).collect();
    let dag = Dag::from_edges(2000, &edges).expect("all forward");
    let whole = Reachability::build(&dag, ReachLimits::default()).expect("no limit");
    let needed = whole.memory_bytes();
    for memory_bytes_max in [0, 1000, 24_000, needed / 4, needed / 2] {
        let limits = ReachLimits { memory_bytes_max, ..ReachLimits::default() };
        match Reachability::build(&dag, limits) {
            Err(ReachError::Memory { memory_bytes_max: said, nodes: 2000, nodes_done, .. }) => {
                assert_eq!(said, memory_bytes_max);
                assert!(nodes_done < 2000);
            }
            other => panic!("{memory_bytes_max}: {:?}", other.map(|reach| reach.memory_bytes())),
        }
    }
    let limits = ReachLimits { memory_bytes_max: needed * 2, ..ReachLimits::default() };
    let within = Reachability::build(&dag, limits).expect("enough");
    assert!(within.memory_bytes() <= needed * 2);
    let wrong = Reachability::build_on(&dag, &[ChainId(0)], limits).err();
    assert_eq!(wrong, Some(ReachError::ChainsLength { given: 1, nodes: 2000 }));
}

/// The number of nodes on a shortest path from `from` to `to`.
fn shortest(nodes: u32, edges: &[(u32, u32)], from: u32, to: u32) -> usize {
    let mut reached = vec![from];
    let mut length = 1;
    while !reached.contains(&to) {
        let next: Vec<u32> = edges.iter().filter(|e| reached.contains(&e.0)).map(|e| e.1).collect();
        reached.extend(next);
        length += 1;
        assert!(length <= nodes as usize, "no path");
    }
    length
}

#[test]
fn incremental_orders_stay_topological() {
    let counters = Counters::default();
    let result = runner(3000).run(&any_edges(16, 60), |(nodes, edges)| {
        let mut dag = IncrementalDag::new(nodes);
        let mut present: Vec<(u32, u32)> = Vec::new();
        for (a, b) in edges {
            let closure = Closure::new(nodes as usize, &present);
            match dag.insert_edge(a, b) {
                Ok(new) => {
                    prop_assert!(a != b && !closure.get(b, a));
                    prop_assert_eq!(new, !present.contains(&(a, b)));
                    present.extend(new.then_some((a, b)));
                }
                Err(cycle) => {
                    prop_assert!(a == b || closure.get(b, a));
                    prop_assert_eq!((cycle.nodes[0], cycle.nodes[cycle.nodes.len() - 1]), (b, a));
                    prop_assert!(cycle.nodes.windows(2).all(|w| present.contains(&(w[0], w[1]))));
                    prop_assert_eq!(cycle.nodes.len(), shortest(nodes, &present, b, a));
                    counters.add("long cycle", u64::from(cycle.nodes.len() > 3));
                    counters.add("loop", u64::from(a == b));
                }
            }
            prop_assert!(present.iter().all(|&(a, b)| dag.place_of(a) < dag.place_of(b)));
            prop_assert!((0..nodes).all(|n| dag.order()[dag.place_of(n) as usize] == n));
        }
        for (a, b) in all_pairs(nodes) {
            prop_assert_eq!(dag.has_edge(a, b), present.contains(&(a, b)));
            prop_assert_eq!(dag.targets(a).any(|to| to == b), present.contains(&(a, b)));
            prop_assert_eq!(dag.sources(b).any(|from| from == a), present.contains(&(a, b)));
        }
        let stats = dag.stats();
        counters.add("order already right", stats.in_order);
        counters.add("reordering", stats.reordered);
        counters.add("double", stats.double);
        counters.add("cycle", stats.cycles);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    counters.check(&["order already right", "reordering", "double", "cycle", "long cycle", "loop"]);
}

#[test]
fn incremental_reachability_is_the_closure() {
    let counters = Counters::default();
    let instance = (any_edges(14, 40), prop::collection::vec(0u32..5, 14), 0usize..30);
    let result = runner(2500).run(&instance, |((nodes, edges), chains, start)| {
        incremental_run(&counters, nodes, &edges, &chains, start)
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    counters.check(&[
        "inserted",
        "implied",
        "cycle",
        "visit pruned",
        "clock reused",
        "from static",
        "path over a chain",
        "several changed",
    ]);
}

fn incremental_run(
    counters: &Counters,
    nodes: u32,
    edges: &[(u32, u32)],
    chains: &[u32],
    start: usize,
) -> TestCaseResult {
    let fail = |e: &dyn std::error::Error| TestCaseError::fail(e.to_string());
    // Half of the runs begin with a static closure of some of the edges.
    let first: Vec<(u32, u32)> = edges.iter().take(start).copied().filter(|(a, b)| a < b).collect();
    let (mut reach, mut present) = if start.is_multiple_of(2) {
        let mut reach = IncrementalReachability::new();
        let mut present = Vec::new();
        for node in 0..nodes {
            let chain = ChainId(chains[node as usize]);
            present.extend(reach.nodes_of(chain).last().map(|&last| (last, node)));
            prop_assert_eq!(reach.add_node(chain), node);
        }
        (reach, present)
    } else {
        counters.add("from static", 1);
        let dag = Dag::from_edges(nodes, &first).map_err(|e| fail(&e))?;
        let reach = Reachability::build(&dag, ReachLimits::default()).map_err(|e| fail(&e))?;
        (IncrementalReachability::from_static(&dag, reach), first)
    };
    for &(a, b) in edges {
        let closure = Closure::new(nodes as usize, &present);
        let mut changed = Vec::new();
        match reach.insert(a, b, &mut changed) {
            Ok(new) => {
                prop_assert!(a != b && !closure.get(b, a));
                prop_assert_eq!(new, !closure.get(a, b));
                present.push((a, b));
                let after = Closure::new(nodes as usize, &present);
                let differs = |v: &u32| (0..nodes).any(|u| closure.get(u, *v) != after.get(u, *v));
                changed.sort_unstable();
                prop_assert_eq!(&changed, &(0..nodes).filter(differs).collect::<Vec<_>>());
                counters.add("several changed", u64::from(changed.len() > 1));
            }
            Err(InsertError::Cycle(cycle)) => {
                prop_assert!(a == b || closure.get(b, a));
                prop_assert!(changed.is_empty());
                prop_assert_eq!((cycle.nodes[0], cycle.nodes[cycle.nodes.len() - 1]), (b, a));
                let step = |w: &[u32]| {
                    let next = reach.place_of(w[0]).0 == reach.place_of(w[1]).0
                        && reach.place_of(w[0]).1 + 1 == reach.place_of(w[1]).1;
                    counters.add("path over a chain", u64::from(next));
                    next || present.contains(&(w[0], w[1]))
                };
                prop_assert!(cycle.nodes.windows(2).all(step));
            }
            Err(InsertError::Memory(error)) => return Err(fail(&error)),
        }
        let closure = Closure::new(nodes as usize, &present);
        for (a, b) in all_pairs(nodes) {
            prop_assert_eq!(reach.reaches(a, b), closure.get(a, b), "{} -> {}", a, b);
        }
        for chain in (0..reach.chains_count() as u32).map(ChainId) {
            let on_chain = reach.nodes_of(chain);
            let known = on_chain.iter().filter(|&&other| closure.get(other, a)).count();
            prop_assert_eq!(reach.known(a, chain) as usize, known);
            let behind = on_chain.iter().copied().find(|&other| closure.get(a, other));
            prop_assert_eq!(reach.first_reached(a, chain), behind);
        }
    }
    let stats = reach.stats();
    counters.add("inserted", stats.inserted);
    counters.add("implied", stats.implied);
    counters.add("cycle", stats.cycles);
    counters.add("visit pruned", stats.visits_pruned);
    counters.add("clock reused", stats.clocks_reused);
    Ok(())
}

#[test]
fn a_full_incremental_closure_stays_as_it_was() {
    let mut reach = IncrementalReachability::with_memory_max(64 * 40);
    let nodes: Vec<u32> = (0..60).map(|chain| reach.add_node(ChainId(chain))).collect();
    let mut edges = Vec::new();
    let mut refused = 0;
    for pair in nodes.windows(2) {
        let mut changed = Vec::new();
        match reach.insert(pair[0], pair[1], &mut changed) {
            Ok(_) => edges.push((pair[0], pair[1])),
            Err(InsertError::Memory(_)) => {
                assert!(changed.is_empty());
                refused += 1;
            }
            Err(InsertError::Cycle(_)) => panic!("no cycle there"),
        }
    }
    assert!(refused > 0 && !edges.is_empty(), "{refused} refused, {} inserted", edges.len());
    let closure = Closure::new(60, &edges);
    assert!(all_pairs(60).all(|(a, b)| reach.reaches(a, b) == closure.get(a, b)));
}

#[test]
fn garbage_is_compacted_and_nothing_is_lost() {
    let (chains, length) = (24u32, 40u32);
    let mut reach = IncrementalReachability::new();
    for chain in 0..chains {
        (0..length).for_each(|_| {
            reach.add_node(ChainId(chain));
        });
    }
    // A fixed pseudo-random walk over the pairs of nodes, from late to early so that much is learned again and again.
    let (mut state, mut edges) = (1u64, Vec::new());
    let mut changed = Vec::new();
    for i in 0..6000u32 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let [from, to] = [(state >> 33) as u32 % chains, (state >> 45) as u32 % chains];
        let position = (length - 2).saturating_sub(i / 150);
        let (a, b) = (from * length + position, to * length + position + 1);
        if from != to && reach.insert(a, b, &mut changed).is_ok() {
            edges.push((a, b));
        }
    }
    assert!(reach.store_stats().compactions > 0, "{:?}", reach.store_stats());
    let on_chain = |n: &u32| !(n + 1).is_multiple_of(length);
    let mut all = edges;
    all.extend((0..chains * length).filter(on_chain).map(|n| (n, n + 1)));
    let closure = Closure::new((chains * length) as usize, &all);
    assert!(all_pairs(chains * length).all(|(a, b)| reach.reaches(a, b) == closure.get(a, b)));
}

#[test]
fn antichains_are_the_greatest() {
    let counters = Counters::default();
    let result = runner(3000).run(&forward_edges(11, 30), |(nodes, edges)| {
        let closure = Closure::new(nodes as usize, &edges);
        let before = |a: u32, b: u32| closure.get(a, b);
        let found = greatest_antichain(nodes, before);
        prop_assert!(found.windows(2).all(|w| w[0] < w[1]));
        prop_assert!(found.iter().all(|&a| found.iter().all(|&b| !before(a, b))));
        let size = antichain_size(nodes as usize, before);
        prop_assert_eq!(found.len(), size);
        counters.add("chain", u64::from(size == 1 && nodes > 2));
        counters.add("all unordered", u64::from(size == nodes as usize && nodes > 2));
        counters.add("between", u64::from(size > 1 && size < nodes as usize));
        // Not transitive: still pairwise unordered.
        let direct = greatest_antichain(nodes, |a, b| edges.contains(&(a, b)));
        prop_assert!(direct.iter().all(|&a| direct.iter().all(|&b| !edges.contains(&(a, b)))));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    counters.check(&["chain", "all unordered", "between"]);
}

#[test]
fn antichains_of_known_orders() {
    assert_eq!(greatest_antichain(0, |_, _| false), []);
    assert_eq!(greatest_antichain(1000, |a, b| a < b).len(), 1);
    assert_eq!(greatest_antichain(1000, |_, _| false).len(), 1000);
    // 30 chains of 40, by turns.
    assert_eq!(greatest_antichain(1200, |a, b| a < b && a % 30 == b % 30).len(), 30);
    // Subsets of eight: by Sperner's theorem, those of size four.
    let subset = |a: u32, b: u32| a != b && a & b == a;
    assert_eq!(greatest_antichain(256, subset).len(), 70);
}
