//! The counts of all explorations of one job.

use anyorder_explore::r4::{self, Verdict};
use anyorder_finding::{Ordered, Stats};
use std::collections::BTreeMap;

/// Counts, added up over explorations.
#[derive(Default)]
pub(super) struct Sums {
    explorations: u64,
    recorded: u64,
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
const SELDOM: [Verdict; 3] = [Verdict::CutByFailure, Verdict::Alternative, Verdict::InputOrder];

impl Sums {
    /// Adds the counts of an exploration.
    pub(super) fn add(&mut self, explored: &r4::Outcome) {
        if self.explorations == 0 {
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
            .set("algorithm", "r4")
            .set("recorded_tasks", self.recorded)
            .set("explorations", self.explorations)
            .set("sequences", self.sequences)
            .set("executions", counts.runs() + shown)
            .set("reversals", classes)
            .set("max_reversals", self.depth)
            .set("plans", counts.plans)
            .set("slept", counts.slept)
            .set("repeated", counts.repeated)
            .set("duplicates", counts.duplicates)
            .set("sleep_blocked", counts.sleep_blocked)
            .set("confirmations", counts.confirmations)
            .set("swaps", counts.swaps)
            .set("shown", shown)
            .set("retries", counts.retries)
            .set("lost", counts.lost)
            .set("unstable", counts.unstable)
            .set("cut", counts.cut)
            .set("restarts", counts.restarts)
            .set("executed_tasks", counts.tasks)
            .set("repeated_tasks", counts.all_tasks.saturating_sub(counts.tasks));
        stats
    }
}
