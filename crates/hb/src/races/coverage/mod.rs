//! Coverage: a race is covered if ordering other races orders it (`docs/happens-before.md`, section
//! 5).
//!
//! **Source.** Raychev, Vechev, Sridharan, OOPSLA 2013; the adjacency test of R4 (Jensen et al.,
//! OOPSLA 2015), Algorithm 2. R4's section 4.4 prints a weaker definition, which contradicts its
//! section 2.1. Module `single` implements it for comparison.

use crate::races::detector::{Races, RunId};

mod access;
mod single;
mod task;

pub(crate) use access::access_coverage;
pub(crate) use single::single_coverage;
pub(crate) use task::task_coverage;

/// For each racing pair of runs, the number of uncovered pairs of accesses.
#[derive(Clone, Debug)]
pub(crate) struct Uncovered {
    pub(crate) in_pair: Vec<u64>,
    /// If only one pair is uncovered: whether it is the last access of one run with the first
    /// access of the other.
    pub(crate) edge_only: bool,
}

/// Marks all pairs of runs whose pair of tasks is uncovered.
fn by_tasks(races: &Races, mut uncovered: impl FnMut(RunId, RunId) -> bool) -> Uncovered {
    let in_pair = races
        .pairs
        .iter()
        .map(|pair| if uncovered(pair.0, pair.1) { races.pairs_in(*pair) } else { 0 })
        .collect();
    Uncovered { in_pair, edge_only: false }
}
