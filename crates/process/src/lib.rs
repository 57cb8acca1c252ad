//! What a command asks of its own process: memory and signals. It knows nothing of traces.
//!
//! [`Heap`] is an allocator for a program that has a guard, a thread that ends the program with the
//! result so far. An allocation that the system refuses, or that would pass a bound, never returns:
//! its thread sleeps until the guard has ended the program. [`Memory`] reads how much memory the
//! process uses, without using any.
//!
//! This is the only crate of the command with `unsafe` code, so the command itself has none.

pub use heap::{Heap, Refusal, begin, exempt_this_thread, freeze, refusal};
pub use memory::{Memory, machine_bytes, peak_bytes};
pub use signals::{
    Asked, end_at_once, hangup_is_ignored, ignore_hangup, last_signal, note_signals,
    survive_large_files,
};

mod heap;
mod memory;
mod signals;
