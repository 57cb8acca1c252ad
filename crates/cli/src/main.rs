//! The command `anyorder`: finds ordering bugs in recorded runs of event-driven and concurrent
//! programs.
//!
//! This crate decides what is typed, what is printed and which exit status is returned. What it
//! prints was found by the engines and written by the reports; it computes nothing of its own but
//! counts.

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
