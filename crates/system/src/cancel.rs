//! Cancellation of long jobs.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

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
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("stopped: {0}")]
pub struct Stopped(pub StopReason);

/// A token: the caller asks the job to stop, and the job checks it now and then. Clones are the
/// same token.
///
/// ```
/// use anyorder_system::{Cancel, StopReason};
/// let cancel = Cancel::new();
/// let elsewhere = cancel.clone();
/// assert!(cancel.check().is_ok());
/// elsewhere.stop(StopReason::TimeLimit);
/// assert_eq!(cancel.reason(), Some(StopReason::TimeLimit));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    state: Arc<AtomicU8>,
}

impl Cancel {
    /// Makes a token without a request to stop.
    #[must_use]
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Asks the job to stop. The first reason stays.
    pub fn stop(&self, reason: StopReason) {
        // It fails if a reason is stored already.
        let _ = self.state.compare_exchange(0, reason as u8, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Returns the reason, once the job was asked to stop. One relaxed load: cheap enough for every
    /// thousandth event.
    #[inline]
    #[must_use]
    pub fn reason(&self) -> Option<StopReason> {
        StopReason::from_number(self.state.load(Ordering::Relaxed))
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
    fn every_reason_survives_the_token() {
        for reason in [StopReason::Interrupted, StopReason::TimeLimit, StopReason::MemoryLimit] {
            let cancel = Cancel::new();
            cancel.stop(reason);
            assert_eq!(cancel.reason(), Some(reason));
        }
    }
}
