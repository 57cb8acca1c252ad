//! The tests of the search for deadlocks put faults into it, so they are unit tests of the crate.
//! Random numbers, and the types of calls, are those of the other tests by brute force.

#![allow(dead_code, reason = "the other tests by brute force use the rest")]

#[path = "mod.rs"]
mod deadlocks;
#[path = "../../../../certify/tests/reordering/generate.rs"]
mod generate;
#[path = "../../../../certify/tests/reordering/types.rs"]
mod types;
#[path = "../../../../certify/tests/reordering/woken.rs"]
mod woken;
