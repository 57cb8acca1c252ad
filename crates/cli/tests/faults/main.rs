//! Faults below files, clocks, threads, memory and children.
//!
//! A shim below the C library (`shim.c`, loaded by `LD_PRELOAD`) makes one call of the program
//! fail: for every command, every kind of call, at every call or a spread of them. After each fault
//! the program has ended with a documented status and a message, every file is the old or the new
//! one as a whole, and nothing else is left behind. `interrupt.rs` kills the program at a call, or
//! simulates a loss of power there.
//!
//! `ANYORDER_FAULTS=all` tries all calls, not a spread; `ANYORDER_FAULTS=COMMAND` those of one
//! command; `ANYORDER_FAULTS_BINARY` names another binary. Linux with glibc and a C compiler only;
//! elsewhere the tests say that they skip.

#![allow(clippy::print_stdout, reason = "the table of faults is the point of a run")]

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod interrupt;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod judge;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod scenario;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod shim;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod sweep;
