//! The program under test as the engines see it: threads that stop at each operation on a shared
//! object. In reading order:
//!
//! - `names`, `place`, `slot`: which thread and which object is the same one in another execution;
//!   `registers`: objects without room for a slot;
//! - `arena`: an allocator that makes this decidable for what lies on the heap;
//! - `version`, `contents`: data that the engines do not see;
//! - `strand`, `locals`: the state of a thread;
//! - `calls`: invocations of objects with specifications;
//! - `leaks`: values that outlive their owners; `lifetimes`: memory that is freed too early, or
//!   handed over too early; `watch`: frees that the engine sees;
//! - `core`: executions; `perform`: operations; `failure`: panics; `abort`: those that end the
//!   process; `crash`: signals that do;
//! - `program`: all of it, as a `ThreadProgram`; `forks`: more of one, for several cores.

pub(crate) use calls::Invocation;
pub(crate) use contents::Contents;
pub(crate) use core::with;
pub(crate) use leaks::{Leaked, Log, allocated, freed};
pub(crate) use lifetimes::Misuse;
pub(crate) use locals::{Local, Owned};
pub(crate) use names::Place;
pub(crate) use perform::{
    excuse_leaks, forget_owned, fresh_version, give_way, guards_unseen, is_checking, is_stopping,
    note_counted, note_lock, note_owned, perform, perform_in_drop, run_to_end, unseen, version_of,
    version_of_model,
};
pub(crate) use place::{address_of_number, number_of_address, number_of_memory};
#[cfg(feature = "std-size")]
pub(crate) use registers::{end_at, keep_at, leave, moved_register, register_at, see_before_move};
#[cfg(not(feature = "std-size"))]
pub(crate) use slot::see_before_move;
pub(crate) use slot::{About, Slot};
pub(crate) use unsync::note_unsync_load;
pub(crate) use version::{hash_of, mix};

pub use arena::Allocator;
pub use failure::{Panic, Position};
pub use lifetimes::MisuseKind;
pub use program::{Program, Setting};

mod abort;
mod arena;
mod calls;
mod contents;
mod core;
#[cfg(unix)]
mod crash;
mod failure;
mod forks;
mod leaks;
mod lifetimes;
mod locals;
mod names;
mod perform;
mod place;
mod program;
#[cfg(feature = "std-size")]
mod registers;
mod slot;
mod strand;
mod unsync;
mod version;
mod watch;
