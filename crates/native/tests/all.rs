//! All tests of the crate in one binary.

mod hostile;
mod merged;
mod packed;
mod parts;
mod plan;
mod simulated;
mod synthetic;
mod traces;
mod variables;
