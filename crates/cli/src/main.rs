//! The command `anyorder`: finds ordering bugs in recorded runs of event-driven and concurrent
//! programs.
//!
//! This crate owns the command line, the files and the exit statuses. The engines compute the
//! results and the report crate formats them; this crate computes only counts.

#![forbid(unsafe_code)]

use anyorder_process::Heap;
use std::process::ExitCode;

mod args;
mod bugs;
mod commands;
mod failure;
mod guard;
mod input;
mod load;
mod output;
mod panic;
mod phase;
mod reading;
mod sanitizer_options;
mod search_watch;
mod source_lines;
mod streams;
mod units;
mod watch;
mod witness;

/// Memory that cannot be had ends the process with its result so far; see [`guard`].
#[global_allocator]
static HEAP: Heap = Heap;

fn main() -> ExitCode {
    panic::guard(commands::run)
}
