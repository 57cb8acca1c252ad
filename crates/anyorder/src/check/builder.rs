//! Checks with settings.

use super::explore::{Limits, explore};
use super::summary::Summary;
use crate::runtime::{Program, Setting};
use std::sync::Arc;
use std::time::Duration;

/// Runs a closure in all of its executions.
///
/// # Panics
///
/// If an execution fails, not all could be run, or something is in [doubt](Summary::doubts).
///
/// ```
/// use anyorder::{sync::Mutex, thread};
/// anyorder::check(|| {
///     let count = Mutex::new(0);
///     thread::scope(|scope| {
///         scope.spawn(|| *count.lock().unwrap() += 1);
///         scope.spawn(|| *count.lock().unwrap() += 1);
///     });
///     assert_eq!(count.into_inner().unwrap(), 2);
/// });
/// ```
#[track_caller]
pub fn check(f: impl Fn() + Send + Sync + 'static) {
    Builder::new().check(f);
}

/// A check with settings.
///
/// ```
/// use anyorder::Builder;
/// let summary = Builder::new().executions_max(10).explore(|| {
///     let _ = anyorder::choose(100);
/// });
/// assert!(summary.incomplete.is_some() && summary.executions == 10);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[must_use = "nothing is checked until `check` is called"]
pub struct Builder {
    limits: Limits,
    setting: Setting,
}

impl Builder {
    /// Makes a builder of checks without a limit on executions.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Sets how many executions are run at most.
    pub fn executions_max(mut self, executions: u64) -> Builder {
        self.limits.executions_max = Some(executions);
        self
    }

    /// Sets how many operations an execution has at most.
    pub fn steps_max(mut self, steps: usize) -> Builder {
        self.limits.steps_max = steps;
        self
    }

    /// Makes the panic of a spawned thread a result of its join, as in the standard library, and no
    /// failure.
    pub fn panics_are_results(mut self) -> Builder {
        self.setting.panics_are_results = true;
        self
    }

    /// Makes it a failure if an [`Arc`](crate::sync::Arc), or memory of [`alloc`](crate::alloc), is
    /// left when all threads have ended. Nor may a static keep one.
    ///
    /// ```
    /// use anyorder::{Builder, sync::Arc};
    /// let leaky = || std::mem::forget(Arc::new(1));
    /// assert!(Builder::new().explore(leaky).is_ok());
    /// assert!(!Builder::new().leaks_are_failures().explore(leaky).is_ok());
    /// ```
    pub fn leaks_are_failures(mut self) -> Builder {
        self.setting.leaks_are_failures = true;
        self
    }

    /// Sets how long the check may take. What is left then makes it incomplete.
    pub fn time_max(mut self, time: Duration) -> Builder {
        self.limits.time_max = Some(time);
        self
    }

    /// Sets the size of the stacks of threads, in bytes.
    pub fn stack_size(mut self, size: usize) -> Builder {
        self.setting.stack_size = size;
        self
    }

    /// Runs a closure in all of its executions, and returns what was found.
    pub fn explore(self, f: impl Fn() + Send + Sync + 'static) -> Summary {
        let mut program = Program::with(self.setting, Arc::new(f));
        explore(&mut program, self.limits)
    }

    /// Runs a closure in all of its executions. Returns how many there are.
    ///
    /// # Panics
    ///
    /// If an execution fails, not all could be run, or something is in [doubt](Summary::doubts).
    #[track_caller]
    pub fn check(self, f: impl Fn() + Send + Sync + 'static) -> u64 {
        let summary = self.explore(f);
        assert!(summary.is_ok(), "{summary}");
        summary.executions
    }
}
