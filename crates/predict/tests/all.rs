//! All tests of the crate in one binary: building and linking many takes longer than the tests.

mod common;

mod blocking;
#[path = "brute/main.rs"]
mod brute;
mod check;
mod communicating;
mod confirm;
mod confirm_random;
mod confirm_real;
mod confirm_speed;
mod confirm_tasks;
mod covered;
mod event_driven;
mod event_driven_confirmed;
mod examples;
mod figure_3_2;
mod grouped;
mod hb_comparison;
mod hostile;
mod nested;
mod oracle;
mod order_of_calls;
mod order_path;
mod real;
mod real_bugs;
mod scaling;
mod specified;
mod specified_objects;
mod stopped;
mod thesis;
