//! What can go wrong between this program, the browser and the page.

use anyorder_system::{RunError, StopReason};
use std::path::PathBuf;
use std::time::Duration;

/// Why a browser or a page could not do what was asked. A failure of the page's own code is no such
/// error: it is part of the run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebError {
    /// No browser was found.
    #[error(
        "no Chromium found: {searched}\nhint: install it (`apt-get install chromium`, or Google Chrome), \
         or name its program with `--browser PATH`"
    )]
    NoBrowser {
        /// Where it was searched.
        searched: String,
    },
    /// The browser could not be started.
    #[error("cannot start the browser `{}`: {why}", program.display())]
    Start {
        /// Its program.
        program: PathBuf,
        /// The reason.
        why: String,
    },
    /// The browser ended, or closed its pipe.
    #[error("the browser ended")]
    Closed,
    /// The page's process ended.
    #[error("the page crashed")]
    PageCrashed,
    /// Something did not happen in time.
    #[error("{what}: nothing came within {within:?}")]
    TimedOut {
        /// What was waited for.
        what: String,
        /// How long.
        within: Duration,
    },
    /// The browser refused a command.
    #[error("the browser refuses `{method}`: {message}")]
    Refused {
        /// The command.
        method: String,
        /// Its reason.
        message: String,
    },
    /// The browser's answer has another form than expected.
    #[error("the browser's answer to `{0}` is not understood")]
    Answer(String),
    /// The address of the page cannot be loaded.
    #[error("cannot load `{url}`: {why}")]
    Load {
        /// The address.
        url: String,
        /// The reason.
        why: String,
    },
    /// The job was stopped.
    #[error("stopped: {0}")]
    Stopped(StopReason),
}

impl From<WebError> for RunError {
    fn from(error: WebError) -> RunError {
        match error {
            WebError::TimedOut { .. } => RunError::TimedOut(error.to_string()),
            WebError::Stopped(reason) => RunError::Stopped(reason),
            _ => RunError::Crashed(error.to_string()),
        }
    }
}
