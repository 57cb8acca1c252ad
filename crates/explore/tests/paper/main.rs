//! Tests of the published algorithm: the paper's examples, its error, and comparison with full
//! search.

mod flaws;
mod limits;
mod naive;
mod random;
mod systems;
mod worked;
