//! YAML as Home Assistant reads it: version 1.1, with its own tags, and a place for each node.

pub(crate) use node::is_template;
pub use node::{Node, Value};
pub use parse::{YAML_BYTES_MAX, parse};
pub use scalar::plain;

mod node;
mod parse;
mod scalar;
