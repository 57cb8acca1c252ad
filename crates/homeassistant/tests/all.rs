//! All tests of the crate in one binary: building and linking many takes longer than the tests.

#![expect(clippy::print_stdout, reason = "reports what was skipped, and how often")]

mod engine;
mod homes;
mod reading;
