//! The control of the job that runs on this thread.
//!
//! A state system or a program behind a pipe gets no [`Control`]: its methods take a state or a
//! choice. A single call of it can still take long. So an engine enters its control on each of its
//! threads, and a system asks for it inside a call.

use crate::control::Control;
use anyorder_common::cancel::{Cancel, StopReason, Stopped};
use std::cell::RefCell;
use std::fmt;

thread_local! {
    static CURRENT: RefCell<Option<JobWatch>> = const { RefCell::new(None) };
}

/// The token and the memory limit of a job, for the systems that work for it.
///
/// A system that is stopped in the middle of a call returns early, with an incomplete result. So
/// an engine asks [`Control::check`] after each call, and drops the result if the job was stopped.
///
/// ```
/// use anyorder_system::{Control, JobWatch, StopReason};
/// let control = Control::default();
/// let entered = JobWatch::of(&control).enter();
/// assert!(JobWatch::current().check().is_ok());
/// control.cancel.stop(StopReason::Interrupted);
/// assert!(JobWatch::current().check().is_err());
/// drop(entered);
/// assert!(JobWatch::current().check().is_ok());
/// ```
#[derive(Clone, Debug, Default)]
pub struct JobWatch {
    cancel: Option<Cancel>,
    memory_bytes: Option<u64>,
}

impl JobWatch {
    /// Returns the watch of a control.
    #[must_use]
    pub fn of(control: &Control<'_>) -> JobWatch {
        let memory_bytes = control.limits.memory_bytes;
        JobWatch { cancel: Some(control.cancel.clone()), memory_bytes }
    }

    /// Returns the watch of this thread. Without one, nothing stops the job.
    #[must_use]
    pub fn current() -> JobWatch {
        CURRENT.with_borrow(|current| current.clone().unwrap_or_default())
    }

    /// Makes this the watch of the thread until the returned value is dropped.
    #[must_use]
    pub fn enter(self) -> EnteredWatch {
        EnteredWatch { before: CURRENT.replace(Some(self)) }
    }

    /// Returns an error once the job was asked to stop.
    ///
    /// # Errors
    ///
    /// Fails after the token was stopped.
    pub fn check(&self) -> Result<(), Stopped> {
        self.cancel.as_ref().map_or(Ok(()), Cancel::check)
    }

    /// Returns an error once the job was asked to stop, or if `bytes` exceed its memory limit. The
    /// latter stops the job, so that its engine notices.
    ///
    /// # Errors
    ///
    /// Fails after the token was stopped, and if the limit is exceeded.
    pub fn check_bytes(&self, bytes: u64) -> Result<(), Stopped> {
        if self.memory_bytes.is_some_and(|limit| bytes > limit)
            && let Some(cancel) = &self.cancel
        {
            cancel.stop(StopReason::MemoryLimit);
        }
        self.check()
    }
}

/// While it lives, its thread has a [`JobWatch`]. Drop nested ones in reverse order.
pub struct EnteredWatch {
    before: Option<JobWatch>,
}

impl Drop for EnteredWatch {
    fn drop(&mut self) {
        CURRENT.set(self.before.take());
    }
}

impl fmt::Debug for EnteredWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnteredWatch").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    #[test]
    fn inner_watches_give_way_to_outer_ones() {
        let (outer, inner) = (Control::default(), Control::default());
        outer.cancel.stop(StopReason::TimeLimit);
        let _outer = JobWatch::of(&outer).enter();
        {
            let _inner = JobWatch::of(&inner).enter();
            assert_eq!(JobWatch::current().check(), Ok(()));
            std::thread::spawn(|| assert_eq!(JobWatch::current().check(), Ok(()))).join().unwrap();
        }
        assert_eq!(JobWatch::current().check(), Err(Stopped(StopReason::TimeLimit)));
    }

    #[test]
    fn too_many_bytes_stop_the_job() {
        let limits = Limits { memory_bytes: Some(10), ..Limits::NONE };
        let control = Control { limits, ..Control::default() };
        let watch = JobWatch::of(&control);
        assert_eq!(watch.check_bytes(10), Ok(()));
        assert_eq!(watch.check_bytes(11), Err(Stopped(StopReason::MemoryLimit)));
        assert_eq!(control.check(), Err(Stopped(StopReason::MemoryLimit)));
        assert_eq!(JobWatch::default().check_bytes(u64::MAX), Ok(()));
    }
}
