//! The command `anyorder`: finds ordering bugs in recorded runs of event-driven and concurrent
//! programs.
//!
//! This crate owns the command line, the files and the exit statuses. The engines compute the
//! results and the report crate formats them; this crate computes only counts.

#![forbid(unsafe_code)]

use std::process::ExitCode;

mod args;
mod commands;
mod failure;
mod input;
mod load;
mod output;
mod panic;
mod search_watch;
mod units;
mod watch;
mod witness;

fn main() -> ExitCode {
    panic::guard(commands::run)
}
