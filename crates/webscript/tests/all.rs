//! All tests of the crate in one binary: building and linking many takes longer than the tests.

#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

#[path = "differential/main.rs"]
mod differential;
mod forms;
mod html;
mod log;
mod nesting;
mod outside;
