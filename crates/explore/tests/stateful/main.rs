//! Tests of the reduced search against full search and against definitions.

#![allow(clippy::print_stdout, reason = "tests print what they counted")]

mod check;
mod contract;
mod examples;
mod families;
mod random;
mod threads;
