//! All tests of the crate in one binary: building and linking many takes longer than the tests.

#![expect(clippy::print_stdout, reason = "reports what was skipped")]

mod common;
mod explored;
mod kinds;
mod process;
mod random;
mod robust;
mod slides;
mod sources;
