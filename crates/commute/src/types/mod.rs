//! The built-in types.

pub use built_in::{BuiltIn, built_in_type, built_in_types};

mod built_in;

mod state;

mod numbers;

mod containers;

mod sequences;

mod union_find;

mod synchronization;

mod resources;

mod semaphore;
