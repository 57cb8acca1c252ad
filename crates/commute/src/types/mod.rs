//! The built-in types.

pub use built_in::{BuiltIn, built_in_type, built_in_types};

mod built_in;
mod containers;
mod numbers;
mod resources;
mod semaphore;
mod sequences;
mod state;
mod synchronization;
mod union_find;
mod wait_group;
