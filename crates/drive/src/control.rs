//! The control of a job that gives what it has found so far.

use crate::result::JobResult;
use anyorder_system::Control;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A [`Control`], and a listener for what the job has found so far. It serves wherever a
/// [`Control`] is asked for.
///
/// A caller that may have to end a job before it returns keeps what the listener was given last: it
/// replaces what came before. A job gives it after each of its phases, and while it searches, from
/// any of its threads. `F` is what the job finds: a [`JobResult`], or a smaller
/// [`Schedule`](anyorder_system::Schedule).
///
/// ```
/// use anyorder_drive::model::{Model, check_model};
/// use anyorder_drive::states::CheckOptions;
/// use anyorder_drive::{JobControl, JobResult};
/// use anyorder_system::Control;
/// use std::sync::Mutex;
///
/// let model = Model::compile("late.any", "model late\nvar x = 0;\nevent click { assert x == 1; }")?;
/// let last = Mutex::new(JobResult::default());
/// let keep = |so_far| *last.lock().unwrap() = so_far;
/// let control = JobControl::new(Control::default(), &keep);
/// check_model(&model, &CheckOptions::default(), &control)?;
/// assert_eq!(last.lock().unwrap().findings.len(), 1);
/// # Ok::<(), anyorder_drive::Failure>(())
/// ```
pub struct JobControl<'a, F = JobResult> {
    /// What the engines below the job get.
    pub control: Control<'a>,
    /// Takes what the job has found so far.
    pub found: &'a (dyn Fn(F) + Sync),
}

impl<'a, F> JobControl<'a, F> {
    /// Adds a listener to a control.
    #[must_use]
    pub fn new(control: Control<'a>, found: &'a (dyn Fn(F) + Sync)) -> JobControl<'a, F> {
        JobControl { control, found }
    }

    /// Gives what was found so far to the listener.
    pub fn publish(&self, so_far: F) {
        (self.found)(so_far);
    }
}

/// Nobody listens.
impl<F> Default for JobControl<'_, F> {
    fn default() -> Self {
        Control::default().into()
    }
}

/// Nobody listens.
impl<'a, F> From<Control<'a>> for JobControl<'a, F> {
    fn from(control: Control<'a>) -> JobControl<'a, F> {
        JobControl { control, found: &drop::<F> }
    }
}

/// Nobody listens. The token is the same one.
impl<'a, F> From<&Control<'a>> for JobControl<'a, F> {
    fn from(control: &Control<'a>) -> JobControl<'a, F> {
        control.clone().into()
    }
}

impl<F> Clone for JobControl<'_, F> {
    fn clone(&self) -> Self {
        JobControl { control: self.control.clone(), found: self.found }
    }
}

impl<F> fmt::Debug for JobControl<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobControl").field("control", &self.control).finish_non_exhaustive()
    }
}

impl<'a, F> Deref for JobControl<'a, F> {
    type Target = Control<'a>;

    fn deref(&self) -> &Control<'a> {
        &self.control
    }
}

impl<F> DerefMut for JobControl<'_, F> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.control
    }
}
