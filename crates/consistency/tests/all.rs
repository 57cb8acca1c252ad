//! All tests of the crate in one binary: building and linking many takes longer than the tests.

#[path = "from_trace/main.rs"]
mod from_trace;
#[path = "procedures/main.rs"]
mod procedures;
#[path = "solver/main.rs"]
mod solver;
