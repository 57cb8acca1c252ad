//! The functions that the compiler calls.

pub(crate) mod accesses;
pub(crate) mod atomics;
mod calls;
