//! All suites of the crate. They are modules of it, because faults exist only where the crate is
//! compiled for its own tests: see `anyorder_common::sabotage`.

#[path = "from_trace/main.rs"]
mod from_trace;
#[path = "procedures/main.rs"]
mod procedures;
#[path = "solver/main.rs"]
mod solver;
