//! The model language (`.any` files): from text to a checked tree, a canonical layout, and a
//! program of the machine.
//!
//! The crate decides whether a text is a well-formed model and what each of its names and
//! expressions means. It does not run models, and it does not read files.
//!
//! Parsing never fails and never panics: every text gives a tree and a list of diagnostics, so an
//! editor can use a half-written file. In a model without errors, every name has a meaning and
//! every expression has a type. Types are gradual: the machine checks when the model runs what the
//! checker cannot know. Formatting keeps the tree and the comments.
//!
//! [`load`] gives a [`Loaded`] model with its [`diagnostic::Diagnostic`]s; [`diagnostic::render`]
//! shows one as text; [`format::format`] lays a file out; [`lower`] makes the program that
//! explorers run.
//!
//! ```
//! use anyorder_lang::{diagnostic::render, load, source::Source};
//!
//! let text = "model counter\nvar count = 0;\nevent click { cuont += 1; }\n";
//! let loaded = load(text);
//! assert!(!loaded.is_valid());
//! let shown = render(&Source::new("counter.any", text), &loaded.diagnostics[0], false);
//! assert!(shown.starts_with("error[E020]: unknown name `cuont`\n  --> counter.any:3:15"));
//! assert!(shown.contains("a similar name exists: `count`"));
//! ```

#![forbid(unsafe_code)]

pub mod ast;
pub mod check;
pub mod diagnostic;
pub mod format;
pub mod lex;
mod load;
pub mod lower;
pub mod parse;

pub use anyorder_common::source;
pub use check::{Checked, check};
pub use load::{Loaded, load};
pub use parse::{Parsed, parse};
