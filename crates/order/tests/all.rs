//! All tests of the crate in one binary: building and linking many takes longer than the tests.

mod support;

mod clocks;
mod sat;
#[path = "solver/main.rs"]
mod solver;
