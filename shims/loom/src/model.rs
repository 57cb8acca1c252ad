//! Models: closures, explored in all of their executions.

use crate::environment::{self, number};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long a model is explored of which nothing says how long it may take.
const TIME_USUAL: Duration = Duration::from_secs(60);

/// How a closure is explored.
#[derive(Debug)]
#[non_exhaustive]
pub struct Builder {
    /// Not used: there is no limit on threads.
    pub max_threads: usize,
    /// Not used: an execution may have 100,000 operations.
    pub max_branches: usize,
    /// How many executions are run at most. The rest is then not checked, and the model passes.
    pub max_permutations: Option<usize>,
    /// How long the exploration may take, 60 s if nothing says so. The rest is then not checked,
    /// and the model passes.
    pub max_duration: Option<Duration>,
    /// Not used: every number of preemptions is explored.
    pub preemption_bound: Option<usize>,
    /// Not used.
    pub checkpoint_file: Option<PathBuf>,
    /// Not used.
    pub checkpoint_interval: usize,
    /// Not used: everything is explored from the start on.
    pub expect_explicit_explore: bool,
    /// Not used: failures always have positions.
    pub location: bool,
    /// Says on standard error what was explored.
    pub log: bool,
}

impl Builder {
    /// Makes a builder, with what the variables of loom ask for.
    #[must_use]
    pub fn new() -> Builder {
        Builder {
            max_threads: crate::MAX_THREADS,
            max_branches: 1_000,
            max_permutations: number("LOOM_MAX_PERMUTATIONS"),
            max_duration: number("LOOM_MAX_DURATION").map(Duration::from_secs),
            preemption_bound: None,
            checkpoint_file: None,
            checkpoint_interval: 20_000,
            expect_explicit_explore: false,
            location: false,
            log: environment::is_set("LOOM_LOG") || environment::is_set("ANYORDER_LOG"),
        }
    }

    /// Has no effect.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Builder {
        self.checkpoint_file = Some(PathBuf::from(file));
        self
    }

    /// Explores a closure.
    ///
    /// # Panics
    ///
    /// If an execution fails, or something kept the exploration from being complete other than a
    /// limit on time or executions.
    #[track_caller]
    pub fn check<F>(&self, f: F)
    where
        F: Fn() + Sync + Send + 'static,
    {
        let at = std::panic::Location::caller();
        environment::report_ignored();
        self.report_ignored(at);
        let mut builder = anyorder::Builder::new();
        if let Some(most) = self.max_permutations {
            builder = builder.executions_max(most as u64);
        }
        builder = match self.max_duration {
            Some(most) => builder.time_max(most),
            None => builder.time_usual(TIME_USUAL),
        };
        let body = move || {
            f();
            crate::lazy_static::shut_down();
        };
        let start = Instant::now();
        let summary = builder.try_check(body);
        let (executions, seconds) = (summary.executions, start.elapsed().as_secs_f64());
        if self.log {
            let states = summary.states;
            environment::say(&format!(
                "{at}: {executions} executions, {states} states, {seconds:.2} s"
            ));
        }
        if summary.is_cut_by_limit() && summary.failures.is_empty() {
            let explored = summary.explored().map(|words| format!(", {words}")).unwrap_or_default();
            environment::say(&format!(
                "{at}: NOT COMPLETE: {executions} executions were run in {seconds:.0} s{explored}; \
                 what is left was not checked (ANYORDER_TIME_MAX=SECONDS allows more)"
            ));
            return;
        }
        assert!(summary.is_ok(), "{summary}");
        if let Some(explored) = summary.explored() {
            environment::say(&format!("{at}: {explored}"));
        }
    }

    fn report_ignored(&self, at: &std::panic::Location<'_>) {
        if self.preemption_bound.is_some() {
            environment::say(&format!(
                "{at}: the preemption bound is not used: every number of preemptions is explored, \
                 unless ANYORDER_PREEMPTIONS bounds it"
            ));
        }
        if self.checkpoint_file.is_some() {
            environment::say(&format!("{at}: the checkpoint file is not used"));
        }
    }
}

impl Default for Builder {
    fn default() -> Builder {
        Builder::new()
    }
}

/// Explores a closure in all of its executions.
///
/// # Panics
///
/// As [`Builder::check`].
#[track_caller]
pub fn model<F>(f: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(f);
}
