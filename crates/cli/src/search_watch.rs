//! Follows a search: updates the progress bar, and decides when a checkpoint is due.

use crate::args::SearchArgs;
use crate::watch::Watch;
use anyorder_drive::states::{Gauge, Order, SearchProgress, Watcher};
use anyorder_system::StopReason;
use std::time::{Duration, Instant};

/// The maximum share of time for writing checkpoints is about one over this number.
const SHARE: u32 = 10;

/// The bytes of a search that a first checkpoint saves in a second, until one was measured.
const BYTES_PER_SECOND: u64 = 50 << 20;

/// What a checkpoint takes at least: it is synced.
const SAVE_MIN: Duration = Duration::from_millis(50);

/// Shows the progress of a search, and schedules its checkpoints.
pub(crate) struct SearchWatch<'a> {
    watch: &'a Watch,
    args: &'a SearchArgs,
    start: Instant,
    progress: Option<SearchProgress>,
    /// When the next checkpoint is due, and when the last one began.
    due: Instant,
    saving: Instant,
    /// The bytes of the search now.
    bytes: u64,
    /// The last checkpoint: what it took, and the bytes of the search.
    last: Option<(Duration, u64)>,
}

impl<'a> SearchWatch<'a> {
    /// Starts to follow a search.
    pub(crate) fn new(watch: &'a Watch, args: &'a SearchArgs) -> SearchWatch<'a> {
        let start = Instant::now();
        SearchWatch {
            watch,
            args,
            start,
            progress: None,
            due: start,
            saving: start,
            bytes: 0,
            last: None,
        }
    }

    /// Returns how long saving a checkpoint takes now, about. It grows with the search.
    fn cost(&self) -> Duration {
        let (time, bytes) = self.last.unwrap_or((Duration::from_secs(1), BYTES_PER_SECOND));
        time.mul_f64(self.bytes as f64 / bytes.max(1) as f64).max(SAVE_MIN)
    }

    /// Ends the search while there is time to save it before the time limit.
    fn end_in_time(&self) {
        let left = self.watch.left();
        if self.args.checkpoint.is_some() && left.is_some_and(|left| left < self.cost() * 2) {
            self.watch.stop(StopReason::TimeLimit);
        }
    }
}

impl Watcher for SearchWatch<'_> {
    fn pause(&mut self, gauge: &Gauge) -> bool {
        let Some(progress) = &mut self.progress else {
            let levels = self.args.order == Order::Breadth;
            self.progress = Some(SearchProgress::new(gauge, levels, self.args.max_depth));
            self.start = Instant::now();
            return false;
        };
        progress.note(gauge);
        self.watch.detail(progress.words(self.start.elapsed()));
        self.bytes = gauge.bytes;
        self.end_in_time();
        self.saving = Instant::now();
        // A search that was asked to stop saves its checkpoint before it returns.
        let due = self.saving >= self.due;
        let saves = self.args.checkpoint.is_some() && (due || self.watch.stopped().is_some());
        self.watch.saving(saves);
        due
    }

    fn saved(&mut self) {
        self.watch.saving(false);
        self.last = (self.bytes > 0).then(|| (self.saving.elapsed(), self.bytes)).or(self.last);
        let pause = self.args.checkpoint_every.max(self.saving.elapsed() * (SHARE - 1));
        self.due = Instant::now().checked_add(pause).unwrap_or(self.saving);
    }
}
