//! How tests are run.

use std::path::PathBuf;
use std::time::Duration;

/// How a test is run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The size of the stacks of threads, in bytes. Stacks have 1 MiB at least.
    pub stack_size: usize,
    /// Not used: a failure prints its execution.
    pub failure_persistence: FailurePersistence,
    /// How many operations an execution may have.
    pub max_steps: MaxSteps,
    /// How long the test may take. What is left is then not checked, and the test passes.
    pub max_time: Option<Duration>,
    /// Not used.
    pub silence_warnings: bool,
    /// Not used.
    pub record_steps_in_span: bool,
    /// Not used: an execution that is cut short runs no destructors.
    pub ungraceful_shutdown_config: UngracefulShutdownConfig,
}

impl Config {
    /// Makes the configuration that tests have by default.
    #[must_use]
    pub fn new() -> Config {
        Config {
            stack_size: 0xf000,
            failure_persistence: FailurePersistence::Print,
            max_steps: MaxSteps::FailAfter(1_000_000),
            max_time: None,
            silence_warnings: false,
            record_steps_in_span: false,
            ungraceful_shutdown_config: UngracefulShutdownConfig::default(),
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config::new()
    }
}

/// Where a failing schedule goes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FailurePersistence {
    /// Nowhere.
    None,
    /// To standard error.
    Print,
    /// Into a file.
    File(Option<PathBuf>),
}

/// How many operations an execution may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MaxSteps {
    /// Any number that the engine allows.
    None,
    /// A longer one is a failure.
    FailAfter(usize),
    /// A longer one is not explored further. Here: a failure.
    ContinueAfter(usize),
}

/// What happens to what is left of an execution.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct UngracefulShutdownConfig {
    /// Not used.
    pub immediately_return_on_panic: bool,
    /// Not used.
    pub continuation_function_behavior: ContinuationFunctionBehavior,
}

impl UngracefulShutdownConfig {
    /// Makes the configuration that tests have by default.
    #[must_use]
    pub const fn new() -> UngracefulShutdownConfig {
        UngracefulShutdownConfig {
            immediately_return_on_panic: false,
            continuation_function_behavior: ContinuationFunctionBehavior::Leak,
        }
    }
}

/// What happens to the closures of threads.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum ContinuationFunctionBehavior {
    /// They are dropped.
    Drop,
    /// They are lost.
    #[default]
    Leak,
}
