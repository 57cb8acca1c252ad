//! Errors of running a program.

use crate::schedule::Divergence;
use anyorder_common::cancel::StopReason;

/// Why a system could not run a request. A failure *of the program* (an assertion, an exception) is
/// no such error: it is part of the run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The same schedule did not give the same run.
    #[error("unstable: {0}")]
    Unstable(String),
    /// The program or its host ended unexpectedly.
    #[error("crashed: {0}")]
    Crashed(String),
    /// The program did not answer within the time that its front end allows.
    #[error("timed out: {0}")]
    TimedOut(String),
    /// A choice could not be followed.
    #[error("{0}")]
    Diverged(Divergence),
    /// The job was stopped while it waited for the program.
    #[error("stopped: {0}")]
    Stopped(StopReason),
    /// The system cannot do this at all; its [`Capabilities`](crate::Capabilities) said so.
    #[error("not supported: {0}")]
    Unsupported(&'static str),
}
