//! All tests of the crate in one binary.

mod heap_merge;
mod hostile;
mod merged;
mod packed;
mod parts;
mod permits;
mod plan;
mod reduced;
mod reduced_runs;
mod simulated;
mod synthetic;
mod traces;
mod variables;

// What the files of the crate that tests include find there.
use anyorder_native::recording;
