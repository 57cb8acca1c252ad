//! The functions of the C library that ours stand in front of.

mod at_exit;
mod barrier;
mod c11;
mod cond;
mod descriptors;
mod dlopen;
mod files;
mod forward;
mod longjmp;
mod mapped;
mod memory;
mod messages;
mod mutex;
mod once;
mod operators;
mod processes;
mod rwlock;
mod semaphore;
pub(crate) mod signals;
mod sleeps;
mod streams;
mod strings;
mod threads;
mod times;
