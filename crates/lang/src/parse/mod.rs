//! From tokens to the syntax tree: recursive descent with recovery.
//!
//! **Guarantee**: every text gives a tree, in time linear in its length. No text makes the parser
//! panic. A mistake gives one diagnostic and an `Error` node. The parser then continues at the next
//! `;`, `}` or word that begins a statement or declaration. The depth of the tree is limited
//! ([`DEPTH_MAX`]), so walks over it may recurse.

mod branch;
mod code_item;
mod expr;
mod foreign_syntax;
mod helpers;
mod item;
mod parser;
mod pattern;
mod primary;
mod recovery;
mod stmt;
mod ty;
mod words;

pub use parser::DEPTH_MAX;

use crate::ast::Model;
use crate::diagnostic::{Code, Diagnostic};
use crate::lex::{Comment, lex};
use crate::source::{SOURCE_BYTES_MAX, Span};

/// A parsed file.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree, with gaps where there are errors.
    pub model: Model,
    /// All comments in order.
    pub comments: Vec<Comment>,
    /// The mistakes, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a file. Never fails; the diagnostics list the mistakes.
pub fn parse(text: &str) -> Parsed {
    if text.len() > SOURCE_BYTES_MAX {
        let message = format!("the file is larger than {SOURCE_BYTES_MAX} bytes");
        let diagnostic = Diagnostic::new(Code::TOO_LARGE, Span::new(0, 0), message);
        let model = Model { name: None, items: vec![], node_count: 0 };
        return Parsed { model, comments: vec![], diagnostics: vec![diagnostic] };
    }
    let lexed = lex(text);
    let mut parser = parser::Parser::new(text, lexed.tokens);
    let model = parser.model();
    let mut diagnostics = lexed.diagnostics;
    diagnostics.append(&mut parser.diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span.start);
    Parsed { model, comments: lexed.comments, diagnostics }
}

#[cfg(test)]
mod tests;
