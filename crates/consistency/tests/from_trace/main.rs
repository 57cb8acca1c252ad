//! Conversion of traces: messages and given orders, checked by hand.

#![expect(clippy::print_stderr, reason = "tests say what they covered and skipped")]

mod common;
mod edtrace;
mod ended;
mod observed;
mod random;
mod real;
