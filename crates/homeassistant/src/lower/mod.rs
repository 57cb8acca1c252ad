//! From automations to a program of the machine.

pub(crate) use assume::{GIVEN, UNKNOWN};
pub use bus::Bus;
pub use effect::{Effect, effects};
pub use facts::{Facts, facts_of};
pub(crate) use program::CALL;
pub use program::{LowerError, Lowered, Options};
pub(crate) use runs::{BEGAN, DROPPED, NOTE, OVERLAPS, RESTARTED};
pub use scenario::Op;
pub use scope::lower;
pub use table::Table;

mod assume;
mod bus;
mod call;
mod condition;
mod data;
mod effect;
mod emit;
mod facts;
mod outside;
mod program;
mod prune;
mod runs;
mod scenario;
mod scope;
mod step;
mod table;
mod template;
mod timers;
mod tree;
mod trigger;
