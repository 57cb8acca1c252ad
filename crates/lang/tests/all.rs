//! All tests of the crate in one binary: building and linking many takes longer than the tests.

#[path = "gallery/main.rs"]
mod gallery;
mod large;
#[path = "layout/main.rs"]
mod layout;
#[path = "lower/main.rs"]
mod lower;
mod mistakes;
#[path = "naive/main.rs"]
mod naive;
mod programs;
mod robust;
#[path = "symmetry/main.rs"]
mod symmetry;
