//! Tests that look inside states: the canonical form, bytes, fingerprints, and random programs.

pub(crate) mod access;
mod canonical;
mod fuzz;
mod generate;
mod memory;
mod models;
mod random;
mod reducible;
mod scramble;
mod tasks;
