//! All tests of the crate in one binary: building and linking many takes longer than the tests.

mod common;

mod android;
mod programs;
mod reductions;
