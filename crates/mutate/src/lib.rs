//! Runs the binary on mutated inputs under random command lines, and judges what it does.
//!
//! A *case* is a command line and the files that it names. Files start as seeds of all formats
//! ([`Seeds`]): those of the checkout, and what the binary makes of them. They are mutated with
//! knowledge of their structure ([`change`]), and checksums are made right again ([`repair`]). The
//! commands and options come from the binary's own help ([`grammar`]), so new ones are tried as
//! soon as they exist. [`judge`] says what no run may do: end by a signal or a bug, be late, take
//! more memory than allowed, print invalid JSON or a raw control character, change an input, leave
//! half a file. Nothing here says what the right answer is: the oracles of the engines do.
//!
//! [`campaign::run`] runs many cases; a seed and a number give the same case each time. The test
//! `crates/cli/tests/mutated.rs` runs some for a minute, and the program of this crate for a night.
//! [`climb`] looks for costly inputs instead of faults.

#![deny(unsafe_code)]

pub use seeds::{Seed, Seeds};

// Inputs: what they hold, where they come from, how they change.
pub mod change;
pub mod kind;
pub mod repair;
mod seeds;

// Command lines.
pub mod case;
pub mod command;
pub mod grammar;

// Runs and what is wrong with them.
pub mod judge;
pub mod process;
pub mod schema;
pub mod stage;

// Many runs.
pub mod campaign;
pub mod climb;
