//! All tests of the crate in one binary: building and linking many takes longer than the tests.

#[path = "contract/main.rs"]
mod contract;
mod documented_scheduler;
mod faults;
mod hostile_replies;
mod retrying;
mod roles;
mod stopped;
