//! What runs tests.

use crate::config::{Config, MaxSteps};
use crate::environment;
use crate::scheduler::Scheduler;
use std::fmt;
use std::panic::Location;
use std::time::{Duration, Instant};

/// The least stack of a thread: the engine's own calls need some of it.
const STACK_MIN: usize = 1 << 20;

/// The most operations of an execution.
const STEPS_MAX: usize = 100_000;

/// How long a test explores that would only have sampled, unless it or `ANYORDER_TIME_MAX` says
/// otherwise.
const TIME_USUAL: Duration = Duration::from_secs(60);

/// Runs a test. The scheduler has no effect: every execution is explored.
pub struct Runner<S: ?Sized + Scheduler> {
    config: Config,
    scheduler: Box<S>,
}

impl<S: Scheduler + 'static> Runner<S> {
    /// Makes one.
    pub fn new(scheduler: S, config: Config) -> Runner<S> {
        Runner { config, scheduler: Box::new(scheduler) }
    }

    /// Explores a closure. Returns how many executions were run.
    ///
    /// # Panics
    ///
    /// If an execution fails, or something kept the exploration from being complete other than
    /// time.
    #[track_caller]
    pub fn run<F>(self, f: F) -> usize
    where
        F: Fn() + Send + Sync + 'static,
    {
        let not_done = self.scheduler.not_done();
        not_done.into_iter().for_each(environment::say);
        explore(&self.config, f, Location::caller())
    }
}

impl<S: ?Sized + Scheduler> fmt::Debug for Runner<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner").field("config", &self.config).finish_non_exhaustive()
    }
}

#[track_caller]
pub(crate) fn explore<F>(config: &Config, f: F, at: &Location<'_>) -> usize
where
    F: Fn() + Send + Sync + 'static,
{
    environment::report_ignored();
    let steps_max = match config.max_steps {
        MaxSteps::FailAfter(steps) | MaxSteps::ContinueAfter(steps) => steps.min(STEPS_MAX),
        MaxSteps::None => STEPS_MAX,
    };
    let builder = anyorder::Builder::new()
        .stack_size(config.stack_size.max(STACK_MIN))
        .steps_max(steps_max);
    let builder = match config.max_time {
        Some(most) => builder.time_max(most),
        None => builder.time_usual(TIME_USUAL),
    };
    let start = Instant::now();
    let summary = builder.try_check(f);
    let (executions, seconds) = (summary.executions, start.elapsed().as_secs_f64());
    if environment::is_set("ANYORDER_LOG") {
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
    } else {
        // Tests expect the words of shuttle.
        let is_deadlock = |failure: &anyorder::Failure| failure.class() == "deadlock";
        let words = if summary.failures.iter().any(is_deadlock) { "deadlock! " } else { "" };
        assert!(summary.is_ok(), "{words}{summary}");
        if let Some(explored) = summary.explored() {
            environment::say(&format!("{at}: {explored}"));
        }
    }
    executions as usize
}

/// Runs a test. The schedulers have no effect: every execution is explored, once.
pub struct PortfolioRunner {
    config: Config,
}

impl PortfolioRunner {
    /// Makes one.
    #[must_use]
    pub fn new(_stop_on_first_failure: bool, config: Config) -> PortfolioRunner {
        PortfolioRunner { config }
    }

    /// Adds a scheduler, which has no effect.
    pub fn add(&mut self, scheduler: impl Scheduler + Send + 'static) {
        scheduler.not_done().into_iter().for_each(environment::say);
    }

    /// Explores a closure.
    ///
    /// # Panics
    ///
    /// As [`Runner::run`].
    #[track_caller]
    pub fn run<F>(self, f: F)
    where
        F: Fn() + Send + Sync + 'static,
    {
        explore(&self.config, f, Location::caller());
    }
}

impl fmt::Debug for PortfolioRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PortfolioRunner").finish_non_exhaustive()
    }
}
