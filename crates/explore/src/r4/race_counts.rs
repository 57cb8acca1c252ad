//! How many races a run has, before and after covering.
//!
//! **Problem.** Given a run and its graph, the number of pairs (i, j), i before j, that conflict
//! and that happens-before does not order; and how many of them have no task k with i -> k -> j.
//! **Naive version**: all pairs, in `tests/r4/naive`. **Method.** The uses of each location, in
//! groups of equal modes; each use conflicts with all of the other groups, and within its own if
//! its mode is exclusive. Rows of bits keep the pairs. **Cost.** n²/64 words, and one row for each
//! use of a location.

use super::ancestors::Ancestors;
use super::dependence::Graph;
use super::footprint::Mode;
use super::reversal::relevant;
use super::sabotage::Sabotage;
use super::step::Steps;
use anyorder_system::JobWatch;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The races of one run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RaceCounts {
    /// Pairs of tasks that conflict and that happens-before does not order.
    pub races: u64,
    /// Those of them that no third task orders.
    pub uncovered: u64,
}

/// Longer runs are not counted: their rows would take more than 8 MiB.
const TASKS_MAX: usize = 8192;

/// Counts the races of a run; `None` if the run is too long.
pub(crate) fn race_counts(steps: &Steps, graph: &Graph, sabotage: Sabotage) -> Option<RaceCounts> {
    let tasks = steps.len();
    if tasks > TASKS_MAX {
        return None;
    }
    // A job that was stopped has whole counts, too: they take little.
    let _unwatched = JobWatch::default().enter();
    let words = tasks.div_ceil(64);
    let mut uses: FxHashMap<u32, BTreeMap<Mode, Vec<usize>>> = FxHashMap::default();
    for (at, step) in steps.iter().enumerate() {
        for (location, mode) in &step.footprint {
            uses.entry(*location).or_default().entry(*mode).or_default().push(at);
        }
    }
    let mut rows = vec![0u64; words * tasks];
    for groups in uses.values().filter(|groups| groups.len() > 1 || !commutes(groups)) {
        let bits: Vec<(Mode, Vec<u64>)> =
            groups.iter().map(|(mode, group)| (*mode, row_of(group, words))).collect();
        for (mode, group) in groups {
            let conflicting = bits.iter().filter(|(other, _)| !mode.commutes_with(*other));
            for (_, other) in conflicting {
                for at in group {
                    let row = rows.iter_mut().skip(at * words).take(words);
                    row.zip(other).for_each(|(word, bits)| *word |= bits);
                }
            }
        }
    }
    let happens = Ancestors::by_creation(graph);
    let happens = &happens;
    let earlier = |at: usize| (0..at).filter(move |first| !happens.has(*first, at));
    let mut counts = RaceCounts::default();
    for at in 0..tasks {
        let conflicts = |first: &usize| rows[at * words + first / 64] >> (first % 64) & 1 == 1;
        counts.races += earlier(at).filter(conflicts).count() as u64;
    }
    counts.uncovered = relevant(graph, &Ancestors::of(graph), sabotage).len() as u64;
    Some(counts)
}

/// Returns whether the uses of a location, all of one mode, commute.
fn commutes(groups: &BTreeMap<Mode, Vec<usize>>) -> bool {
    groups.keys().all(|mode| mode.commutes_with(*mode))
}

fn row_of(group: &[usize], words: usize) -> Vec<u64> {
    let mut row = vec![0; words];
    for at in group {
        if let Some(word) = row.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }
    row
}
