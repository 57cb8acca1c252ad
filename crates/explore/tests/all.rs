//! All suites of the crate. They are modules of it, because faults exist only where the crate is
//! compiled for its own tests: see `anyorder_common::sabotage`.

mod common;

#[path = "paper/main.rs"]
mod paper;
#[path = "r4/main.rs"]
mod r4;
#[path = "stateful/main.rs"]
mod stateful;
