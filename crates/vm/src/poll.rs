//! Polls the token and the memory of the job inside a step, and while a representative is sought.
//!
//! A step may execute millions of operations and copy gigabytes. So it polls every [`POLL_FUEL`]
//! instructions, and whenever it has copied or compared many elements. A poll that fails ends the
//! step without a result, and every later step of the same executor.

use crate::value::live_bytes;
use anyorder_system::JobWatch;

/// How many instructions run between two polls.
pub(crate) const POLL_FUEL: u64 = 1_000;

/// How many elements are read or copied between two polls: less than a millisecond. A change of a
/// container counts as an eighth of its length.
const POLL_WORK: u64 = 1 << 14;

/// What an execution counts for, at least: a start is not free.
pub(crate) const START_WORK: u64 = 64;

/// The job was stopped: what runs has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interrupted;

/// The polls of the steps of one state.
#[derive(Debug, Default)]
pub(crate) struct Poll {
    /// The watch of the thread, once needed. Most states need none.
    watch: Option<JobWatch>,
    /// The work since the last poll.
    done: u64,
    /// Whether a poll has failed.
    is_stopped: bool,
}

impl Poll {
    /// Counts work, and polls after much of it.
    #[inline]
    pub(crate) fn work(&mut self, elements: u64) -> Result<(), Interrupted> {
        self.done += elements;
        if self.done < POLL_WORK && !self.is_stopped { Ok(()) } else { self.now() }
    }

    /// Polls.
    #[cold]
    pub(crate) fn now(&mut self) -> Result<(), Interrupted> {
        self.done = 0;
        let watch = self.watch.get_or_insert_with(JobWatch::current);
        self.is_stopped |= watch.check_bytes(live_bytes()).is_err();
        if self.is_stopped { Err(Interrupted) } else { Ok(()) }
    }

    /// Returns whether a poll has failed: what came out since is no result.
    #[inline]
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped
    }
}
