//! Tests that look inside states: the canonical form, bytes, fingerprints, and random programs.

mod canonical;
mod fuzz;
mod generate;
mod memory;
mod random;
mod scramble;
