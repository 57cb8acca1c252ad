//! Errors that end an analysis before the end of the trace.

use anyorder_trace::ReadError;

/// The reason why a trace could not be analysed to its end.
#[derive(Debug, thiserror::Error)]
pub enum PredictError {
    /// The trace could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// An event names an entry that the tables of its trace do not have.
    #[error("event {event} names {what} {index}, which the trace does not have")]
    Unknown {
        /// Number of the event, from 0.
        event: u64,
        /// The kind of the missing entry.
        what: &'static str,
        /// The number by which the event names it.
        index: u32,
    },
    /// A count exceeded 32 bits.
    #[error("too many {0} for one analysis")]
    TooMany(&'static str),
    /// The job was stopped.
    #[error("stopped")]
    Stopped,
}
