//! The canonical layout of a model.
//!
//! **Guarantee**: formatting a formatted text changes nothing. The tree stays the same except for
//! positions. No comment is lost. Lines hold at most [`WIDTH`] columns where the text can be
//! broken.
//!
//! The formatter keeps the author's choice of: blank lines (at most one in a row), short blocks on
//! one line, parentheses, the digits of numbers and the escapes of strings. A statement with
//! comments inside its expressions also stays as it is.

mod comments;
mod doc;
mod expr;
mod header;
mod item;
mod stmt;

use crate::diagnostic::{Diagnostic, has_errors};
use crate::parse::parse;
use comments::Comments;

/// Columns of a line.
pub const WIDTH: usize = 100;

/// Formats a model.
///
/// # Errors
/// Returns the diagnostics of the parser if the text has mistakes. The formatter changes no text
/// that was not understood.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse(text);
    if has_errors(&parsed.diagnostics) {
        return Err(parsed.diagnostics);
    }
    let mut formatter = Formatter { text, comments: Comments::new(text, &parsed.comments) };
    let doc = formatter.model(&parsed.model);
    Ok(doc::print(&doc, WIDTH))
}

/// Builds the layout from the tree, taking comments as it passes them.
struct Formatter<'a> {
    text: &'a str,
    comments: Comments<'a>,
}

#[cfg(test)]
mod tests;
