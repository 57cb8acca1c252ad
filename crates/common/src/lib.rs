//! Small things that several crates need. It knows nothing of the project: text that people read,
//! rows of bits, components of graphs.

pub mod numbers;
pub mod similar;
pub mod text;
