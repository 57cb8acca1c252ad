//! Errors of a search.

/// The reason why a search failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// The system has no initial state.
    #[error("the program has no initial state")]
    NoInitialState,
    /// An invariant does not list the places that it reads.
    #[error(
        "the invariant `{invariant}` does not list the places that it reads, which a reduced search needs: add it with `Properties::invariant_of`, or search all states"
    )]
    NotWatching {
        /// Its name.
        invariant: String,
    },
    /// A task had another effect when it was run again in an equal state. This breaks the contract
    /// of [`Reducible`](anyorder_system::Reducible).
    #[error("`{task}` did something else when it was run again in the same state")]
    NotRepeatable {
        /// The task.
        task: String,
    },
}
