//! Ends the process within its limits, whatever the job does.
//!
//! The job is asked to stop first: the [`Cancel`](anyorder_system::Cancel) of its control says why.
//! An engine that polls returns what it found, and the command prints it. If the job has not ended
//! [`GRACE`] later, or if memory goes on to a hard bound, the guard ends the process: it removes
//! unfinished files, ends child programs, prints the result that the job had published, and exits.
//!
//! | thread | does |
//! | --- | --- |
//! | the job | works, publishes results in the [`Draft`], and calls [`claim`](crate::phase::claim) before it writes |
//! | signals | asks the job to stop, or the process to end |
//! | [`poll`] | watches time, memory and signals; asks, waits, and exits; it never blocks |
//! | [`writer`] | writes the result in place of the job; it may block, so `poll` exits without it |
//!
//! Only one thread writes the result: the one that [`phase`](crate::phase) gives the output to.

pub(crate) use draft::{Cut, Document, Done, Draft, Kind, LastWords, hurried};
pub(crate) use poll::{Checkpoints, Guard};
pub(crate) use poll::{is_late, set_status};
pub(crate) use writer::print_cut;

mod draft;
pub(crate) mod foreground;
mod poll;
mod writer;

use anyorder_drive::stopped_by;
use anyorder_finding::{OptionName, option};
use anyorder_system::StopReason;
use std::fmt;
use std::time::Duration;

/// How long the job may take to stop and to begin its output, after it was asked.
const GRACE: Duration = Duration::from_millis(450);

/// How long the process may live after the job was asked to stop. A job that prints a large result
/// is cut then. What follows, cleaning up and a last message, must end within a second.
const LAST: Duration = Duration::from_millis(700);

/// The most findings in a result that is written in a hurry.
pub(crate) const HURRIED_FINDINGS_MAX: usize = 1_000;

/// The most findings in a result that is written while memory is short.
const SHORT_FINDINGS_MAX: usize = 100;

/// Returns the most findings in a result that is written in a hurry, for a reason.
pub(crate) const fn hurried_max(reason: StopReason) -> usize {
    match reason {
        StopReason::MemoryLimit => SHORT_FINDINGS_MAX,
        _ => HURRIED_FINDINGS_MAX,
    }
}

/// Why the process ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cause {
    /// A limit, or a signal.
    Stop(StopReason),
    /// The system has no more memory.
    OutOfMemory,
}

impl Cause {
    /// Returns the most findings in a result that is written for this cause.
    const fn hurried_max(self) -> usize {
        match self {
            Cause::Stop(reason) => hurried_max(reason),
            Cause::OutOfMemory => SHORT_FINDINGS_MAX,
        }
    }

    /// Returns the name under which a result lists it among its `limits`.
    const fn name(self) -> OptionName {
        match self {
            Cause::Stop(reason) => stopped_by(reason),
            Cause::OutOfMemory => option::OUT_OF_MEMORY,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Stop(reason) => reason.fmt(f),
            Cause::OutOfMemory => f.write_str("the system has no more memory"),
        }
    }
}
