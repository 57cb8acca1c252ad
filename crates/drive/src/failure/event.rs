//! Events that a trace does not have.

use super::Hint;
use anyorder_common::numbers::plural;
use anyorder_common::text::escape;
use thiserror::Error;

/// Why a name is that of no event, or of no single one.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum NoEvent {
    /// The trace has no event of this name.
    #[error("{} has no event `{}`", escape(input), escape(label))]
    Unknown {
        /// The name of the trace.
        input: String,
        /// The name that was asked for.
        label: String,
        /// The names that there are.
        known: KnownEvents,
    },
    /// The trace has several events of this name.
    #[error("{} has {} with the name `{}`", escape(input), plural(*count, "event"), escape(label))]
    Ambiguous {
        /// The name of the trace.
        input: String,
        /// The name that was asked for.
        label: String,
        /// The number of its events.
        count: u64,
        /// The first ones: the name that is theirs alone, and what they are.
        first: Vec<(String, String)>,
    },
}

/// The names of the events of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KnownEvents {
    /// There are none.
    None,
    /// From the first to the last.
    Range(String, String),
    /// Accesses and operations have numbers of their own.
    AccessOrOperation,
}

impl NoEvent {
    pub(super) fn hint(&self) -> Hint {
        match self {
            NoEvent::Unknown { known, .. } => Hint::KnownEvents(known.clone()),
            NoEvent::Ambiguous { count, first, .. } => {
                Hint::WhichEvent { first: first.clone(), more: count - first.len() as u64 }
            }
        }
    }
}
