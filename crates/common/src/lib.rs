//! Small things that several crates need. It knows nothing of the project: text that people read,
//! rows of bits, components of graphs, disjoint sets, random numbers.

pub mod bits;
pub mod numbers;
pub mod random;
pub mod scc;
pub mod text;
pub mod union_find;
