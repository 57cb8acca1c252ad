//! The functions of the C library that ours stand in front of.

mod barrier;
mod c11;
mod cond;
mod descriptors;
mod dlopen;
mod files;
mod longjmp;
mod memory;
mod mutex;
mod once;
mod rwlock;
mod semaphore;
pub(crate) mod signals;
mod strings;
mod threads;
