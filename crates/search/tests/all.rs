//! All tests of the crate in one binary: building and linking many takes longer than the tests.

#[path = "../benches/models/mod.rs"]
mod models;
mod random;

mod checkpoints;
mod counts;
mod interrupted;
mod library;
mod oracle;
