//! Small utilities that several crates need: text for people, positions in texts, files, enums with
//! numbers and words, rows of bits, hashes, components of graphs, disjoint sets, orders, random
//! numbers, cancellation, faults for tests. This crate knows nothing of the project.

#![forbid(unsafe_code)]

pub mod bits;
pub mod cancel;
pub mod coded;
pub mod files;
pub mod hash;
pub mod numbers;
pub mod order;
pub mod random;
pub mod sabotage;
pub mod scc;
pub mod similar;
pub mod source;
pub mod state_hash;
pub mod text;
pub mod union_find;
