//! Files from outside, and files that appear whole or not at all.
//!
//! Every byte that a program takes from outside enters through a [`Source`], mostly by [`read`]
//! with the bound of a [`FileKind`]. Every file that it makes leaves through [`AtomicFile`] or a
//! [`Folder`] of them. A test of the front end forbids the other ways.

mod atomic;
mod folder;
mod read;
mod sync;
mod target;
mod unfinished;

pub use atomic::AtomicFile;
pub use folder::Folder;
pub use read::{
    Ask, FileError, FileKind, Source, never_stop, open_regular, read, read_found, read_rest,
    read_system, text_of,
};
pub use unfinished::{end_files, remove_unfinished};
