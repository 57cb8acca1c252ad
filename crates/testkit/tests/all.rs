//! All tests of the crate in one binary: building and linking many takes longer than the tests.

mod components;
mod generator;
mod naive;
mod sanity;
mod synthetic;
