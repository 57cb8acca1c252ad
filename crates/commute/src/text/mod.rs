//! Specifications as text.

pub use document::Document;
pub use error::{SpecError, SpecErrors};
pub use kinds::Kind;

mod document;
mod error;
mod kinds;
mod lex;
mod parse;
mod resolve;
mod tree;
mod waits;
