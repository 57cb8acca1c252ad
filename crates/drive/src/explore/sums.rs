//! The counts of all explorations of one job.

use anyorder_explore::r4::{self, Verdict};
use anyorder_finding::{Ordered, Stats, stat};
use std::collections::BTreeMap;

/// Counts, added up over explorations.
#[derive(Default)]
pub(super) struct Sums {
    explorations: u64,
    recorded: u64,
    races: Option<r4::RaceCounts>,
    sequences: u64,
    depth: u32,
    counts: r4::Counts,
    classes: BTreeMap<Verdict, u64>,
}

/// The verdicts that are always counted, and those that are only where they occur.
const ALWAYS: [Verdict; 6] = [
    Verdict::Equivalent,
    Verdict::Bookkeeping,
    Verdict::Timers,
    Verdict::LateRegistration,
    Verdict::Different,
    Verdict::Unstable,
];
const SELDOM: [Verdict; 4] =
    [Verdict::CutByFailure, Verdict::Alternative, Verdict::RefusedInput, Verdict::InputOrder];

impl Sums {
    /// Adds the counts of an exploration.
    pub(super) fn add(&mut self, explored: &r4::Outcome) {
        if self.explorations == 0 {
            self.races = explored.races;
            self.recorded = explored.runs.first().map_or(0, |run| run.length as u64);
        }
        self.explorations += 1;
        self.sequences += explored.runs.len() as u64;
        let depth = explored.runs.iter().map(|run| run.depth).max().unwrap_or(0);
        self.depth = self.depth.max(depth);
        self.counts.add(&explored.counts);
        for comparison in explored.runs.iter().filter_map(|run| run.comparison.as_ref()) {
            *self.classes.entry(comparison.verdict).or_default() += 1;
        }
    }

    /// Returns how often the program ran.
    pub(super) fn runs(&self) -> u64 {
        self.counts.runs()
    }

    /// Returns the counts under their names in results. `shown` is the number of runs made for the
    /// report.
    pub(super) fn stats(&self, shown: u64) -> Stats {
        let mut classes: Ordered<u64> = Ordered::new();
        let count = |verdict: &Verdict| self.classes.get(verdict).copied().unwrap_or(0);
        for verdict in ALWAYS.iter().chain(SELDOM.iter().filter(|verdict| count(verdict) > 0)) {
            classes.set(verdict.word(), count(verdict));
        }
        let counts = &self.counts;
        let mut stats = Stats::new();
        stats
            .set(stat::ALGORITHM, "r4")
            .set(stat::RECORDED_TASKS, self.recorded)
            .set(stat::EXPLORATIONS, self.explorations)
            .set(stat::SEQUENCES, self.sequences)
            .set(stat::EXECUTIONS, counts.runs() + shown)
            .set(stat::REVERSALS, classes)
            .set(stat::MAX_REVERSALS, self.depth)
            .set(stat::PLANS, counts.plans)
            .set(stat::SLEPT, counts.slept)
            .set(stat::REPEATED, counts.repeated)
            .set(stat::DUPLICATES, counts.duplicates)
            .set(stat::SLEEP_BLOCKED, counts.sleep_blocked)
            .set(stat::CONFIRMATIONS, counts.confirmations)
            .set(stat::SWAPS, counts.swaps)
            .set(stat::SHOWN, shown)
            .set(stat::RETRIES, counts.retries)
            .set(stat::LOST, counts.lost)
            .set(stat::UNSTABLE, counts.unstable)
            .set(stat::CUT, counts.cut)
            .set(stat::RESTARTS, counts.restarts)
            .set(stat::EXECUTED_TASKS, counts.tasks)
            .set(stat::REPEATED_TASKS, counts.all_tasks.saturating_sub(counts.tasks));
        if let Some(races) = self.races {
            stats
                .set(stat::RECORDED_RACES, races.races)
                .set(stat::UNCOVERED_RACES, races.uncovered)
                .set(stat::COVERED_RACES, races.races.saturating_sub(races.uncovered));
        }
        stats
    }
}
