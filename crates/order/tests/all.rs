//! All suites of the crate. They are modules of it, because faults exist only where the crate is
//! compiled for its own tests: see `anyorder_common::sabotage`.

mod support;

mod clocks;
mod sat;
#[path = "solver/main.rs"]
mod solver;
