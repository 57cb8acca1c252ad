//! Errors of a search.

use anyorder_system::StopReason;
use std::io;

/// Why a search, a replay or a checkpoint failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The system has no initial state.
    #[error("the system has no initial state")]
    NoInitialState,
    /// The request needs whole states, which bitstate storage cannot distinguish.
    #[error("{0} cannot be done with bitstate storage")]
    NeedsStates(&'static str),
    /// Response properties are about particular components, which symmetry exchanges.
    #[error("response properties cannot be checked under symmetry")]
    ResponsesUnderSymmetry,
    /// Update conflicts are about particular components, and need the updates of all transitions.
    #[error("update conflicts are not looked for {0}")]
    NoUpdates(&'static str),
    /// A checkpoint does not hold what livelocks need.
    #[error("livelocks are not looked for in a search that is saved")]
    NoLivelocks,
    /// More fairness classes or properties than the search supports.
    #[error("too many {what}: {count}, at most {max}")]
    TooMany {
        /// The kind of items.
        what: &'static str,
        /// Their number.
        count: usize,
        /// The most items.
        max: usize,
    },
    /// A choice does not exist in this system.
    #[error("step {step}: no such choice among {among}")]
    NoSuchChoice {
        /// The step, 0 for the initial state.
        step: usize,
        /// The number of available choices.
        among: usize,
    },
    /// Representatives of equivalent states are not equal, or have other successors.
    #[error("the representatives of the system do not respect its transitions")]
    Symmetry,
    /// A state cannot be decoded from its own encoding.
    #[error("a state of the system cannot be decoded from its encoding")]
    Undecodable,
    /// The system has no memory for the requested storage.
    #[error("there is no memory for {bytes} bytes of storage")]
    NoMemory {
        /// Its size.
        bytes: u64,
    },
    /// The job was stopped in the middle of a replay.
    #[error("stopped: {0}")]
    Stopped(StopReason),
    /// A checkpoint is damaged.
    #[error("not a checkpoint: {0}")]
    NotACheckpoint(&'static str),
    /// A checkpoint belongs to another program or other options.
    #[error("the checkpoint is of something else: {what} is `{found}`, expected `{expected}`")]
    OtherCheckpoint {
        /// The item that differs.
        what: &'static str,
        /// Its value in the checkpoint.
        found: String,
        /// The expected value.
        expected: String,
    },
    /// A file could not be read or written.
    #[error("checkpoint file: {0}")]
    Io(#[from] io::Error),
}
