//! Slow twins of what the crate computes, and counters of the branches that random instances took.
#![allow(dead_code, reason = "each test binary uses its own part")]

use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The transitive closure of a relation as a matrix, by Warshall's three loops.
#[derive(Clone)]
pub(crate) struct Closure {
    pub(crate) nodes: usize,
    pub(crate) reaches: Vec<Vec<bool>>,
}

impl Closure {
    pub(crate) fn new(nodes: usize, edges: &[(u32, u32)]) -> Closure {
        let mut reaches = vec![vec![false; nodes]; nodes];
        for &(a, b) in edges {
            reaches[a as usize][b as usize] = true;
        }
        for k in 0..nodes {
            for i in 0..nodes {
                for j in 0..nodes {
                    reaches[i][j] |= reaches[i][k] && reaches[k][j];
                }
            }
        }
        Closure { nodes, reaches }
    }

    pub(crate) fn get(&self, a: u32, b: u32) -> bool {
        self.reaches[a as usize][b as usize]
    }
}

/// The size of a greatest antichain, by all subsets.
pub(crate) fn antichain_size(nodes: usize, before: impl Fn(u32, u32) -> bool) -> usize {
    let ordered: Vec<u32> = (0..nodes as u32)
        .map(|a| (0..nodes as u32).filter(|&b| before(a, b)).map(|b| 1 << b).sum())
        .collect();
    (0u32..1 << nodes)
        .filter(|set| (0..nodes).all(|a| set & (1 << a) == 0 || set & ordered[a] == 0))
        .map(|set| set.count_ones() as usize)
        .max()
        .unwrap_or(0)
}

/// Counts branches by name; one never taken fails the test.
#[derive(Default)]
pub(crate) struct Counters(RefCell<BTreeMap<&'static str, u64>>);

impl Counters {
    pub(crate) fn add(&self, name: &'static str, count: u64) {
        *self.0.borrow_mut().entry(name).or_insert(0) += count;
    }

    pub(crate) fn check(&self, expected: &[&str]) {
        let counts = self.0.borrow();
        #[expect(clippy::print_stdout, reason = "the counts are what a reader of the test wants")]
        {
            println!("branches: {counts:?}");
        }
        for name in expected {
            assert!(counts.get(name).is_some_and(|&count| count > 0), "`{name}` never happened");
        }
    }
}

/// A runner with a fixed seed, so that a failure and the counts are the same everywhere.
pub(crate) fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}
