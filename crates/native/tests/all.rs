//! All tests of the crate in one binary.

mod hostile;
mod merged;
mod simulated;
mod synthetic;
mod traces;
