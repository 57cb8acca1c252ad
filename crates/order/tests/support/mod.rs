//! Naive reference computations, and counters of the branches that random instances took.

use anyorder_testkit::effort::first_seed;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The transitive closure of a relation as a matrix, by Warshall's three loops.
#[derive(Clone)]
pub(crate) struct Closure {
    reaches: Vec<Vec<bool>>,
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
        Closure { reaches }
    }

    pub(crate) fn get(&self, a: u32, b: u32) -> bool {
        self.reaches[a as usize][b as usize]
    }
}

/// Counts branches by name; a branch that never occurs fails the test.
#[derive(Default)]
pub(crate) struct Counters(RefCell<BTreeMap<&'static str, u64>>);

impl Counters {
    pub(crate) fn add(&self, name: &'static str, count: u64) {
        *self.0.borrow_mut().entry(name).or_insert(0) += count;
    }

    pub(crate) fn check(&self, expected: &[&str]) {
        let counts = self.0.borrow();
        {
            println!("branches: {counts:?}");
        }
        for name in expected {
            assert!(counts.get(name).is_some_and(|&count| count > 0), "`{name}` never happened");
        }
    }
}

/// A runner whose random numbers `ANYORDER_SEED` chooses, so that failures and counts are
/// reproducible.
pub(crate) fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&first_seed().to_le_bytes());
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
}
