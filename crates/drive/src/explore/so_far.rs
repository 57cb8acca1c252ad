//! What a job publishes while it explores, so that a job that is cut says how far it got.

use crate::{JobControl, JobResult};
use anyorder_finding::stat;
use anyorder_system::Progress;
use std::sync::atomic::{AtomicU64, Ordering};

/// Publishes the number of runs beside what was found before.
pub(super) struct SoFar<'a> {
    pub(super) control: &'a JobControl<'a>,
    /// What was found before this exploration, with its counts.
    pub(super) before: JobResult,
    /// The runs before this exploration.
    pub(super) runs: u64,
    /// The most runs that were reported.
    pub(super) most: AtomicU64,
}

impl Progress for SoFar<'_> {
    fn report(&self, done: u64, total: Option<u64>) {
        // A run is reported when it ends, and again with those that were planned with it.
        let known = self.most.fetch_max(done, Ordering::Relaxed);
        self.control.progress.report(self.runs.saturating_add(known.max(done)), total);
        if known < done && is_published(done) {
            let mut result = self.before.clone();
            result.stats.set(stat::EXECUTIONS, self.runs.saturating_add(done));
            self.control.publish(result);
        }
    }

    fn phase(&self, name: &'static str) {
        self.control.progress.phase(name);
    }

    fn note(&self, text: &str) {
        self.control.progress.note(text);
    }
}

/// Whether the result after so many runs is published: each has a cost, and fast programs run
/// millions of times.
fn is_published(done: u64) -> bool {
    done < 64 || done < 4096 && done.is_multiple_of(64) || done.is_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_system::Control;
    use std::sync::Mutex;

    #[test]
    fn the_number_of_runs_is_published() {
        let seen = Mutex::new(Vec::new());
        let keep = |result: JobResult| {
            let count = result.stats.get("executions").and_then(anyorder_finding::Stat::integer);
            seen.lock().unwrap().push(count);
        };
        let control = JobControl::new(Control::default(), &keep);
        let (before, most) = (JobResult::default(), AtomicU64::new(0));
        let so_far = SoFar { control: &control, before, runs: 10, most };
        for done in [1, 2, 1, 63, 65, 128, 5000, 8192] {
            so_far.report(done, None);
        }
        assert_eq!(*seen.lock().unwrap(), [11, 12, 73, 138, 8202].map(Some));
    }
}
