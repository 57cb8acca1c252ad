//! The program under test as the engines see it: threads that stop at each operation on a shared
//! object. In reading order:
//!
//! - `names`, `place`, `slot`: which thread and which object is the same one in another execution;
//! - `arena`: an allocator that makes this decidable for what lies on the heap;
//! - `version`, `contents`: data that the engines do not see;
//! - `strand`, `locals`: the state of a thread;
//! - `calls`: invocations of objects with specifications;
//! - `leaks`: values that outlive their owners;
//! - `core`: executions; `perform`: operations; `failure`: panics; `abort`: those that end the
//!   process;
//! - `program`: all of it, as a `ThreadProgram`.

pub(crate) use calls::Invocation;
pub(crate) use contents::Contents;
pub(crate) use core::with;
pub(crate) use leaks::{Leaked, allocated, freed};
pub(crate) use locals::{Local, Owned};
pub(crate) use names::Place;
pub(crate) use perform::{
    forget_owned, fresh_version, give_way, is_checking, is_stopping, note_owned, perform,
    perform_in_drop, run_to_end, unseen, version_of, version_of_model,
};
pub(crate) use place::{address_of_number, number_of_address, number_of_heap_address};
pub(crate) use slot::{About, Slot};
pub(crate) use version::{hash_of, mix};

pub use arena::Allocator;
pub use failure::{Panic, Position};
pub use program::{Program, Setting};

mod abort;
mod arena;
mod calls;
mod contents;
mod core;
mod failure;
mod leaks;
mod locals;
mod names;
mod perform;
mod place;
mod program;
mod slot;
mod strand;
mod version;
