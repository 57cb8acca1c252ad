//! Follows a search: updates the progress bar, and decides when a checkpoint is due.

use crate::args::SearchArgs;
use crate::watch::Watch;
use anyorder_drive::states::{Gauge, Order, SearchProgress, Watcher};
use std::time::Instant;

/// The maximum share of time for writing checkpoints is about one over this number.
const SHARE: u32 = 10;

/// Shows the progress of a search, and schedules its checkpoints.
pub(crate) struct SearchWatch<'a> {
    watch: &'a Watch,
    args: &'a SearchArgs,
    start: Instant,
    progress: Option<SearchProgress>,
    /// When the next checkpoint is due, and when the last one began.
    due: Instant,
    saving: Instant,
}

impl<'a> SearchWatch<'a> {
    /// Starts to follow a search.
    pub(crate) fn new(watch: &'a Watch, args: &'a SearchArgs) -> SearchWatch<'a> {
        let start = Instant::now();
        SearchWatch { watch, args, start, progress: None, due: start, saving: start }
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
        self.saving = Instant::now();
        // A search that was asked to stop saves its checkpoint before it returns.
        let due = self.saving >= self.due;
        let saves = self.args.checkpoint.is_some() && (due || self.watch.stopped().is_some());
        self.watch.saving(saves);
        due
    }

    fn saved(&mut self) {
        self.watch.saving(false);
        let pause = self.args.checkpoint_every.max(self.saving.elapsed() * (SHARE - 1));
        self.due = Instant::now().checked_add(pause).unwrap_or(self.saving);
    }
}
