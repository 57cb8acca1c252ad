//! All tests of the crate in one binary: building and linking many takes longer than the tests.

mod allocations;
mod common;
mod detect;
mod droidracer;
mod droidracer_real;
mod edtrace;
mod foreign;
mod logs;
#[path = "native_binary/main.rs"]
mod native_binary;
mod native_text;
mod rapid_binary;
mod std;
mod std_round_trip;
mod std_variants;
mod wellformed_real;
