//! Memoization: a step is executed once for all states in which it reads the same values.
//!
//! `recorder` records the reads and effects of an execution, `tree` keeps them, and `replay`
//! applies them to another state. `machine::Memoizable` says which functions qualify.

pub(crate) use self::leaf::{FlagWrite, Footprint, Leaf, MemoryWrite, StepResult};
pub(crate) use self::per_thread::{give_back, take, with};
pub(crate) use self::place::ReadPlace;
pub(crate) use self::recorder::Recorder;
pub(crate) use self::replay::replay;
pub(crate) use self::tree::{Found, Memo, Root};

mod leaf;
mod per_thread;
mod place;
mod recorder;
mod replay;
mod tree;
