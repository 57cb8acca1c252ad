//! All tests of the crate in one binary: building and linking many takes longer than the tests.

mod built_in_types;
mod communication;
mod documentation;
mod models;
mod points;
mod text;
mod waits;
