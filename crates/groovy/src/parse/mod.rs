//! From tokens to the tree: a recursive-descent parser that goes on behind a mistake.
//!
//! It accepts what the parser of Groovy 2.4 accepts. Whether a statement is a declaration, an open
//! parenthesis a cast, or a brace a closure with parameters, is decided by reading ahead over whole
//! brackets, so that no text takes more than linear time.

mod ahead;
mod class;
mod declare;
mod expr;
mod parser;
mod path;
mod primary;
mod stmt;

use crate::ast::Script;
use crate::diagnostic::Diagnostic;
use crate::lex::lex;

/// The tree of a file, and what was wrong with it.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree. Where the text is wrong it has [`crate::ast::StmtKind::Error`].
    pub script: Script,
    /// The mistakes in the order of the text; none: the file is well-formed.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a file. It never fails: every text has a tree. Linear in the length of the text.
pub fn parse(source: &str) -> Parsed {
    let lexed = lex(source);
    let mut parser = parser::Parser::new(source, &lexed);
    let script = parser.script();
    let mut diagnostics = parser.diagnostics.list;
    diagnostics.sort_by_key(|diagnostic| diagnostic.span);
    Parsed { script, diagnostics }
}
