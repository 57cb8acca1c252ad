//! Tests of the published algorithm: the paper's examples, its error, and comparison with full
//! search.

#[path = "../common/mod.rs"]
mod common;

mod flaws;
mod limits;
mod naive;
mod random;
mod systems;
mod worked;
