//! Why a search could not be done.

use std::io;

/// Why a search, a replay or a checkpoint could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The system has no initial state.
    #[error("the system has no initial state")]
    NoInitialState,
    /// What is asked needs states to be told apart, which bitstate storage cannot.
    #[error("{0} cannot be done with bitstate storage")]
    NeedsStates(&'static str),
    /// Response properties are about particular components, which symmetry exchanges.
    #[error("response properties cannot be checked under symmetry")]
    ResponsesUnderSymmetry,
    /// Update conflicts are about particular components, and need the updates of all transitions.
    #[error("update conflicts are not looked for {0}")]
    NoUpdates(&'static str),
    /// More fairness classes or properties than can be kept.
    #[error("too many {what}: {count}, at most {max}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        max: usize,
    },
    /// A choice does not exist in this system.
    #[error("step {step}: no such choice among {among}")]
    NoSuchChoice {
        /// The step, 0 for the initial state.
        step: usize,
        /// The number of choices there.
        among: usize,
    },
    /// Representatives of equivalent states are not equal, or lead elsewhere.
    #[error("the representatives of the system do not respect its transitions")]
    Symmetry,
    /// A state cannot be decoded from its own encoding.
    #[error("a state of the system cannot be decoded from its encoding")]
    Undecodable,
    /// A checkpoint is damaged.
    #[error("not a checkpoint: {0}")]
    NotACheckpoint(&'static str),
    /// A checkpoint is of another program or other options.
    #[error("the checkpoint is of something else: {what} is `{found}`, expected `{expected}`")]
    OtherCheckpoint {
        /// What differs.
        what: &'static str,
        /// What the checkpoint says.
        found: String,
        /// What was wanted.
        expected: String,
    },
    /// A file could not be read or written.
    #[error("checkpoint file: {0}")]
    Io(#[from] io::Error),
}
