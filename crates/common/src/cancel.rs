//! Cancellation of long jobs.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Why a job has to stop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum StopReason {
    /// The user pressed Ctrl-C, or the job's owner no longer wants the answer.
    Interrupted = 1,
    /// The time limit passed. Engines read no clock: their caller does, and cancels.
    TimeLimit = 2,
    /// The memory limit was reached.
    MemoryLimit = 3,
}

impl StopReason {
    /// Returns the name under which a report lists it among its `limits`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            StopReason::Interrupted => "interrupt",
            StopReason::TimeLimit => "time-limit",
            StopReason::MemoryLimit => "memory-limit",
        }
    }

    const fn from_number(number: u8) -> Option<StopReason> {
        match number {
            1 => Some(StopReason::Interrupted),
            2 => Some(StopReason::TimeLimit),
            3 => Some(StopReason::MemoryLimit),
            _ => None,
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StopReason::Interrupted => "interrupted",
            StopReason::TimeLimit => "time limit reached",
            StopReason::MemoryLimit => "memory limit reached",
        })
    }
}

/// The error of a job that was stopped before its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stopped(pub StopReason);

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stopped: {}", self.0)
    }
}

impl std::error::Error for Stopped {}

/// A token: the caller asks the job to stop, and the job checks it now and then. Clones are the
/// same token.
///
/// ```
/// use anyorder_common::cancel::{Cancel, StopReason};
/// let cancel = Cancel::new();
/// let elsewhere = cancel.clone();
/// assert!(cancel.check().is_ok());
/// elsewhere.stop(StopReason::TimeLimit);
/// assert_eq!(cancel.reason(), Some(StopReason::TimeLimit));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Zero, the number of a [`StopReason`], or [`COUNTING`].
    state: AtomicU8,
    /// While counting: how many more polls succeed.
    polls_left: AtomicU64,
}

/// The state of a token that counts its polls.
const COUNTING: u8 = u8::MAX;

impl Cancel {
    /// Makes a token without a request to stop.
    #[must_use]
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Makes a token that stops itself: `polls` polls succeed, the next one and all later ones
    /// return [`StopReason::Interrupted`]. With it, tests stop a job at each of its polls in turn.
    #[must_use]
    pub fn after_polls(polls: u64) -> Cancel {
        let cancel = Cancel::new();
        cancel.shared.polls_left.store(polls, Ordering::Relaxed);
        cancel.shared.state.store(COUNTING, Ordering::Relaxed);
        cancel
    }

    /// Returns how many more polls a token made by [`after_polls`](Self::after_polls) lets pass.
    #[must_use]
    pub fn polls_left(&self) -> u64 {
        self.shared.polls_left.load(Ordering::Relaxed)
    }

    /// Asks the job to stop. The first reason stays.
    pub fn stop(&self, reason: StopReason) {
        // Only the first request finds a state without a reason.
        let _ = self.shared.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |state| {
            StopReason::from_number(state).is_none().then_some(reason as u8)
        });
    }

    /// Returns the reason, once the job was asked to stop. One relaxed load: cheap enough for every
    /// thousandth event.
    #[inline]
    #[must_use]
    pub fn reason(&self) -> Option<StopReason> {
        match self.shared.state.load(Ordering::Relaxed) {
            0 => None,
            state => self.reason_of(state),
        }
    }

    #[cold]
    fn reason_of(&self, state: u8) -> Option<StopReason> {
        if state == COUNTING {
            let left = &self.shared.polls_left;
            let less = |polls: u64| polls.checked_sub(1);
            if left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok() {
                return None;
            }
            self.stop(StopReason::Interrupted);
            return self.reason();
        }
        StopReason::from_number(state)
    }

    /// Returns an error once the job was asked to stop, for use with `?`.
    ///
    /// # Errors
    ///
    /// Fails after [`stop`](Self::stop).
    #[inline]
    pub fn check(&self) -> Result<(), Stopped> {
        self.reason().map_or(Ok(()), |reason| Err(Stopped(reason)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_stays() {
        let cancel = Cancel::new();
        assert_eq!(cancel.check(), Ok(()));
        cancel.stop(StopReason::MemoryLimit);
        cancel.clone().stop(StopReason::Interrupted);
        assert_eq!(cancel.check(), Err(Stopped(StopReason::MemoryLimit)));
    }

    #[test]
    fn a_counting_token_lets_some_polls_pass() {
        let cancel = Cancel::after_polls(2);
        assert_eq!(cancel.check(), Ok(()));
        assert_eq!(cancel.clone().check(), Ok(()));
        assert_eq!(cancel.polls_left(), 0);
        assert_eq!(cancel.check(), Err(Stopped(StopReason::Interrupted)));
        assert_eq!(cancel.reason(), Some(StopReason::Interrupted));
        let cancel = Cancel::after_polls(2);
        cancel.stop(StopReason::TimeLimit);
        assert_eq!(cancel.reason(), Some(StopReason::TimeLimit));
    }

    #[test]
    fn every_reason_survives_the_token() {
        for reason in [StopReason::Interrupted, StopReason::TimeLimit, StopReason::MemoryLimit] {
            let cancel = Cancel::new();
            cancel.stop(reason);
            assert_eq!(cancel.reason(), Some(reason));
        }
    }
}
