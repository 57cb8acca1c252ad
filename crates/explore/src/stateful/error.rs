//! Why a search could not be done.

/// Why a search could not be done.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// The system has no initial state.
    #[error("the program has no initial state")]
    NoInitialState,
    /// An invariant was given without the places that it looks at.
    #[error("the invariant `{invariant}` does not say which places it looks at")]
    NotWatching {
        /// Its name.
        invariant: String,
    },
    /// A task did something else when it was run again in an equal state: the contract of
    /// [`Reducible`](anyorder_system::Reducible) is broken.
    #[error("`{task}` did something else when it was run again in the same state")]
    NotRepeatable {
        /// The task.
        task: String,
    },
}
