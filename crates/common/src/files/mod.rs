//! Files from outside, and files that appear whole or not at all.
//!
//! Every byte that a program takes from a file enters through [`read`]; every file that it makes
//! leaves through [`AtomicFile`] or a [`Folder`] of them. A test of the front end forbids the other
//! ways.

mod atomic;
mod folder;
mod sync;
mod target;
mod unfinished;

pub use atomic::AtomicFile;
pub use folder::Folder;
pub use unfinished::remove_unfinished;
