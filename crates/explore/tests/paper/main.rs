//! The published algorithm: the paper's examples, where it is wrong, and full search.

#[path = "../common/mod.rs"]
mod common;

mod flaws;
mod limits;
mod naive;
mod random;
mod systems;
mod worked;
