//! The controls of a long job: cancellation, progress, limits.

use crate::limits::Limits;
use crate::progress::{NoProgress, Progress};
use anyorder_common::cancel::{Cancel, StopReason, Stopped};
use std::fmt;

static SILENT: NoProgress = NoProgress;

/// Cancellation, progress and limits of one job.
///
/// ```
/// use anyorder_system::{Control, StopReason};
/// let control = Control::default();
/// assert!(control.check().is_ok());
/// control.cancel.stop(StopReason::Interrupted);
/// assert!(control.check().is_err());
/// ```
#[derive(Clone)]
pub struct Control<'a> {
    /// Checked every few thousand steps.
    pub cancel: Cancel,
    /// Receives the progress of the job.
    pub progress: &'a dyn Progress,
    /// Counted limits.
    pub limits: Limits,
}

impl Default for Control<'_> {
    fn default() -> Self {
        Control { cancel: Cancel::new(), progress: &SILENT, limits: Limits::NONE }
    }
}

impl fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control")
            .field("cancel", &self.cancel)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Control<'_> {
    /// Returns an error once the job was asked to stop.
    ///
    /// # Errors
    ///
    /// Fails after the token was stopped.
    #[inline]
    pub fn check(&self) -> Result<(), Stopped> {
        self.cancel.check()
    }

    /// Reports progress, and returns an error once the job was asked to stop.
    ///
    /// # Errors
    ///
    /// Fails after the token was stopped.
    pub fn step(&self, done: u64, total: Option<u64>) -> Result<(), Stopped> {
        self.progress.report(done, total);
        self.check()
    }

    /// Returns an error if `bytes` more than `used` would exceed the memory limit.
    ///
    /// # Errors
    ///
    /// Fails if the limit would be exceeded; nothing is recorded.
    pub fn check_memory(&self, used: u64, bytes: u64) -> Result<(), Stopped> {
        if self.limits.memory_exceeded(used, bytes) {
            return Err(Stopped(StopReason::MemoryLimit));
        }
        Ok(())
    }
}
