//! Specifications as text.

pub use document::Document;
pub use error::{SpecError, SpecErrors};
pub use kinds::Kind;

mod lex;

mod tree;

mod parse;

mod kinds;

mod resolve;

mod waits;

mod document;

mod error;
