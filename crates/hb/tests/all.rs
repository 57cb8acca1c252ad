//! All tests of the crate in one binary: building and linking many takes longer than the tests.

mod calls;
mod candidates;
mod delays;
mod droidracer;
mod growth;
mod judged;
mod like_pairs;
mod oracle;
mod proofs;
mod sections;
