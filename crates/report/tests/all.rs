//! All tests of the crate in one binary: building and linking many takes longer than the tests.

mod sample;

mod formats;
mod hostile;
mod prediction;
mod timeline;
