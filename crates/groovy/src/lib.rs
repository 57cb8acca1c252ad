//! The Groovy in which smart-home apps are written: from text to a tree, back to text, and what an
//! app computes.
//!
//! The crate decides whether a text is Groovy 2.4, and what its tree is: the same as that of the
//! real compiler after its conversion phase. It does not know the platform of the apps: devices,
//! events and timers come from a host. It reads no files.
//!
//! Parsing never fails and never panics: every text gives a tree and a list of diagnostics. It
//! takes time linear in the length of the text, and bounded stack: what nests too deeply is an
//! error.
//!
//! [`parse()`] gives a [`Parsed`]; [`print::print`] turns a tree into Groovy with the same tree;
//! [`print::show`] shows it in a canonical form. [`eval::Evaluator`] runs a script for a
//! [`eval::Host`]. [`lower::Lowering`] compiles apps to functions of a program of the machine.
//!
//! ```
//! use anyorder_groovy::{parse, print::show};
//!
//! let parsed = parse("input 'door', title: 'Which?'");
//! assert!(parsed.diagnostics.is_empty());
//! let tree = r#"(script (call - "input" (args (map (entry "title" "Which?")) "door")))"#;
//! assert_eq!(show(&parsed.script), tree);
//! ```

#![forbid(unsafe_code)]

pub mod ast;
pub mod diagnostic;
pub mod eval;
pub mod lex;
pub mod lower;
pub mod parse;
pub mod print;

pub use anyorder_common::source;
pub use diagnostic::Diagnostic;
pub use parse::{Parsed, parse};
