//! From automations to a program of the machine.

pub use effect::{Effect, effects};
pub use facts::{Facts, facts_of};
pub(crate) use program::CALL;
pub use program::{LowerError, Lowered, Options, lower};
pub use scenario::Op;
pub use table::Table;

mod call;
mod condition;
mod effect;
mod emit;
mod facts;
mod outside;
mod program;
mod runs;
mod scenario;
mod step;
mod table;
mod template;
mod timers;
mod tree;
mod trigger;
