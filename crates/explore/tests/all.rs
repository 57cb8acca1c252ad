//! All tests of the crate in one binary: building and linking many takes longer than the tests.

mod common;

#[path = "paper/main.rs"]
mod paper;
#[path = "r4/main.rs"]
mod r4;
#[path = "stateful/main.rs"]
mod stateful;
