//! All tests of the crate in one binary: building and linking many takes longer than the tests.

#[path = "certificates/main.rs"]
mod certificates;
mod doors;
mod fuzzed;
mod names;
#[path = "polls/main.rs"]
mod polls;
mod shared_time;
mod so_far;
mod stops_in_steps;
#[path = "threads/main.rs"]
mod threads;
mod words;
