//! Traces of any size, streamed into a sink block by block, for benchmarks.
//!
//! Memory holds only tables and pending tasks. The same settings always give the same trace.
//! [`growth`] is different: it builds traces in memory, in which one thing grows.

pub use event_driven::{EventDriven, event_driven};
pub use fixpoint::{Fixpoint, fixpoint};
pub use locked::{Locked, locked};

pub mod growth;

mod event_driven;
mod fixpoint;
mod jobs;
mod locked;
mod mailboxes;
mod places;
mod stream;
