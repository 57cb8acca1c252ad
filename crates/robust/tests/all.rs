//! All tests of the crate in one binary: building and linking many takes longer than the tests.

#[path = "interleavings/main.rs"]
mod interleavings;
mod models;
mod oracle;
mod transactions;
