//! All tests of the crate in one binary: building and linking many takes longer than the tests.

mod atomic_files;
mod bounded_reads;
mod unfinished;
