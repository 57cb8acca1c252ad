//! From text to a checked model in one call.

use crate::check::{CheckedModel, check};
use crate::diagnostic::{Code, Diagnostic, has_errors};
use crate::parse::parse;
use crate::{ast::Model, lex::Comment};

/// A parsed and checked file.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The tree.
    pub model: Model,
    /// All comments in order.
    pub comments: Vec<Comment>,
    /// Tables of the checker; complete only when there are no errors.
    pub program: CheckedModel,
    /// Messages of the parser and the checker, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// Returns whether the model can run.
    pub fn is_valid(&self) -> bool {
        !has_errors(&self.diagnostics)
    }
}

/// Parses and checks a text. Never fails; the diagnostics list the mistakes.
pub fn load(text: &str) -> Loaded {
    let parsed = parse(text);
    let mut checked = check(&parsed.model, text);
    let mut diagnostics = parsed.diagnostics;
    if has_errors(&diagnostics) {
        // The parser may have skipped the use, the arm or the value that the checker misses.
        checked.diagnostics.retain(|d| d.is_error() && d.code != Code::NO_RETURN_VALUE);
    }
    diagnostics.append(&mut checked.diagnostics);
    diagnostics.sort_by_key(|d| (d.primary.span.start, d.primary.span.end));
    Loaded { model: parsed.model, comments: parsed.comments, program: checked.model, diagnostics }
}
