//! The search for memory that is used after it was freed, or freed twice.
//!
//! The engine sees no frees at first. Where the first exploration has met some after which the
//! memory may be used or freed again, the program is explored once more, with the frees as
//! operations. What goes wrong is noted by the program.

use super::explore::timed;
use crate::runtime::Program;
use anyorder_common::cancel::Cancel;
use anyorder_threads::{Incomplete, LearnOptions, Learnt, explore_by_learning};
use std::time::Duration;

/// As many times the transitions of the first exploration are searched, ...
const TIMES: u64 = 8;

/// ... and so many more.
const MORE: u64 = 1 << 20;

/// The transitions between two looks at whether the search is to stop.
const LOOKS_EVERY: u64 = 1 << 10;

/// Explores a program again if frees may matter. Returns the executions, and why something may be
/// missing. A program whose frees are
/// no function of the results, as with counts that are not seen, ends this early.
pub(super) fn watch(
    program: &mut Program,
    options: &LearnOptions,
    learnt: &Learnt,
    time_left: Option<Duration>,
) -> (u64, Option<Incomplete>) {
    let executions_max = options.executions_max.saturating_sub(learnt.executions);
    if learnt.incomplete.is_some() || executions_max == 0 || !program.begin_watching() {
        return (0, None);
    }
    let polls = (TIMES * learnt.transitions + MORE) / LOOKS_EVERY;
    let cancel = Cancel::after_polls(polls);
    let options = LearnOptions {
        executions_max,
        keeps_journal: false,
        resume: None,
        shorten_max: 0,
        cancel: cancel.clone(),
        turn: Cancel::new(),
        ..options.clone()
    };
    let watched = timed(time_left, &cancel, || explore_by_learning(program, &options));
    program.end_watching();
    (watched.executions, watched.incomplete)
}
