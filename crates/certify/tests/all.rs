//! All tests of the crate in one binary: building and linking many takes longer than the tests.

mod consistency_support;
mod support;

mod consistency_oracle;
mod consistency_proofs;
mod consistency_scale;
mod consistency_text;
mod consistency_witness;
mod proofs;
mod proofs_of_tasks;
#[path = "reordering/main.rs"]
mod reordering;
mod schedules;
