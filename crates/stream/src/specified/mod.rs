//! Specified objects: actions of events on objects whose types have commutativity specifications.

pub use communicating::{SpecifiedCall, SpecifiedCommunication};
pub use communication::{Communication, NoCommunication, Observation};
pub use internals::{Internals, hidden_events, without_internals};
pub use objects::{Described, ObjectSummary};
pub use specification::{LocksInMemory, Specified};
pub use types::{DeclareError, Types, Unspecified};

mod communicating;
mod communication;
mod compile;
mod internals;
mod lock_life;
mod objects;
mod resolve;
mod specification;
mod types;
